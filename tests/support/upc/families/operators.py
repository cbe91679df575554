"""Every assignment operator, ++ and -- on every scalar type, through each kind of lvalue; a private variable is the model."""

from .text import indented, program

INTEGERS = {
    "char": "char",
    "schar": "signed char",
    "uchar": "unsigned char",
    "short": "short",
    "ushort": "unsigned short",
    "int": "int",
    "uint": "unsigned",
    "long": "long",
    "ulong": "unsigned long",
    "longlong": "long long",
}
FLOATING = {"float": "float", "double": "double", "longdouble": "long double"}
# Of each place that a value can be in; t is another thread's index.
PLACES = (
    "cyclic[t]",
    "blocked[3 * t + 2]",
    "*(indefinite + 4)",
    "*to_blocked",
    "records[t].member",
    "list->member",
    "records[t].array[2]",
    "by_strict[t]",
    "p[-1]",
)

DECLARATIONS = """
struct record {{ char before; {type} member; {type} array[3]; char after; }};
shared {type} cyclic[THREADS];
shared [3] {type} blocked[3 * THREADS];
shared {type} by_strict_data[THREADS];
shared struct record records[THREADS];
"""
SETUP = "shared [] {type} *indefinite = upc_alloc(5 * sizeof({type}));"
# One place: a function of its own, as C compilers take long for large ones.
FUNCTION = """
static void place_{number}(shared [] {type} *indefinite)
{{
    int t = (MYTHREAD + 1) % THREADS;
    int wide = 1000 + t;
    {type} model;
    shared [3] {type} *to_blocked = &blocked[3 * t], *p = &blocked[3 * t + 2];
    strict shared {type} *by_strict = by_strict_data;
    shared struct record *list = &records[t];
    (void)wide, (void)indefinite, (void)to_blocked, (void)p, (void)by_strict, (void)list;
{lines}
}}
"""


def check(place, operator, start, operand):
    return [
        f"{place} = {start};",
        f"model = {start};",
        f"CHECK(({place} {operator} {operand}) == (model {operator} {operand}));",
        f"CHECK({place} == model);",
    ]


def steps(place, start):
    lines = [f"{place} = {start};", f"model = {start};"]
    for form in ("{}++", "++{}", "{}--", "--{}"):
        lines.append(f"CHECK({form.format(f'({place})')} == {form.format('model')});")
    return [*lines, f"CHECK({place} == model);"]


def source(type, integer, places):
    operators = [("=", 6, 7), ("+=", 40, 9), ("-=", 9, 3), ("*=", 5, 6), ("/=", 100, 7)]
    if integer:
        operators += [
            ("%=", 100, 7),
            ("<<=", 3, 2),
            (">>=", 100, 3),
            ("&=", 92, 58),
            ("|=", 17, 66),
            ("^=", 85, 51),
        ]
        operators += [("+=", 100, "wide"), ("=", 1, "wide"), ("*=", 3, "wide"), ("-=", 2, "2.75")]
    else:
        operators += [
            ("+=", "1.5", "2.25"),
            ("-=", "0.5", "0.75"),
            ("*=", "1.5", "-2"),
            ("/=", 3, 4),
        ]
    functions, calls = [], []
    for number, place in enumerate(places):
        lines = [
            line
            for operator, start, operand in operators
            for line in check(place, operator, start, operand)
        ]
        functions.append(
            FUNCTION.format(
                number=number, type=type, lines=indented("\n".join(lines + steps(place, 5)))
            )
        )
        calls.append(f"place_{number}(indefinite);")
    body = [
        SETUP.format(type=type),
        *calls,
        "CHECK(records[0].before == 0 && records[0].after == 0);",
        "upc_free(indefinite);",
    ]
    return program(
        f"Assignment operators, ++ and -- on shared objects of type {type}, in several kinds of places (C99 6.5.16, 6.5.2.4).",
        DECLARATIONS.format(type=type) + "".join(functions),
        "\n".join(body),
    )


def programs():
    """Some types are tried in every place, the others in some of them."""
    for number, (name, type) in enumerate([*INTEGERS.items(), *FLOATING.items()]):
        places = (
            PLACES
            if name in ("int", "ushort", "double")
            else [PLACES[(number + 2 * step) % len(PLACES)] for step in range(4)]
        )
        yield f"operators/{name}", source(type, name in INTEGERS, places)
