# SPDX-License-Identifier: BSD-3-Clause
"""Conversions between pointers-to-shared, and the rules for assignments and casts (UPC 1.3,
6.4.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types
from .part import Part
from .typenames import call, identifier

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .accesses import Accesses
    from .constants import Constants
    from .declare import Declarations
    from .expressions import Expressions
    from .rewrite import Rewriting
    from .typenames import Typenames


class Value:
    """An expression of C: its syntax and its type.

    `null` marks 0 and null pointer constants of type void *; is_null recognises the others. Private
    lvalues are values with an address.
    """

    __slots__ = ("node", "type", "null", "lvalue")

    def __init__(
        self, node: c_ast.Node, type: types.Type, null: bool = False, lvalue: bool = False
    ) -> None:
        self.node, self.type, self.null, self.lvalue = node, type, null, lvalue


class Place:
    """A shared object: `pointer` is the syntax of a pointer-to-shared to it.

    bits: (type of the struct or union, member) of a bit-field; `pointer` then points to the whole.
    path: (pointer to a struct, its type, names of members) that led here. local: makes the C lvalue
    of an object on this thread, for relaxed accesses (local_loops.py).
    """

    __slots__ = ("pointer", "type", "bits", "path", "local")

    def __init__(
        self,
        pointer: c_ast.Node,
        type: types.Type,
        bits: tuple[types.Type, str] | None = None,
        path: tuple[c_ast.Node, types.Type, str] | None = None,
        local: Callable[[], c_ast.Node] | None = None,
    ) -> None:
        self.pointer, self.type, self.bits, self.path = pointer, type, bits, path
        self.local = local


Found = Value | Place  # what an expression is lowered to
NULL = "NCUPC_NULL"


def block_of(pointer: types.Type) -> types.Block:
    """Return the block size of the target of a pointer-to-shared."""
    return types.element_of(pointer.target).block


def has_phase(pointer: types.Type) -> bool:
    """Return whether pointers of this type may have a phase other than 0."""
    return pointer.target.is_void or block_of(pointer).value not in (0, 1)


class Conversions(Part):
    """Converts values to other types."""

    accesses: Accesses
    constants: Constants
    declarations: Declarations
    expressions: Expressions
    rewriting: Rewriting
    typenames: Typenames

    def is_null(self, value: Value) -> bool:
        """Return whether a value is a null pointer constant: an integer constant expression of
        value 0, or one cast to void * (C11 6.3.2.3)."""
        if value.null:
            return True
        kind = value.type
        return kind.is_arithmetic and not kind.floating and self.constants.evaluate(value.node) == 0

    def converted(
        self, value: Value, target: types.Type, coord: Coord | None, what: str
    ) -> c_ast.Node:
        """Return the syntax of `value` as a `target`, converted as by assignment. what: for
        messages, "assignment to 'p'"."""
        source = value.type
        if target.is_pointer_to_shared:
            if self.is_null(value):
                return identifier(NULL)
            if source.is_pointer_to_shared:
                return self._between_shared(value, target, coord, what)
            if source.is_unknown:
                return value.node
            given = "a private pointer" if source.is_pointer else f"a value of type '{source}'"
            self.unit.error(coord, f"{what}: {given} is not a pointer-to-shared ('{target}')")
            return identifier(NULL)
        if source.is_pointer_to_shared and not target.is_unknown:
            return self._from_shared(value, target, coord, what)
        return value.node

    def _from_shared(
        self, value: Value, target: types.Type, coord: Coord | None, what: str
    ) -> c_ast.Node:
        if target.is_arithmetic and target.words == ["_Bool"]:
            return self.truth(value)
        if target.is_pointer:
            self.unit.error(
                coord,
                f"{what}: a pointer-to-shared ('{value.type}') becomes a private pointer only by a cast",
            )
        else:
            self.unit.error(
                coord, f"{what}: a pointer-to-shared ('{value.type}') is not of type '{target}'"
            )
        return value.node

    def _between_shared(
        self, value: Value, target: types.Type, coord: Coord | None, what: str
    ) -> c_ast.Node:
        source = value.type
        if target.target.is_void or source.target.is_void:
            return self._to_or_from_generic(value, target)
        node = value.node
        one, other = block_of(source), block_of(target)
        layout = one.same(other)
        if layout is None and one.is_constant and other.is_constant:
            sizes = [self._block_size(each) for each in (source, target)]
            node = call("ncupc_same_block", *sizes, node)
        elif not layout:
            self.unit.error(
                coord,
                f"{what}: the block sizes differ, {one} and {other} ('{source}' and '{target}'); "
                "the phase is lost, so a cast is needed",
            )
            return node
        if not types.same(source.target, target.target):
            self.unit.warn(
                coord, f"{what}: pointers to different types ('{source}' and '{target}')"
            )
        else:
            lost = (
                types.element_of(source.target).quals
                & {"const", "volatile"} - types.element_of(target.target).quals
            )
            if lost:
                self.unit.warn(
                    coord,
                    f"{what}: the qualifier {' '.join(sorted(lost))} of what is pointed to is lost",
                )
        return self._with_phase(node, source, self._same_size(source, target))

    @staticmethod
    def _with_phase(node: c_ast.Node, source: types.Type, kept: bool | c_ast.Node) -> c_ast.Node:
        """Return the syntax of a converted pointer of type `source`, whose phase becomes 0 unless
        it is kept; a node is a condition of which only C knows whether it holds."""
        if kept is True or not has_phase(source):
            return node
        return call("ncupc_unphased", node) if kept is False else call("ncupc_phased", node, kept)

    def _to_or_from_generic(self, value: Value, target: types.Type) -> c_ast.Node:
        if value.type.target.is_void and not target.target.is_void and not has_phase(target):
            return call("ncupc_unphased", value.node)
        return self.accesses.by_itself(value.node)

    def _block_size(self, pointer: types.Type) -> c_ast.Node:
        return self.typenames.block_size(types.element_of(pointer.target))

    def _same_size(self, source: types.Type, target: types.Type) -> bool | c_ast.Node:
        """Return whether the elements of two pointers' targets have the same size, or the condition
        in C."""
        a, b = types.element_of(source.target), types.element_of(target.target)
        one, other = self.constants.size_of(a), self.constants.size_of(b)
        if one is not None and other is not None:
            return one == other
        if a.alias is not None and b.alias is not None and a.alias.symbol is b.alias.symbol:
            return True
        if a.is_record and b.is_record and a.body is b.body:
            return True
        if a.is_pointer_to_shared and b.is_pointer_to_shared:
            return True
        if any(types.has_no_size(each) or each.is_unknown and not each.node for each in (a, b)):
            return types.same(a, b)
        return c_ast.BinaryOp("==", self.typenames.size(a), self.typenames.size(b))

    def _same_layout(self, source: types.Type, target: types.Type) -> bool | c_ast.Node:
        """Return the same for their block sizes, too."""
        blocks, sizes = block_of(source).same(block_of(target)), self._same_size(source, target)
        if blocks is False or sizes is False:
            return False
        if blocks:
            return sizes
        same = c_ast.BinaryOp("==", self._block_size(source), self._block_size(target))
        return same if sizes is True else c_ast.BinaryOp("&&", same, sizes)

    def cast(self, node: c_ast.Node) -> Value:
        target = self.declarations.type_of(node.to_type.type)
        found = self.expressions.expression(node.expr)
        value = self.accesses.loaded(found)
        source = value.type
        coord = node.coord or node.expr.coord
        if target.is_array or target.is_function:
            self.unit.error(coord, f"a cast to '{target}'")
            return value
        if target.is_pointer_to_shared:
            return Value(self._cast_to_shared(value, target, coord), target.unqualified())
        if target.is_shared:  # the value is private, whatever the type says
            if not isinstance(found, Place):
                self.unit.error(coord, f"a cast of what is not shared to '{target}'")
            if types.element_of(target).block is not None and target.is_record:
                self.unit.error(coord, f"a cast to '{target}'")
        node.to_type = self.rewriting.rewritten_typename(node.to_type)
        result = target.unqualified()
        if source.is_pointer_to_shared and not target.is_void:
            return Value(self._cast_from_shared(value, node, target, coord), result)
        node.expr = value.node
        to_void = target.is_pointer and target.target.is_void and not target.target.quals
        return Value(node, result, null=to_void and self.is_null(value))

    def _cast_to_shared(self, value: Value, target: types.Type, coord: Coord | None) -> c_ast.Node:
        source = value.type
        if self.is_null(value):
            return identifier(NULL)
        if source.is_unknown:
            return value.node
        if not source.is_pointer_to_shared:
            given = (
                f"a private pointer ('{source}')"
                if source.is_pointer
                else f"a value of type '{source}'"
            )
            self.unit.error(coord, f"{given} cannot be cast to a pointer-to-shared ('{target}')")
            return identifier(NULL)
        if source.target.is_void or target.target.is_void:
            return self._to_or_from_generic(value, target)
        kept = self._same_layout(source, target)
        node = value.node if kept is True else self.accesses.by_itself(value.node)
        return self._with_phase(node, source, kept)

    def _cast_from_shared(
        self, value: Value, node: c_ast.Node, target: types.Type, coord: Coord | None
    ) -> c_ast.Node:
        if target.is_pointer:
            node.expr = call("ncupc_local", value.node)
            return node
        if target.is_arithmetic and not target.floating:
            if target.words == ["_Bool"]:
                return self.truth(value)
            node.expr = call("ncupc_integer", value.node)
            return node
        self.unit.error(coord, f"a pointer-to-shared ('{value.type}') cannot be cast to '{target}'")
        return node

    def truth(self, value: Value) -> c_ast.Node:
        """Return the syntax of a condition."""
        if value.type.is_pointer_to_shared:
            return c_ast.UnaryOp("!", call("ncupc_is_null", value.node))
        return value.node

    def common_pointer(
        self, left: Value, right: Value, coord: Coord | None, what: str
    ) -> tuple[types.Type, c_ast.Node, c_ast.Node]:
        """Return (type, syntax of the left, of the right) of two values, one of which is a
        pointer-to-shared."""
        left_is_null = self.is_null(left)
        if left_is_null or self.is_null(right):
            kind = right.type if left_is_null else left.type
            return (
                kind,
                self.converted(left, kind, coord, what),
                self.converted(right, kind, coord, what),
            )
        if not (left.type.is_pointer_to_shared and right.type.is_pointer_to_shared):
            kind = left.type if left.type.is_pointer_to_shared else right.type
            return (
                kind,
                self.converted(left, kind, coord, what),
                self.converted(right, kind, coord, what),
            )
        if left.type.target.is_void or right.type.target.is_void:
            kind = left.type if left.type.target.is_void else right.type
            return kind, left.node, right.node
        return left.type, left.node, self._between_shared(right, left.type, coord, what)
