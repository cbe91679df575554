# SPDX-License-Identifier: BSD-3-Clause
"""Accesses to shared objects: gets, puts, pointer-to-shared arithmetic, and the temporaries that
these need."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types
from .arithmetic_types import promoted
from .constants import integer, is_zero
from .convert import Value
from .part import Part
from .tree import nodes_of
from .typenames import call, difference_type, identifier, pointer_declarator
from .upc_ast import StatementExpr

if TYPE_CHECKING:
    from .convert import Found, Place
    from .typenames import Typenames
    from .unit import Unit


def whole_argument(node: c_ast.Node) -> c_ast.Node:
    """Return an expression as one argument of a macro: in parentheses if it has commas in braces or
    brackets, which would split it."""
    for each in nodes_of(node):
        match each:
            case c_ast.CompoundLiteral() | c_ast.ArrayRef(subscript=c_ast.ExprList()):
                return c_ast.ExprList([node], node.coord)
    return node


def must_appear_once(node: c_ast.Node) -> bool:
    """Return whether an expression must not be repeated in the C code, as the macros that read
    records repeat it, although one copy is compiled: labels would be there twice, and expressions
    with such reads in them would double with each level."""
    for each in nodes_of(node):
        match each:
            case c_ast.Label():
                return True
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith("NCUPC_GET_RECORD"):
                return True
    return False


class Accesses(Part):
    """Lowers reads, writes and moves to the runtime's calls."""

    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        # call of ncupc_add or ncupc_element -> (pointer, index)
        self._sums: dict[c_ast.Node, tuple[c_ast.Node, c_ast.Node]] = {}
        # names of shared objects, which begin on thread 0
        self._first_elements: set[c_ast.Node] = set()

    def begins_an_object(self, node: c_ast.Node) -> None:
        """Note that the node is the name of a shared object."""
        self._first_elements.add(node)

    def is_strict(self, kind: types.Type) -> bool:
        """Return whether an access is strict: by its type, or by the pragma in force (6.5.1.1).

        Volatile objects are strict too: others may change them at any time, and their values must
        not come out of a cache.
        """
        quals = types.element_of(kind).quals
        return bool({"strict", "volatile"} & quals) or ("relaxed" not in quals and self.unit.strict)

    def is_plain(self, place: Place) -> bool:
        """Return whether an access can be written in plain C."""
        return place.local is not None and not self.is_strict(place.type)

    def _access(self, name: str, place: Place) -> str:
        return name + ("_STRICT" if self.is_strict(place.type) else "")

    def loaded(self, found: Found) -> Value:
        if isinstance(found, Value):
            kind = types.decayed(found.type)
            if kind is not found.type:
                return Value(found.node, kind, found.null)
            return found
        kind = found.type
        if kind.is_array:
            return Value(found.pointer, types.Pointer(kind.element))
        self._check_object(found)
        if self.is_plain(found):
            assert found.local is not None
            return Value(found.local(), kind.unqualified())
        if found.bits:
            node = self._loaded_bits(found)
        else:
            by_lvalue = kind.is_record and not must_appear_once(found.pointer)
            name = "NCUPC_GET_RECORD" if by_lvalue else "NCUPC_GET"
            node = call(self._access(name, found), self.typenames.value_type(kind), found.pointer)
        return Value(node, kind.unqualified())

    def _loaded_bits(self, place: Place) -> c_ast.Node:
        """Return the read of a bit-field. The mask of a const member cannot be found by a store to
        it, so the whole record is read."""
        assert place.bits is not None
        record, member = place.bits
        found = record.field(member)
        assert found is not None
        whole = self.typenames.value_type(record)
        if "const" in found[0].quals:
            read = call(self._access("NCUPC_GET", place), whole, place.pointer)
            return c_ast.StructRef(read, ".", identifier(member))
        name = self._access("NCUPC_GET_BITS", place)
        return call(name, whole, identifier(member), place.pointer)

    def _check_object(self, place: Place) -> None:
        kind = place.type
        if kind.is_void:
            self.unit.error(
                self.unit.coord,
                "a pointer to shared void points to no object: cast it to another pointer-to-shared first",
            )
        elif kind.is_record and kind.body.fields is None:
            self.unit.error(self.unit.coord, f"'{kind}' is incomplete")

    def stored(self, place: Place, node: c_ast.Node) -> c_ast.Node:
        """Return the syntax that stores the value `node`; it yields the stored value."""
        kind = place.type
        self._check_object(place)
        if kind.is_array:
            self.unit.error(self.unit.coord, "assignment to a shared array")
            return node
        if "const" in kind.quals:
            self.unit.error(self.unit.coord, "assignment to a shared object that is const")
        if self.is_plain(place):
            assert place.local is not None
            return c_ast.Assignment("=", place.local(), node)
        if place.bits:
            record, member = place.bits
            return call(
                self._access("NCUPC_PUT_BITS", place),
                self.typenames.value_type(record),
                identifier(member),
                whole_argument(place.pointer),
                node,
            )
        return call(
            self._access("NCUPC_PUT", place),
            self.typenames.value_type(kind),
            whole_argument(place.pointer),
            node,
        )

    def added(
        self,
        pointer: c_ast.Node,
        index: c_ast.Node,
        target: types.Type,
        index_type: types.Type | None = None,
    ) -> c_ast.Node:
        """Return the syntax of `pointer` moved by `index` objects of type `target`. `index_type` is
        needed if the index may be unsigned."""
        element = types.element_of(target)
        if target.is_void:
            self.unit.error(self.unit.coord, "arithmetic on a pointer to shared void")
            return pointer
        if types.has_no_size(target):
            self.unit.error(
                self.unit.coord, f"arithmetic on a pointer to an incomplete type: '{target}'"
            )
            return pointer
        if is_zero(index):
            return pointer
        whole_rows = False
        if target.is_array:
            known, count = self.typenames.count_of(target)
            whole_rows = known != 1
            if whole_rows:
                index = c_ast.BinaryOp(
                    "*",
                    index if self._is_small(index, known) else c_ast.Cast(difference_type(), index),
                    count,
                )
        before = self._sums.get(pointer)
        if before is not None:
            pointer, earlier = before
            if (
                index_type is not None
                and index_type.is_arithmetic
                and not promoted(index_type).signed
            ):
                index = c_ast.Cast(difference_type(), index)  # a sum of ints would be unsigned
            index = c_ast.BinaryOp("+", copy.copy(earlier), index)
        step = "ncupc_element" if pointer in self._first_elements else "ncupc_add"
        made = call(step, pointer, index, *self.typenames.layout(element))
        # combine the steps, so that a[i][j] is one step from a
        if whole_rows or before is not None:
            self._sums[made] = (pointer, index)
        return made

    def by_itself(self, pointer: c_ast.Node) -> c_ast.Node:
        """Return a copy of the pointer, now to elements of another size or block size, so that
        later steps are not combined with those that led to it."""
        return copy.copy(pointer) if pointer in self._sums else pointer

    @staticmethod
    def _is_small(index: c_ast.Node, row: int | None) -> bool:
        """Return whether offsets within row `index`, of `row` elements, fit into an int."""
        return (
            isinstance(index, c_ast.Constant)
            and index.type == "int"
            and (row is None or (integer(index.value) + 1) * row < 1 << 31)
        )

    def temporary(self, kind: types.Type, init: c_ast.Node) -> tuple[str, c_ast.Node]:
        """Return (name, declaration) of a new variable with the value `init`."""
        return self._variable(
            lambda name: self.typenames.declarator(kind.unqualified(), name, quals=[]), init
        )

    def operand_temporary(self, init: c_ast.Node) -> tuple[str, c_ast.Node]:
        """Like temporary(), but the C compiler infers the type."""
        return self._variable(
            lambda name: c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["__auto_type"])), init
        )

    def pointer_temporary(self, init: c_ast.Node) -> tuple[str, c_ast.Node]:
        """Like temporary(), for a pointer-to-shared."""
        return self._variable(pointer_declarator, init)

    def address_temporary(self, lvalue: c_ast.Node) -> tuple[str, c_ast.Node]:
        """Like temporary(), for the address of a pointer-to-shared in private memory."""
        return self._variable(
            lambda name: c_ast.PtrDecl([], pointer_declarator(name)), c_ast.UnaryOp("&", lvalue)
        )

    def _variable(
        self, declarator_of: Callable[[str], c_ast.Node], init: c_ast.Node
    ) -> tuple[str, c_ast.Node]:
        name = f"ncupc_t{self.unit.next_temporary()}"
        return name, c_ast.Decl(
            name, [], [], [], [], declarator_of(name), init, None, self.unit.coord
        )

    def steps(self, operator: str, value: Value) -> c_ast.Node:
        """Return the syntax of the number of elements by which `p += value` or `p -= value` moves a
        pointer-to-shared."""
        return (
            value.node
            if operator == "+"
            else c_ast.UnaryOp("-", c_ast.Cast(difference_type(), value.node))
        )

    def sequence(self, *items: c_ast.Node) -> c_ast.Node:
        """Return the syntax of ({ a; b; c; })."""
        return StatementExpr(c_ast.Compound(list(items), self.unit.coord), self.unit.coord)
