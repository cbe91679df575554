"""Each operand of an access is evaluated once, whatever the access is: every kind of lvalue with every kind of use."""

from .text import program

# (lvalue, number of calls in it, whether it is an int)
LVALUES = [
    ("cyclic[at()]", 1),
    ("blocked[at()]", 1),
    ("*(blocked + at())", 1),
    ("*where()", 1),
    ("where()[at()]", 2),
    ("at()[where()]", 2),
    ("records[at()].member", 1),
    ("records[at()].list[at()]", 2),
    ("record()->member", 1),
    ("(*record()).list[at()]", 2),
    ("record()[at()].member", 2),
    ("*record()->link", 1),
    ("record()->link[at()]", 2),
    ("records[at()].bits", 1),
    ("record()->bits", 1),
    ("rows[at()][at()]", 2),
    ("(*(rows + at()))[at()]", 2),
    ("*(at() ? where() : where())", 2),
    ("strict_one[at()]", 1),
    ("*(shared [] int *)&blocked[at()]", 1),
]
USES = [
    ("x = {}", 0),
    ("{} = value()", 1),
    ("{} += value()", 1),
    ("{} -= 1", 0),
    ("{} <<= value()", 1),
    ("{}++", 0),
    ("++{}", 0),
    ("{}--", 0),
    ("--{}", 0),
    ("x = {} + value()", 1),
    ("x = value() ? {} : 0", 1),
    ("x = ({} = 3)", 0),
    ("x = -{}", 0),
    ("x = !{}", 0),
    ("x = ({}, 5)", 0),
]

DECLARATIONS = """
struct record {{ int member, list[3]; unsigned bits : 7; shared [3] int *link; }};
shared int cyclic[3 * THREADS];
shared [3] int blocked[3 * THREADS];
strict shared int strict_one[3 * THREADS];
shared struct record records[3 * THREADS];
shared [3] int rows[3 * THREADS][3];
static int calls;

static int at(void) {{ calls++; return calls % 2 + 1; }}
static int value(void) {{ calls++; return 2; }}
static shared [3] int *where(void) {{ calls++; return blocked; }}
static shared struct record *record(void) {{ calls++; return records; }}
{unused}
"""
ONE_THREAD_AT_A_TIME = """
volatile int x = 0;
for (int thread = 0; thread < THREADS; thread++) {{
    if (thread == MYTHREAD) {{
        for (int i = 0; i < 3 * THREADS; i++)
            records[i].link = blocked;
{lines}
    }}
    upc_barrier;
}}
CHECK(x == x);
"""


def programs():
    for part in range(4):
        lines = []
        for number, (lvalue, calls) in enumerate(LVALUES):
            if number % 4 != part:
                continue
            for use, more in USES:
                text = use.format(f"({lvalue})" if lvalue.startswith("*") else lvalue)
                lines += [
                    "        calls = 0;",
                    f"        {text};",
                    f"        CHECK_EQ(calls, {calls + more});",
                ]
        text = "\n".join(lines)
        unused = "".join(
            f"static void use_{name}(void) __attribute__((unused));\nstatic void use_{name}(void) {{ (void){name}(); }}\n"
            for name in ("at", "where", "record")
            if f"{name}()" not in text
        )
        yield (
            f"side_effects/once_{part}",
            program(
                "Operands of shared accesses are evaluated once (C99 5.1.2.3).",
                DECLARATIONS.format(unused=unused),
                ONE_THREAD_AT_A_TIME.format(lines=text),
            ),
        )
