# SPDX-License-Identifier: BSD-3-Clause
"""C's arithmetic types: specifiers, promotions and the usual conversions (C11 6.2.5, 6.3.1)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import cast

from . import types

SIZES = {
    ("char",): 1,
    ("short",): 2,
    ("int",): 4,
    ("float",): 4,
    ("double",): 8,
    ("long",): ctypes.sizeof(ctypes.c_long),
    ("long", "long"): 8,
    ("long", "double"): ctypes.sizeof(ctypes.c_longdouble),
    ("_Bool",): 1,
}


def arithmetic(words: Iterable[str]) -> types.Arithmetic | None:
    """Return the type that specifier words such as `unsigned long int` name; None if they name
    none."""
    left = list(words)
    signed = True
    for word in ("unsigned", "signed", "__signed__", "__signed"):
        while word in left:
            left.remove(word)
            signed = signed and word != "unsigned"
    unsigned = "unsigned" in words
    complex_ = [word for word in left if word in ("_Complex", "__complex__", "_Imaginary")]
    left = [word for word in left if word not in complex_]
    core = sorted(word for word in left if word != "int" or left == ["int"])
    if not core:
        core = ["int"]
    if core.count("long") == 2:
        core = ["long", "long"]
    elif core == ["double", "long"]:
        core = ["long", "double"]
    floating = (
        bool({"float", "double"} & set(core))
        or core[0].startswith(("_Float", "__float", "_Decimal"))
        or bool(complex_)
    )
    size = SIZES.get(tuple(core))
    if size is None and not (floating or core[0] in ("__int128", "__int128_t", "__uint128_t")):
        return None
    if complex_:
        size = 2 * size if size else None
        core = [*core, "_Complex"]
    spelled = (
        ["unsigned"] if unsigned else ["signed"] if core == ["char"] and "signed" in words else []
    ) + core
    return types.Arithmetic(spelled, size, floating, signed)


INT = cast(types.Arithmetic, arithmetic(["int"]))
UNSIGNED = cast(types.Arithmetic, arithmetic(["unsigned", "int"]))
SIZE = cast(types.Arithmetic, arithmetic(["unsigned", "long"]))
DIFFERENCE = cast(types.Arithmetic, arithmetic(["long"]))


def wrapped(value: int, kind: types.Type) -> int:
    """Return the value of an integer converted to a type of known size (C11 6.3.1.3)."""
    if kind.words == ["_Bool"]:
        return int(value != 0)
    bits = 8 * cast(int, kind.size)
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind.signed and value >> (bits - 1) else value


def part_of_complex(kind: types.Type) -> types.Type | None:
    """Return the type of the parts of a complex type; None for others."""
    if not (kind.is_arithmetic and "_Complex" in kind.words):
        return None
    return arithmetic([word for word in kind.words if word != "_Complex"])


def promoted(kind: types.Type) -> types.Type:
    """Return the type after the integer promotions."""
    if kind.is_arithmetic and not kind.floating and (kind.size or 8) < 4:
        return INT
    return (
        kind.unqualified()
        if kind.is_arithmetic and kind.node is None
        else INT
        if kind.is_arithmetic
        else kind
    )


def usual(a: types.Type, b: types.Type) -> types.Type:
    """Return the common type after the usual arithmetic conversions."""
    if not (a.is_arithmetic and b.is_arithmetic):
        return a if a.is_unknown or not b.is_unknown else b
    a, b = promoted(a), promoted(b)
    if a.floating != b.floating:
        return a if a.floating else b
    if (a.size or 16) != (b.size or 16):
        return a if (a.size or 16) > (b.size or 16) else b
    return a if not a.signed or "long" in a.words and b.signed else b
