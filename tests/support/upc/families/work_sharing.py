"""upc_forall: all pairs of affinities, nested directly and through a function; barriers with every mixture of expressions."""

import random

from .text import indented, program

# affinity of a loop over i: text, and which thread runs it (None: all of them)
AFFINITIES = {
    "integer": ("{i}", "{i} % THREADS"),
    "shifted": ("{i} + 3", "({i} + 3) % THREADS"),
    "negative": ("-{i}", "(THREADS - {i} % THREADS) % THREADS"),
    "constant": ("1", "1 % THREADS"),
    "cyclic": ("&cyclic[{i}]", "{i} % THREADS"),
    "blocked": ("&blocked[{i}]", "{i} / 2 % THREADS"),
    "indefinite": ("&indefinite[{i}]", "0"),
    "generic": ("(shared void *)&blocked[{i}]", "{i} / 2 % THREADS"),
    "continue": ("continue", None),
    "empty": ("", None),
}
DECLARATIONS = """
shared int cyclic[6 * THREADS];
shared [2] int blocked[6 * THREADS];
shared [] int indefinite[30];
"""
PAIR = """
{{   // {outer} around {inner}
    int hits[5][4] = {{{{0}}}};
    {start}
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            CHECK_EQ(hits[i][j], {expected});
}}
"""
DIRECT = """upc_forall (int i = 0; i < 5; i++; {outer})
        upc_forall (int j = 0; j < 4; j++; {inner})
            hits[i][j]++;"""
CALLED = """upc_forall (int i = 0; i < 5; i++; {outer})
        inner_{name}(hits[i]);"""
FUNCTION = """static void inner_{name}(int *hits)
{{
    upc_forall (int j = 0; j < 4; j++; {inner})
        hits[j]++;
}}
"""


def pairs(loop):
    """(functions, calls): one function for each outer loop."""
    functions, calls = [], []
    for outer, (outer_text, outer_thread) in AFFINITIES.items():
        lines = []
        for inner, (inner_text, inner_thread) in AFFINITIES.items():
            thread = (
                outer_thread.format(i="i")
                if outer_thread
                else inner_thread.format(i="j")
                if inner_thread
                else "MYTHREAD"
            )
            start = loop.format(
                outer=outer_text.format(i="i"), inner=inner_text.format(i="j"), name=inner
            )
            lines.append(
                PAIR.format(
                    outer=outer, inner=inner, start=start, expected=f"{thread} == MYTHREAD"
                ).strip("\n")
            )
        functions.append(
            "\n".join([f"static void in_{outer}(void)", "{", indented("\n".join(lines)), "}"])
        )
        calls.append(f"in_{outer}();")
    return "\n\n".join(functions), "\n".join(calls)


def barriers(seed):
    """Threads come to the same barriers by different statements; where two give expressions, these agree."""
    generator = random.Random(seed)
    body = ["int n = 0;"]
    for number in range(25):
        forms = []
        for _ in range(4):
            value = generator.choice(["", f" {number * 7 - 50}"])
            forms.append(
                generator.choice(
                    [
                        f"upc_barrier{value};",
                        f"{{ upc_notify{value}; n += 0; upc_wait{generator.choice(['', value])}; }}",
                    ]
                )
            )
        body += [
            f"at[MYTHREAD] = {number};",
            "switch (MYTHREAD % 4) {",
            *(f"case {index}: {form} break;" for index, form in enumerate(forms)),
            "}",
            f"CHECK_EQ(at[(MYTHREAD + 1) % THREADS], {number});",
            "upc_barrier;",
            "n++;",
        ]
    return program(
        "Barriers written in different ways match, with and without expressions (6.6.1).",
        "shared int at[THREADS];",
        "\n".join([*body, "CHECK_EQ(n, 25);"]),
    )


def programs():
    functions, calls = pairs(DIRECT)
    yield (
        "work_sharing/nested_pairs",
        program(
            "Nested upc_forall: the outermost one with an affinity controls (6.6.2).",
            DECLARATIONS + "\n" + functions,
            calls,
        ),
    )
    called = "\n".join(
        FUNCTION.format(name=name, inner=text.format(i="j"))
        for name, (text, _) in AFFINITIES.items()
    )
    functions, calls = pairs(CALLED)
    yield (
        "work_sharing/called_pairs",
        program(
            "Nesting through a call is nesting as well (6.6.2).",
            DECLARATIONS + called + "\n" + functions,
            calls,
        ),
    )
    for seed in range(3):
        yield f"work_sharing/barriers_{seed}", barriers(seed)
