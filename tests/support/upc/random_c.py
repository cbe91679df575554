"""Random C whose objects may be shared: the same text is a C program with private objects and a UPC program with shared ones.

Each expression has at most one side effect on an object that it uses nowhere else, so that the order of evaluation does not matter; nothing
overflows what -fwrapv defines, divides by zero or shifts too far.
"""

import random

HEAD = """
#include <stdio.h>
#ifdef __UPC__
#include <upc_relaxed.h>
#define S(...) shared [__VA_ARGS__]
#define FIRST (MYTHREAD == 0)
#else
#define S(...)
#define FIRST 1
#endif
struct inner { short s; unsigned u : 11; signed v : 6; long many[3]; };
struct record { char c; int i; struct inner in; double d; union { unsigned w; unsigned char bytes[4]; } both; int cells[2][3]; };
S(1) int cyclic[16]; S(3) long blocked[16]; S() unsigned char whole[16]; S(5) unsigned spread[16]; S(2) struct record records[8]; S(1) struct record one;
S(4) short grid[4][4]; S(1) double real; S(1) unsigned long long sum; S(3) float floats[16]; S(7) _Bool flags[16];
int own[16]; struct record plain; static int ticks;
static int tick(void) { return ticks++; }
static unsigned mix(unsigned a, unsigned b) { return a * 31 + b; }
"""

# (lvalue with %s for bounded subscripts, how many subscripts)
INTEGERS = [
    ("cyclic[%s]", 1),
    ("blocked[%s]", 1),
    ("whole[%s]", 1),
    ("spread[%s]", 1),
    ("own[%s]", 1),
    ("grid[%s & 3][%s & 3]", 2),
    ("sum", 0),
    ("records[%s & 7].i", 1),
    ("records[%s & 7].c", 1),
    ("one.i", 0),
    ("one.in.s", 0),
    ("records[%s & 7].in.u", 1),
    ("one.in.v", 0),
    ("records[%s & 7].in.many[%s %% 3]", 2),
    ("one.both.bytes[%s & 3]", 1),
    ("records[%s & 7].both.w", 1),
    ("flags[%s]", 1),
    ("one.cells[%s & 1][%s %% 3]", 2),
    ("(&records[%s & 7])->i", 1),
    ("(*(&cyclic[%s]))", 1),
    ("plain.i", 0),
    ("plain.cells[%s & 1][1]", 1),
    ("pi[%s & 3]", 1),
    ("(*pl)", 0),
    ("pr->i", 0),
    ("pr[%s & 1].in.many[%s %% 3]", 2),
    ("row[%s & 1][%s & 3]", 2),
]
NOT_PLAIN = ("in.u", "in.v")  # bit-fields have no address
REALS = [("real", 0), ("one.d", 0), ("records[%s & 7].d", 1), ("floats[%s]", 1), ("plain.d", 0)]
BINARY = ["+", "-", "*", "&", "|", "^", "<", ">", "<=", ">=", "==", "!=", "&&", "||"]
COMPOUND = ["+=", "-=", "*=", "&=", "|=", "^="]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.effect = False  # whether the expression under way has its side effect

    def pick(self, *choices):
        return self.random.choice(choices)()

    def subscript(self, depth):
        return (
            f"((unsigned)({self.integer(depth - 1)}) & 15)"
            if depth > 0 and self.random.random() < 0.4
            else str(self.random.randrange(16))
        )

    def place(self, depth, table=INTEGERS):
        text, count = self.random.choice(table)
        return text % tuple(self.subscript(depth) for _ in range(count)) if count else text

    def integer(self, depth):
        if depth <= 0 or self.random.random() < 0.25:
            return self.pick(
                lambda: self.place(0), lambda: str(self.random.randrange(-9, 100)), lambda: "i"
            )
        return self.pick(
            lambda: self.place(depth),
            lambda: self.place(depth),
            lambda: (
                f"({self.integer(depth - 1)} {self.random.choice(BINARY)} {self.integer(depth - 1)})"
            ),
            lambda: (
                f"({self.integer(depth - 1)} {self.random.choice('/%')} (({self.integer(depth - 1)} & 15) + 1))"
            ),
            lambda: (
                f"({self.integer(depth - 1)} {self.random.choice(['<<', '>>'])} ({self.integer(depth - 1)} & 7))"
            ),
            lambda: (
                f"({self.random.choice(['-', '~', '!', '(short)', '(unsigned char)', '(long)'])}({self.integer(depth - 1)}))"
            ),
            lambda: (
                f"({self.integer(depth - 1)} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})"
            ),
            lambda: f"({self.integer(depth - 1)}, {self.integer(depth - 1)})",
            lambda: f"(int)mix({self.integer(depth - 1)}, {self.integer(depth - 1)})",
            lambda: (
                f"(int)sizeof({self.place(0, [p for p in INTEGERS if not p[0].endswith(NOT_PLAIN)])})"
            ),
            lambda: f"({self.real(depth - 1)} < {self.real(depth - 1)})",
            self.side_effect,
        )

    def real(self, depth):
        return self.pick(
            lambda: self.place(depth, REALS),
            lambda: f"({self.place(depth, REALS)} * 0.25)",
            lambda: f"(double)({self.integer(depth)} & 1023)",
        )

    def side_effect(self):
        if self.effect:
            return "i"
        self.effect = True
        return self.pick(
            lambda: "tick()",
            lambda: "only++",
            lambda: "--only",
            lambda: "(only += 3)",
            lambda: "(only = i + 2)",
            lambda: "(*po)++",
        )

    def statement(self, depth=3):
        self.effect = False
        return self.pick(
            lambda: f"{self.place(2)} = {self.integer(depth)};",
            lambda: f"{self.place(2)} {self.random.choice(COMPOUND)} {self.integer(depth)};",
            lambda: (
                f"{self.place(1)} {self.random.choice(['/=', '%='])} (({self.integer(depth - 1)} & 7) + 1);"
            ),
            lambda: (
                f"{self.place(1)} {self.random.choice(['<<=', '>>='])} ({self.integer(depth - 1)} & 7);"
            ),
            lambda: f"{self.random.choice(['++', '--'])}{self.place(1)};",
            lambda: f"own[{self.random.randrange(16)}] = {self.place(0)}++;",
            lambda: f"{self.place(1, REALS)} = {self.real(2)};",
            lambda: f"{self.place(1, REALS)} += {self.real(1)};",
            lambda: f"records[{self.subscript(1)} & 7] = records[{self.subscript(1)} & 7];",
            lambda: "plain = one;",
            lambda: "one = records[i & 7];",
            lambda: f"records[{self.subscript(1)} & 7].in = one.in;",
            lambda: f"pi = &cyclic[{self.subscript(1)} % 12];",
            lambda: f"pl = &blocked[{self.subscript(1)}]; if (pl - blocked > 3) pl -= 2;",
            lambda: f"pr = records + ({self.subscript(1)} % 7);",
            lambda: f"row = grid + ({self.subscript(1)} % 3);",
            lambda: "sum = sum * 3 + (pi - cyclic) + (pr - &records[0]) + (pi > &cyclic[4]);",
            lambda: (
                f"if ({self.integer(depth)}) {{ {self.statement(2)} }} else {self.statement(2)}"
            ),
            lambda: (
                f"switch ({self.integer(2)} & 3) {{ case 0: {self.statement(2)} break; case 1: {self.statement(2)} default: {self.statement(1)} }}"
            ),
            lambda: (
                f"for (int k = 0; k < 3; k++) {{ {self.statement(2)} if (whole[k] & 1) continue; {self.statement(1)} }}"
            ),
            # The first place must not read what the second assignment writes: C orders neither before the other.
            lambda: f"{self.place(0)} = {self.place(1)} = {self.integer(2)};",
        )

    def function(self, number, statements):
        body = "\n  ".join(self.statement() for _ in range(statements))
        return (
            f"static void f{number}(int i) {{\n  int only = i; int *po = &only; S(1) int *pi = cyclic; S(3) long *pl = &blocked[i & 7];\n"
            f"  S(2) struct record *pr = &records[i & 3]; S(4) short (*row)[4] = grid;\n  (void)po; (void)pi; (void)pl; (void)pr; (void)row;\n"
            f"  {body}\n  sum += only;\n}}\n"
        )


TELL = """
static unsigned long long hash = 14695981039346656037u;
static void tell(unsigned long long value) { hash = (hash ^ value) * 1099511628211u; }
static void tell_all(void) {
  for (int i = 0; i < 16; i++) {
    tell(cyclic[i]); tell(blocked[i]); tell(whole[i]); tell(spread[i]); tell(own[i]); tell(grid[i / 4][i % 4]); tell(flags[i]);
    tell(floats[i] > -1e15f && floats[i] < 1e15f ? (long long)(floats[i] * 16) : 1);
  }
  for (int i = 0; i < 8; i++) {
    struct record r = records[i];
    tell(r.c); tell(r.i); tell(r.in.s); tell(r.in.u); tell(r.in.v); tell(r.both.w); tell(r.d > -1e15 && r.d < 1e15 ? (long long)(r.d * 16) : 1);
    for (int k = 0; k < 3; k++) { tell(r.in.many[k]); tell(r.cells[0][k]); tell(records[i].cells[1][k]); }
  }
  tell(sum); tell(one.i); tell(one.in.u); tell(ticks); tell(plain.i); tell(real > -1e15 && real < 1e15 ? (long long)(real * 16) : 1);
}
"""


def program(seed, functions=40, statements=8):
    generator = Generator(seed)
    made = [generator.function(number, statements) for number in range(functions)]
    calls = "\n".join(
        f'  f{number}(r); tell_all(); printf("%d.%d %016llx\\n", r, {number}, hash);'
        for number in range(functions)
    )
    return f"{HEAD}{''.join(made)}{TELL}int main(void) {{\n  if (FIRST) for (int r = 0; r < 3; r++) {{\n{calls}\n  }}\n  return 0;\n}}\n"
