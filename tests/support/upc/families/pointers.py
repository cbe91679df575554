"""Pointer arithmetic for every element size and block size against a model that counts elements; casts between all pairs of types."""

from .text import layout, program, shared

ELEMENTS = {
    1: "char",
    2: "short",
    4: "int",
    8: "double",
    3: "struct { char c[3]; }",
    12: "struct { int i[3]; }",
    13: "struct { char c[13]; }",
    40: "struct { double d[5]; }",
}
BLOCKS = (None, 2, 3, 8, 0)

# For one pointer type: from every third element, by every step that stays within the array and one past it.
ARITHMETIC = """
{{
    shared {layout} element{size} *base = upc_all_alloc({blocks}, {bytes});
    size_t start = upc_addrfield(base);
    int n = {count};
    for (int i = 0; i <= n; i += 3)
        for (int j = 0; j <= n; j++) {{
            shared {layout} element{size} *p = base + i, *q = p + (j - i);
            CHECK_EQ(upc_threadof(q), {thread});
            CHECK_EQ(upc_phaseof(q), {phase});
            CHECK_EQ(upc_addrfield(q) - start, ({element}) * sizeof(element{size}));
            CHECK_EQ(q - p, j - i);
            CHECK((q < p) == (j < i) && (q >= p) == (j >= i) && (q == p) == (i == j));
            CHECK(&p[j - i] == q && q - (j - i) == p);
        }}
    upc_all_free(base);
}}
"""


def arithmetic(size, type):
    body = []
    for block in BLOCKS:
        each = 1 if block is None else block
        if block == 0:
            # One block, with thread 0; the element one past the end is there as well.
            parts = dict(
                blocks="1",
                bytes=f"30 * sizeof(element{size})",
                count="29",
                thread="0",
                phase="0",
                element="j",
            )
        else:
            # Three blocks per thread. One past the end is element 0 of the next block.
            parts = dict(
                blocks="3 * THREADS",
                bytes=f"{each} * sizeof(element{size})",
                count=f"{3 * each} * THREADS",
                thread=f"j / {each} % THREADS",
                phase=f"j % {each}",
                element=f"j / ({each} * THREADS) * {each} + j % {each}",
            )
        body.append(ARITHMETIC.format(layout=layout(block), size=size, **parts).strip("\n"))
    return program(
        f"Sum, difference and comparison of pointers to elements of {size} bytes, for all kinds of blocks (6.4.2).",
        f"typedef {type} element{size};",
        "\n".join(body),
    )


def casts():
    """All pairs of (block size, element size): the phase stays only where both agree (6.4.3)."""
    kinds = [
        (type, block) for type in ("char", "int", "unsigned", "double") for block in (None, 2, 5, 0)
    ]
    sizes = {"char": 1, "int": 4, "unsigned": 4, "double": 8}
    declarations = [
        f"{shared(block)} {type} a{index}[{10 if block == 0 else '10 * THREADS'}];"
        for index, (type, block) in enumerate(kinds)
    ]
    body = []
    for index, (type, block) in enumerate(kinds):
        each = 1 if block is None else block
        owner = "0" if block == 0 else f"k / {each} % THREADS"
        body.append("for (int k = 0; k < 10; k++) {")
        for other, other_block in kinds:
            same = sizes[type] == sizes[other] and block == other_block
            phase = f"k % {each}" if same and each else "0"
            cast = f"({shared(other_block)} {other} *)&a{index}[k]"
            body += [
                f"    CHECK_EQ(upc_threadof({cast}), {owner});",
                f"    CHECK_EQ(upc_phaseof({cast}), {phase});",
                f"    CHECK((shared void *){cast} == &a{index}[k]);",
            ]
        body += [
            f"    CHECK_EQ(upc_phaseof((shared void *)&a{index}[k]), {f'k % {each}' if each else '0'});",
            "}",
        ]
    half = len(body) // 2
    while body[half - 1] != "}":
        half += 1
    for part, lines in (("first", body[:half]), ("second", body[half:])):
        yield (
            f"pointers/casts_{part}_half",
            program(
                "A cast keeps the phase where block size and element size agree (6.4.3).",
                "\n".join(declarations),
                "\n".join(lines),
            ),
        )


def programs():
    for size, type in ELEMENTS.items():
        yield f"pointers/arithmetic_{size}", arithmetic(size, type)
    yield from casts()
