"""upc_all_reduce and upc_all_prefix_reduce for all types and operations, blocks and starts, against a loop over the elements."""

from .text import program

INTEGERS = {
    "C": "signed char",
    "UC": "unsigned char",
    "S": "short",
    "US": "unsigned short",
    "I": "int",
    "UI": "unsigned",
    "L": "long",
    "UL": "unsigned long",
}
FLOATING = {"F": "float", "D": "double", "LD": "long double"}
OPERATIONS = {
    "UPC_ADD": "x + y",
    "UPC_MULT": "x * y",
    "UPC_LOGAND": "x && y",
    "UPC_LOGOR": "x || y",
    "UPC_MIN": "x < y ? x : y",
    "UPC_MAX": "x > y ? x : y",
}
BITWISE = {"UPC_AND": "x & y", "UPC_OR": "x | y", "UPC_XOR": "x ^ y"}
# (block size, first element, number of elements as an expression)
SHAPES = [
    (1, 0, "4 * THREADS"),
    (3, 0, "5 * THREADS + 1"),
    (3, 2, "4 * THREADS"),
    (4, 5, "1"),
    (0, 0, "7"),
    (7, 3, "THREADS + 2"),
]

TEST = """
static {type} {op}_{letters}({type} x, {type} y) {{ return ({type})({formula}); }}
"""
RUN = """
{{
    {type} model = source[{first}];
    int count = {count};
    upc_all_reduce{letters}(&result, &source[{first}], {op}, count, {block}, NULL, FLAGS);
    upc_all_prefix_reduce{letters}(&prefix[{first}], &source[{first}], {op}, count, {block}, NULL, FLAGS);
    CHECK(prefix[{first}] == model);
    for (int i = 1; i < count; i++) {{
        model = {op}_{letters}(model, source[{first} + i]);
        CHECK(prefix[{first} + i] == model);
    }}
    CHECK(result == model);
    upc_barrier;
}}
"""


def source(letters, type, operations, shape):
    block, first, count = shape
    length = "16" if block == 0 else f"{6 * max(block, 2)} * THREADS"
    declarations = [
        "#define FLAGS (UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC)",
        f"shared [{block}] {type} source[{length}], prefix[{length}];",
        f"shared {type} result;",
    ]
    declarations += [
        TEST.format(op=op, letters=letters, type=type, formula=formula).strip("\n")
        for op, formula in operations.items()
    ]
    # Small values, so that products and sums of every type are exact; signed char wraps the same way on both sides.
    body = [
        "if (MYTHREAD == 0)",
        f"    for (int i = 0; i < {length}; i++)",
        "        source[i] = i % 5 == 4 ? 2 : 1;",
        "upc_barrier;",
    ]
    body += [
        RUN.format(op=op, letters=letters, type=type, first=first, count=count, block=block).strip(
            "\n"
        )
        for op in operations
    ]
    return program(
        f"Reductions over {type} in blocks of {block}, from element {first} on (7.3.4).",
        "\n".join(declarations),
        "\n".join(body),
        includes=["upc_collective.h"],
    )


def programs():
    for number, (letters, type) in enumerate([*INTEGERS.items(), *FLOATING.items()]):
        operations = {**OPERATIONS, **(BITWISE if letters in INTEGERS else {})}
        yield (
            f"reductions/{letters}",
            source(letters, type, operations, SHAPES[number % len(SHAPES)]),
        )
