"""Random statements on shared data and, in the same words, on private data: both end up the same.

All arithmetic is unsigned, so nothing overflows; a statement changes an object at one place only and does not read it elsewhere.
"""

import random

from .text import indented, program

# name of a shared array: (declaration, element k of this thread's own lane); lanes lie with other threads, and differ between threads
ARRAYS = {
    "cyclic": ("shared unsigned {}[8 * THREADS];", "[{k} * THREADS + lane]"),
    "blocked": ("shared [3] unsigned {}[8 * THREADS];", "[8 * lane + {k}]"),
    "bytes": ("shared [2] unsigned char {}[8 * THREADS];", "[{k} * THREADS + lane]"),
    "wide": ("shared unsigned long {}[THREADS][8];", "[lane][{k}]"),
    "halves": ("strict shared [5] unsigned short {}[8 * THREADS];", "[8 * lane + {k}]"),
    "fields": ("shared struct fields {}[8 * THREADS];", "[{k} * THREADS + lane].{field}"),
}
MODELS = {
    "cyclic": "unsigned",
    "blocked": "unsigned",
    "bytes": "unsigned char",
    "wide": "unsigned long",
    "halves": "unsigned short",
    "fields": "struct fields",
}
STRUCT = "struct fields { unsigned a : 5, b : 11; unsigned long c : 37; unsigned char plain; unsigned short list[2]; };"
FIELDS = ("a", "b", "c", "plain", "list[1]")
OPERATORS = ("+", "-", "*", "&", "|", "^")
ASSIGNMENTS = ("=", "+=", "-=", "*=", "&=", "|=", "^=")


class Writer:
    """Writes expressions with @name:k:field@ for objects, which become accesses of shared or of private data."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.used = set()

    def place(self):
        name = self.random.choice(list(ARRAYS))
        return f"@{name}:{self.random.randrange(8)}:{self.random.choice(FIELDS)}@"

    def changed(self):
        """An object that the statement has nothing else to do with."""
        while True:
            place = self.place()
            key = place.rsplit(":", 1)[0]
            if key not in self.used:
                self.used.add(key)
                return place

    def read(self):
        while True:
            place = self.place()
            if place.rsplit(":", 1)[0] not in self.used:
                return place

    def expression(self, depth):
        kind = self.random.randrange(9) if depth else self.random.randrange(2)
        if kind == 0:
            return f"number({self.random.randrange(1000)})"
        if kind in (1, 2):
            return self.read()
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 3:
            return f"({left} > {right} ? {self.expression(depth - 1)} : {self.read()})"
        if kind == 4:
            return f"({left} / ({right} | 1u))"
        if kind == 5:
            return f"(({left}) {self.random.choice(('<<', '>>'))} ({right} & 7u))"
        if kind == 6:
            return self.random.choice(("-({})", "~({})", "(({}) ? 0u : 1u)")).format(left + " + 0u")
        return f"({left} {self.random.choice(OPERATORS)} {right})"

    def statement(self):
        self.used = set()
        kind = self.random.randrange(6)
        target = self.changed()
        if kind == 0:
            return self.random.choice(("{}++", "{}--", "++{}", "--{}")).format(target)
        if kind == 1:
            other = self.changed()
            return f"{target} = {other} {self.random.choice(ASSIGNMENTS)} {self.expression(2)}"
        if kind == 2:
            other = self.changed()
            return f"{target} += {self.random.choice(('{}++', '--{}')).format(other)}"
        if kind == 3:
            other = self.changed()
            one = f"({target} {self.random.choice(ASSIGNMENTS)} {self.expression(1)})"
            return f"(void)(({self.expression(1)} & 1u) ? {one} : ({other} = {self.expression(1)}))"
        return f"{target} {self.random.choice(ASSIGNMENTS)} {self.expression(3)}"


def in_terms(text, private):
    """The text with its objects as private or shared ones."""
    parts = text.split("@")
    for index in range(1, len(parts), 2):
        name, k, field = parts[index].split(":")
        if private:
            parts[index] = f"m_{name}[{k}]" + (f".{field}" if name == "fields" else "")
        else:
            parts[index] = name + ARRAYS[name][1].format(k=k, field=field)
    return "".join(parts)


def source(seed):
    writer = Writer(seed)
    declarations = ["static unsigned number(unsigned n) { return n; }", STRUCT]
    declarations += [text.format(name) for name, (text, _) in ARRAYS.items()]
    declarations += [f"static {type} m_{name}[8];" for name, type in MODELS.items()]
    compared = [
        f"@{name}:%d:{field}@"
        for name in ARRAYS
        for field in (FIELDS if name == "fields" else ("a",))
    ]
    tests = " && ".join(
        f"{in_terms(place.replace('%d', 'k'), False)} == {in_terms(place.replace('%d', 'k'), True)}"
        for place in compared
    )
    for part in range(4):
        lines = []
        for statement in [writer.statement() for _ in range(10)]:
            lines += [in_terms(statement, False) + ";", in_terms(statement, True) + ";"]
        declarations += [
            "",
            f"static void part_{part}(int lane)",
            "{",
            indented("\n".join(lines)),
            "    for (int k = 0; k < 8; k++)",
            f"        CHECK({tests});",
            "}",
        ]
    body = ["int lane = (MYTHREAD + 1) % THREADS;", *(f"part_{part}(lane);" for part in range(4))]
    return program(
        "Random statements do the same to shared and to private data.",
        "\n".join(declarations),
        "\n".join(body),
    )


def programs():
    for seed in range(8):
        yield f"random/statements_{seed}", source(seed)
