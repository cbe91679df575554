"""Arrays of several dimensions and layouts: affinity, phase and value of every element; initialisers against the same private array."""

import random

from .text import program, shared

# (dimensions, the one that THREADS multiplies, block size)
ARRAYS = [
    ((4,), 0, None),
    ((6,), 0, 3),
    ((5,), 0, "*"),
    ((3, 4), 0, None),
    ((3, 4), 1, 5),
    ((2, 3, 4), 0, 4),
    ((2, 3, 4), 1, 7),
    ((2, 2, 3), 2, 2),
    ((2, 5), 0, "*"),
    ((1, 2, 3, 2), 0, 12),
    ((2, 2, 2), 1, "*"),
    ((7, 3), 0, 1),
]
TYPES = {"char": 1, "int": 4, "double": 8, "struct odd": 7}


def name_of(dimensions, times, block):
    return (
        "x".join(map(str, dimensions))
        + f"_threads_{times}_"
        + {None: "plain", "*": "star"}.get(block, f"block_{block}")
    )


def every_element(dimensions, times, block):
    """A program that looks at each element of four arrays, by subscripts and by one pointer that walks over them."""
    sizes = [
        f"{size} * THREADS" if index == times else str(size)
        for index, size in enumerate(dimensions)
    ]
    subscripts = "".join(f"[{size}]" for size in sizes)
    count = " * ".join(f"({size})" for size in sizes)
    loops = [
        f"for (int i{index} = 0; i{index} < {size}; i{index}++)" for index, size in enumerate(sizes)
    ]
    element = "".join(f"[i{index}]" for index in range(len(sizes)))
    length = 1
    for size in dimensions:
        length *= size
    each = length if block == "*" else 1 if block is None else block
    declarations, body = ["struct odd { char c[7]; };"], []
    for number, type in enumerate(TYPES):
        name = f"a{number}"
        declarations.append(f"{shared(block)} {type} {name}{subscripts};")
        body += [
            "{",
            "    int n = 0;",
            f"    shared [{each}] {type} *p = (shared [{each}] {type} *)&{name}{'[0]' * len(sizes)};",
        ]
        body += ["    " * (index + 1) + loop for index, loop in enumerate(loops)]
        inside = "    " * (len(loops) + 1)
        body[-1] += " {"
        body += [
            inside + f"CHECK_EQ(upc_threadof(&{name}{element}), n / {each} % THREADS);",
            inside + f"CHECK_EQ(upc_phaseof(&{name}{element}), n % {each});",
            inside + f"CHECK(&{name}{element} == p + n);",
            inside + f"CHECK_EQ(&{name}{element} - p, n);",
            inside + "n++;",
            "    " * len(loops) + "}",
            f"    CHECK_EQ(n, {count});",
            f"    CHECK_EQ(sizeof {name}, n * sizeof({type}));",
            "}",
        ]
    body += [
        "upc_forall (int n = 0; n < "
        + count
        + f"; n++; (shared [{each}] int *)&a1{'[0]' * len(sizes)} + n)",
        f"    ((shared [{each}] int *)&a1{'[0]' * len(sizes)})[n] = 3 * n + 1;",
        "upc_barrier;",
        "int next = 1;",
    ]
    body += ["    " * index + loop for index, loop in enumerate(loops)]
    body[-1] += " {"
    inside = "    " * len(loops)
    body += [
        inside + f"CHECK_EQ(a1{element}, next);",
        inside + "next += 3;",
        "    " * (len(loops) - 1) + "}",
    ]
    return program(
        f"Affinity, phase and value of every element of {shared(block)} T a{subscripts} (6.5.2.1).",
        "\n".join(declarations),
        "\n".join(body),
    )


def initialiser(generator, dimensions):
    """A random braced initialiser; some inner braces and elements are left out, some are designated."""
    size, rest = dimensions[0], dimensions[1:]
    parts, at = [], 0
    while at < size and generator.random() < 0.9:
        if generator.random() < 0.2:
            at = generator.randrange(at, size)
            parts.append(
                f"[{at}] = "
                + (initialiser(generator, rest) if rest else str(generator.randint(-99, 99)))
            )
        else:
            parts.append(initialiser(generator, rest) if rest else str(generator.randint(-99, 99)))
        at += 1
    return "{" + ", ".join(parts or ["{0}" if rest else "0"]) + "}"


def initialised(seed):
    """A program whose shared arrays start as private ones with the same initialisers do. Static THREADS: the sizes are constants."""
    generator = random.Random(seed)
    declarations, body = [], []
    for number in range(8):
        dimensions = [generator.randint(2, 6) for _ in range(generator.randint(1, 3))]
        block = generator.choice([None, 0, 2, 3, 5, "*"])
        type = generator.choice(["char", "short", "int", "long", "float", "double"])
        text = initialiser(generator, dimensions)
        subscripts = "".join(f"[{size}]" for size in dimensions)
        declarations += [
            f"{shared(block)} {type} a{number}{subscripts} = {text};",
            f"static const {type} model{number}{subscripts} = {text};",
        ]
        element = "".join(f"[i{index}]" for index in range(len(dimensions)))
        body += [
            "    " * index + f"for (int i{index} = 0; i{index} < {size}; i{index}++)"
            for index, size in enumerate(dimensions)
        ]
        body.append(
            "    " * len(dimensions) + f"CHECK(a{number}{element} == model{number}{element});"
        )
    return program(
        "Initialised shared arrays hold what private arrays with the same initialisers hold (C99 6.7.8).",
        "\n".join(declarations),
        "\n".join(body),
        ["environment: static"],
    )


def programs():
    for array in ARRAYS:
        yield f"layouts/{name_of(*array)}", every_element(*array)
    for seed in range(4):
        yield f"layouts/initialised_{seed}", initialised(seed)
