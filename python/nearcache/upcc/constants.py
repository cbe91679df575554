# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates integer constant expressions with C's values and types, as far as a layout or a check
needs them (C11 6.6).

None stands for what only the C compiler knows: sizes changed by attributes or pragmas,
floating-point arithmetic, and what C leaves undefined (signed overflow, division by zero).
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import TYPE_CHECKING, Any, cast

from pycparser import c_ast

from . import types
from .arithmetic_types import INT, SIZE, arithmetic, promoted, usual, wrapped
from .part import Part

if TYPE_CHECKING:
    from .declare import Declarations
    from .expressions import Expressions

Known = tuple[int, types.Type]  # a value and its type

ESCAPES = {
    "n": 10,
    "t": 9,
    "r": 13,
    "a": 7,
    "b": 8,
    "f": 12,
    "v": 11,
    "0": 0,
    "\\": 92,
    "'": 39,
    '"': 34,
    "?": 63,
    "e": 27,
}
NUMBERED = re.compile(r"\\(?:x(?P<hex>[0-9a-fA-F]+)|(?P<octal>[0-7]{1,3}))")
INTEGERS = [
    cast(types.Type, arithmetic(words.split()))
    for words in ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")
]


def integer(text: str) -> int:
    """Return the value of an integer constant from its spelling."""
    digits = text.rstrip("uUlLiIjJ").replace("'", "")
    if digits[:2] in ("0x", "0X", "0b", "0B"):
        return int(digits, 0)
    return int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits)


def is_integer(node: c_ast.Node) -> bool:
    """Return whether a constant is an integer or a character: neither floating, nor imaginary, nor
    a string."""
    return node.type == "char" or "int" in node.type and "_Complex" not in node.type


def is_zero(node: c_ast.Node) -> bool:
    """Return whether a node is an integer constant of value 0 in any spelling: 0, 0x0, 0b0, 00u."""
    return (
        isinstance(node, c_ast.Constant)
        and "int" in node.type
        and "_Complex" not in node.type
        and integer(node.value) == 0
    )


def constant_type(node: c_ast.Node) -> types.Type | None:
    """Return the first type that an integer constant's spelling allows and that can hold it (C11
    6.4.4.1); None if there is none."""
    value, decimal = integer(node.value), node.value[0] != "0"
    unsigned, longs = "unsigned" in node.type, node.type.count("long")
    for kind in INTEGERS:
        fits = value < 1 << (8 * cast(int, kind.size) - kind.signed)
        allowed = (not unsigned or not kind.signed) and (unsigned or kind.signed or not decimal)
        if fits and allowed and kind.words.count("long") >= longs:
            return kind
    return None


def character(text: str) -> int | None:
    """Return the value of a character constant; None if it depends on the C compiler, as with
    several characters."""
    inside = text[text.index("'") + 1 : -1]
    if not inside.startswith("\\"):
        return ord(inside) if len(inside) == 1 and ord(inside) < 128 else None
    number = NUMBERED.fullmatch(inside)
    if number:
        value = int(number["hex"], 16) if number["hex"] else int(number["octal"], 8)
        return value if value < 128 else None  # char may be signed or unsigned
    return ESCAPES.get(inside[1:])


def _divide(a: int, b: int) -> int:
    """Divide as C does, rounding towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
COMPARISONS = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
UPC_SIZES = {"upc_blocksizeof", "upc_elemsizeof", "upc_localsizeof"}
UNARY = {"-": lambda a: -a, "+": lambda a: a, "~": lambda a: ~a}


def _held(value: int, kind: types.Type) -> Known | None:
    """Return (value, type) of a computation; None if the value is out of range of a signed type."""
    kept = wrapped(value, kind)
    return None if kind.signed and kept != value else (kept, kind)


class Constants(Part):
    """Computes values, and sizes of types, where they are known here."""

    declarations: Declarations
    expressions: Expressions

    def evaluate(self, node: c_ast.Node) -> int | None:
        """Return the value of an integer constant expression, or None."""
        found = self._constant(node)
        return None if found is None else found[0]

    def _constant(self, node: c_ast.Node) -> Known | None:
        """Return (value, type) of an integer constant expression, or None."""
        match node:
            case c_ast.Constant():
                return self._literal(node)
            case c_ast.ID():
                return self._named_constant(node)
            case c_ast.UnaryOp():
                return self._unary_constant(node)
            case c_ast.BinaryOp():
                return self._binary_constant(node)
            case c_ast.TernaryOp():
                return self._conditional_constant(node)
            case c_ast.Cast():
                return self._cast_constant(node)
        return None

    @staticmethod
    def _literal(node: c_ast.Node) -> Known | None:
        if node.type == "char":
            value = character(node.value)
            return None if value is None else (value, INT)
        if "int" not in node.type or "_Complex" in node.type:
            return None
        kind = constant_type(node)
        return None if kind is None else (integer(node.value), kind)

    def _named_constant(self, node: c_ast.Node) -> Known | None:
        if node.name == "THREADS":
            return None if self.unit.threads is None else (self.unit.threads, INT)
        symbol = self.unit.scope.find(node.name)
        if symbol is None or symbol.kind != "constant" or symbol.value is None:
            return None
        return symbol.value, next(
            (kind for kind in INTEGERS if wrapped(symbol.value, kind) == symbol.value), INT
        )

    def _unary_constant(self, node: c_ast.Node) -> Known | None:
        if node.op in ("sizeof", "_Alignof", "__alignof__"):
            if not (isinstance(node.expr, c_ast.Typename) or self._is_object(node)):
                return None
            kind = self.expressions.type_of_operand(node.expr)
            value = self.size_of(kind) if node.op == "sizeof" else self._alignment(kind)
            return None if value is None else (value, SIZE)
        if node.op in UPC_SIZES:
            value = self._upc_size(node.op, self.expressions.type_of_operand(node.expr))
            return None if value is None else (value, SIZE)
        operand = self._constant(node.expr) if node.op == "!" or node.op in UNARY else None
        if operand is None:
            return None
        if node.op == "!":
            return int(not operand[0]), INT
        return _held(UNARY[node.op](operand[0]), promoted(operand[1]))

    def _is_object(self, node: c_ast.Node) -> bool:
        """Return whether a sizeof is that of a named object or of a part of one."""
        if isinstance(node.expr, c_ast.ID):
            symbol = self.unit.scope.find(node.expr.name)
            return node.op == "sizeof" and symbol is not None and symbol.kind == "object"
        return node.op == "sizeof" and isinstance(node.expr, (c_ast.ArrayRef, c_ast.StructRef))

    def _upc_size(self, operator: str, kind: types.Type) -> int | None:
        element = types.element_of(kind)
        block = None if element.block is None else element.block.value
        if block is None or operator == "upc_blocksizeof":
            return block
        size = self.size_of(element)
        if size is None or operator == "upc_elemsizeof":
            return size
        lengths: list[Any] = [each.length for each in kind.dimensions()] if kind.is_array else []
        if None in lengths or self.unit.threads is None and block != 0:
            return None
        count = math.prod(lengths)
        if block == 0:
            return count * size
        return -(-count // (block * self.unit.threads)) * block * size

    def _binary_constant(self, node: c_ast.Node) -> Known | None:
        left, operator = self._constant(node.left), node.op
        if left is None:
            return None
        if operator in ("&&", "||") and bool(left[0]) == (operator == "||"):
            return int(operator == "||"), INT  # the other operand is not evaluated
        right = self._constant(node.right)
        if right is None:
            return None
        if operator in ("&&", "||"):
            return int(bool(right[0])), INT
        if operator in ("<<", ">>"):
            kind = promoted(left[1])
            if not 0 <= right[0] < 8 * cast(int, kind.size) or operator == "<<" and left[0] < 0:
                return None
            return _held(left[0] << right[0] if operator == "<<" else left[0] >> right[0], kind)
        kind = usual(left[1], right[1])
        a, b = wrapped(left[0], kind), wrapped(right[0], kind)
        if operator in COMPARISONS:
            return int(COMPARISONS[operator](a, b)), INT
        if operator not in ARITHMETIC or (operator in "/%" and b == 0):
            return None
        return _held(ARITHMETIC[operator](a, b), kind)

    def _conditional_constant(self, node: c_ast.Node) -> Known | None:
        condition = self._constant(node.cond)
        if condition is None:
            return None
        first, second = (
            condition if node.iftrue is None else self._constant(node.iftrue),
            self._constant(node.iffalse),
        )
        chosen, other = (first, second) if condition[0] else (second, first)
        if chosen is None or other is None:
            return chosen  # the other operand may be anything: its type does not matter
        kind = usual(chosen[1], other[1])
        return wrapped(chosen[0], kind), kind

    def _cast_constant(self, node: c_ast.Node) -> Known | None:
        kind = self.declarations.type_of(node.to_type.type)
        if not kind.is_arithmetic or kind.floating or kind.size is None:
            return None
        value = self.evaluate(node.expr)
        if value is None and isinstance(node.expr, c_ast.Constant):
            try:
                number = float(node.expr.value.rstrip("fFlL"))
                value = int(number != 0) if kind.words == ["_Bool"] else int(number)
            except (ValueError, OverflowError):
                return None
        if value is None:
            return None
        kept = wrapped(value, kind)
        if kept < 0 and kind.node is not None or kind.words == ["char"] and not 0 <= value < 128:
            return None  # the C compiler chooses whether such an enumeration, or char, is signed
        return kept, kind

    # Sizes

    def size_of(self, kind: types.Type) -> int | None:
        """Return the size of a type in bytes; None if it is up to the C compiler."""
        if kind.is_shared and not kind.is_array:
            kind = kind.unqualified()
        if kind.is_arithmetic:
            is_long_double = {"long", "double"} <= set(kind.words)
            return None if is_long_double and self.unit.own_long_double else kind.size
        if kind.is_pointer:
            return None if kind.is_pointer_to_shared else ctypes.sizeof(ctypes.c_void_p)
        if kind.is_array:
            element = self.size_of(kind.element)
            return None if element is None or kind.length is None else element * kind.length
        if kind.is_record and kind.body.plain and kind.body.fields is not None:
            return self._record_size(kind.body)[0]
        return None

    def _alignment(self, kind: types.Type) -> int | None:
        if kind.is_shared and not kind.is_array:
            kind = kind.unqualified()
        if kind.aligned:
            return None
        if kind.is_array:
            return self._alignment(kind.element)
        if kind.is_record:
            return (
                self._record_size(kind.body)[1]
                if kind.body.plain and kind.body.fields is not None
                else None
            )
        size = self.size_of(kind)
        return size // 2 if size and kind.is_arithmetic and "_Complex" in kind.words else size

    def _record_size(self, body: types.Body) -> tuple[int, int] | tuple[None, None]:
        at, widest, largest = 0, 1, 0
        assert body.fields is not None
        for _, kind, bits in body.fields:
            size, alignment = self.size_of(kind), self._alignment(kind)
            if bits is not None or size is None or not alignment:
                return None, None
            alignment = min(alignment, 16)
            at = -(-at // alignment) * alignment + size
            widest, largest = max(widest, alignment), max(largest, size)
        size = largest if body.keyword == "union" else at
        return -(-size // widest) * widest, widest
