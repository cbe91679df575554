# SPDX-License-Identifier: BSD-3-Clause
"""Lowers unary, binary and conditional operators whose operands may be shared or point to shared
objects (UPC 1.3, 6.4.1, 6.4.2, 6.4.4)."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types, upc_ast
from .arithmetic_types import DIFFERENCE, INT, SIZE, part_of_complex, promoted, usual
from .convert import Place, Value
from .part import Part
from .tree import called_names
from .typenames import call, difference_type, identifier, number, size_type

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .accesses import Accesses
    from .convert import Conversions, Found
    from .expressions import Expressions
    from .rewrite import Rewriting
    from .typenames import Typenames

COMPARISONS = {"<", ">", "<=", ">="}
# calls of the runtime made by lowering that change nothing
READING = ("NCUPC_GET", "ncupc_")


def pure(node: c_ast.Node) -> bool:
    """Return whether an expression is cheap and can be evaluated twice with the same result."""
    match node:
        case c_ast.ID() | c_ast.Constant():
            return True
        case c_ast.StructRef():
            return pure(node.name)
        case c_ast.ArrayRef():
            return pure(node.name) and pure(node.subscript)
        case c_ast.UnaryOp(op="*"):
            return pure(node.expr)
        case c_ast.BinaryOp(op="+") | c_ast.BinaryOp(op="-"):
            return pure(node.left) and pure(node.right)
    return False


def has_effects(node: c_ast.Node) -> bool:
    """Return whether evaluating a lowered expression may change something: it calls, assigns,
    increments or decrements."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name.startswith(READING):
            pass
        case (
            c_ast.FuncCall()
            | c_ast.Assignment()
            | upc_ast.StatementExpr()
            | c_ast.UnaryOp(op="++" | "--" | "p++" | "p--")
        ):
            return True
        case c_ast.UnaryOp(op="sizeof"):
            return False
    return any(has_effects(child) for _, child in node.children())


def may_be_bits(node: c_ast.Node) -> bool:
    """Return whether a lowered operand may be of a bit-field's own type, which no variable can
    have."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)):
            return name.startswith(("NCUPC_GET_BITS", "NCUPC_PUT_BITS"))
        case c_ast.FuncCall() | c_ast.Cast() | c_ast.UnaryOp(op="+" | "-" | "~" | "!" | "*"):
            return False
    return True


class Operators(Part):
    """Visitors for Expressions, and updates of objects by an operator."""

    accesses: Accesses
    conversions: Conversions
    expressions: Expressions
    rewriting: Rewriting
    typenames: Typenames

    # Unary expressions

    def visit_UnaryOp(self, node: c_ast.Node) -> Found:
        match node.op:
            case "sizeof":
                return self._sizeof(node)
            case "upc_blocksizeof" | "upc_elemsizeof" | "upc_localsizeof":
                return self._upc_sizeof(node)
            case "&":
                return self._address(node)
            case "*":
                return self._dereference(node)
            case "++" | "--" | "p++" | "p--":
                return self._step(node)
            case "&&":
                return Value(node, types.Pointer(types.Void()))
            case "_Alignof" | "__alignof__" | "__alignof" | "alignof":
                return self._alignof(node)
            case "__real__" | "__imag__":
                return self._complex_part(node)
        value = self.expressions.value(node.expr)
        if node.op == "!":
            if value.type.is_pointer_to_shared:
                return Value(call("ncupc_is_null", value.node), INT)
            node.expr = value.node
            return Value(node, INT)
        if value.type.is_pointer_to_shared:
            self.unit.error(node.coord, f"{node.op} of a pointer-to-shared")
        node.expr = value.node
        return Value(node, promoted(value.type))

    def _complex_part(self, node: c_ast.Node) -> Found:
        """Lower GNU's parts of a complex number, which are objects if the whole is an object."""
        found = self.expressions.expression(node.expr)
        kind = part_of_complex(found.type)
        if isinstance(found, Place) and kind is not None:
            size = self.typenames.size(kind)
            quals = found.type.quals & {"strict", "relaxed", "const", "volatile"}
            return Place(
                call("ncupc_field", found.pointer, number(0) if node.op == "__real__" else size),
                kind.qualified(quals, types.INDEFINITE),
            )
        value = self.accesses.loaded(found)
        node.expr = value.node
        lvalue = isinstance(found, Value) and found.lvalue
        return Value(node, kind or promoted(value.type), lvalue=lvalue)

    def _alignof(self, node: c_ast.Node) -> Value:
        if isinstance(node.expr, c_ast.Typename):
            kind = self.expressions.type_of_operand(node.expr)
            node.expr = (
                self.typenames.typename(kind.unqualified())
                if kind.is_shared
                else self.rewriting.rewritten_typename(node.expr)
            )
        else:
            called = set(called_names(node.expr))
            found = self.expressions.expression(node.expr)
            if isinstance(found, Place):
                node.expr = self.typenames.typename(found.type.unqualified())
                self.expressions.leave_unevaluated(called)
            else:  # an object may be aligned more strictly than its type
                node.expr = found.node
        return Value(node, SIZE)

    def _sizeof(self, node: c_ast.Node) -> Value:
        if isinstance(node.expr, c_ast.Typename):
            kind = self.expressions.type_of_operand(node.expr)
            if not kind.is_shared:
                self._must_have_a_size(kind, node)
                node.expr = self.rewriting.rewritten_typename(node.expr)
                return Value(node, SIZE)
        else:
            called = set(called_names(node.expr))
            found = self.expressions.expression(node.expr)
            if isinstance(found, Value):
                self._must_have_a_size(found.type, node)
                node.expr = found.node
                if self.expressions.needs_a_function(found):
                    node.expr = self.typenames.typename(found.type.unqualified())
                    self.expressions.leave_unevaluated(called)
                return Value(node, SIZE)
            kind = found.type
            self.expressions.leave_unevaluated(called)
            if found.bits:
                self.unit.error(node.coord, "sizeof a bit-field")
        return Value(self._size_of_shared(kind, node), SIZE)

    def _must_have_a_size(self, kind: types.Type, node: c_ast.Node) -> None:
        if kind.is_void or kind.is_function:
            self.unit.error(node.coord, f"sizeof an incomplete type or a function: '{kind}'")

    def _size_of_shared(self, kind: types.Type, node: c_ast.Node) -> c_ast.Node:
        element = types.element_of(kind)
        if element.is_void or (
            kind.is_array and any(each.count is None for each in kind.dimensions())
        ):
            self.unit.error(node.coord, f"sizeof an incomplete type: '{kind}'")
        known, count = self.typenames.count_of(kind)
        size = self.typenames.size(element)
        return size if known == 1 else c_ast.BinaryOp("*", count, size)

    def _upc_sizeof(self, node: c_ast.Node) -> Value:
        if isinstance(node.expr, c_ast.Typename):
            kind = self.expressions.type_of_operand(node.expr)
        else:
            self.expressions.leave_unevaluated(called_names(node.expr))
            found = self.expressions.expression(node.expr)
            kind = found.type
            if isinstance(found, Place) and found.bits:
                self.unit.error(node.coord, f"{node.op} of a bit-field")
        if not kind.is_shared:
            self.unit.error(node.coord, f"{node.op} needs something shared, not a '{kind}'")
            return Value(number(0), SIZE)
        element = types.element_of(kind)
        if element.is_void:
            self.unit.error(node.coord, f"{node.op} of shared void")
            return Value(number(0), SIZE)
        if types.has_no_size(element):
            self.unit.error(node.coord, f"{node.op} of an incomplete type: '{kind}'")
            return Value(number(0), SIZE)
        if node.op == "upc_blocksizeof":
            return Value(c_ast.Cast(size_type(), self.typenames.block_size(element)), SIZE)
        if node.op == "upc_elemsizeof":
            return Value(self.typenames.size(element), SIZE)
        if element.block.value == 0:
            return Value(self._size_of_shared(kind, node), SIZE)
        if types.has_no_size(kind):
            self.unit.error(node.coord, f"{node.op} of an incomplete type: '{kind}'")
            return Value(number(0), SIZE)
        local = "ncupc_localsize" if self.unit.threads is None else "NCUPC_LOCALSIZE"
        count = self.typenames.count_of(kind)[1]
        return Value(call(local, count, *self.typenames.layout(element)), SIZE)

    def _address(self, node: c_ast.Node) -> Value:
        found = self.expressions.expression(node.expr)
        if isinstance(found, Place):
            if found.bits:
                self.unit.error(node.coord, "the address of a bit-field")
            return Value(found.pointer, types.Pointer(found.type))
        if not (found.lvalue or found.type.is_function or found.type.is_unknown):
            self.unit.error(
                node.coord, f"{self._what(node.expr)} is not an lvalue: it has no address"
            )
        node.expr = found.node
        return Value(node, found.type if found.type.is_unknown else types.Pointer(found.type))

    @staticmethod
    def _what(node: c_ast.Node) -> str:
        return f"'{node.name}'" if isinstance(node, c_ast.ID) else "the expression"

    def must_be_lvalue(self, node: c_ast.Node, found: Found) -> None:
        if isinstance(found, Value) and not (found.lvalue or found.type.is_unknown):
            self.unit.error(
                node.coord, f"{self._what(node)} is not an lvalue: it cannot be assigned to"
            )

    def _dereference(self, node: c_ast.Node) -> Found:
        value = self.expressions.value(node.expr)
        if value.type.is_pointer_to_shared:
            return Place(value.node, value.type.target)
        node.expr = value.node
        if value.type.is_pointer:
            return Value(node, value.type.target, lvalue=True)
        if not value.type.is_unknown:
            self.unit.error(node.coord, f"* needs a pointer, not a '{value.type}'")
        return Value(node, types.Unknown(), lvalue=True)

    def _step(self, node: c_ast.Node) -> Value:
        """Lower ++ and --, prefix and postfix."""
        operator, after = node.op[-1], node.op.startswith("p")
        found = self.expressions.expression(node.expr)
        self.must_be_lvalue(node.expr, found)
        if isinstance(found, Value):
            if not found.type.is_pointer_to_shared:
                node.expr = found.node
                return Value(node, types.decayed(found.type))
            one = number(1) if operator == "+" else c_ast.UnaryOp("-", number(1))
            return self.moved(found, one, after)
        return self.update_shared(found, operator, Value(number(1), INT), after)

    def _evaluated_first(self, operand: c_ast.Node, items: list[c_ast.Node]) -> c_ast.Node:
        """Return the operand of a compound assignment, evaluated before the old value is read: a
        call in it may change the object."""
        if not has_effects(operand):
            return operand
        if may_be_bits(operand):
            operand = c_ast.UnaryOp("+", operand)
        name, declaration = self.accesses.operand_temporary(operand)
        items.append(declaration)
        return identifier(name)

    def moved(self, found: Value, index: c_ast.Node, after: bool = False) -> Value:
        """Return p += index for a pointer-to-shared in private memory; yields the old value if
        `after`."""
        kind = found.type.unqualified()
        lvalue, items = found.node, []
        if not pure(lvalue):
            name, declaration = self.accesses.address_temporary(lvalue)
            items.append(declaration)
            lvalue = c_ast.UnaryOp("*", identifier(name))
        index = self._evaluated_first(index, items)
        if not after:
            moved = c_ast.Assignment(
                "=", lvalue, self.accesses.added(copy.deepcopy(lvalue), index, kind.target)
            )
            return Value(self.accesses.sequence(*items, moved) if items else moved, kind)
        name, before = self.accesses.pointer_temporary(copy.deepcopy(lvalue))
        moved = c_ast.Assignment(
            "=", lvalue, self.accesses.added(identifier(name), index, kind.target)
        )
        return Value(self.accesses.sequence(*items, before, moved, identifier(name)), kind)

    def update_shared(
        self, place: Place, operator: str, operand: Value, after: bool = False
    ) -> Value:
        """Lower `place operator= operand`; yields the old value if `after`, else the stored one."""
        kind = place.type.unqualified()
        if self.accesses.is_plain(place):
            return self._update_plain(place, operator, operand, after)
        items, at = [], place.pointer
        if not isinstance(at, c_ast.ID):
            name, declaration = self.accesses.pointer_temporary(at)
            items, at = [declaration], identifier(name)
        operand = Value(self._evaluated_first(operand.node, items), operand.type)
        here = Place(at, place.type, place.bits)
        old = self.accesses.loaded(here).node
        if after:
            name, before = self.accesses.temporary(kind, old)
            items.append(before)
            old = identifier(name)
        if kind.is_pointer_to_shared:
            if operator not in "+-" or not types.may_index(operand.type):
                self.unit.error(
                    self.unit.coord, f"{operator}= of a pointer-to-shared by '{operand.type}'"
                )
            new = self.accesses.added(old, self.accesses.steps(operator, operand), kind.target)
        else:
            if kind.is_record:
                self.unit.error(self.unit.coord, f"{operator}= of a '{kind}'")
            if operand.type.is_pointer_to_shared:
                self.unit.error(self.unit.coord, f"{operator}= with a pointer-to-shared")
            new = c_ast.BinaryOp(operator, old, operand.node)
        items.append(self.accesses.stored(here, new))
        if after:
            items.append(identifier(name))
        return Value(self.accesses.sequence(*items) if len(items) > 1 else items[0], kind)

    def _update_plain(self, place: Place, operator: str, operand: Value, after: bool) -> Value:
        """Like update_shared(), for an arithmetic object accessed in plain C."""
        assert place.local is not None
        lvalue, kind = place.local(), place.type.unqualified()
        if after:
            return Value(c_ast.UnaryOp("p" + 2 * operator, lvalue), kind)
        return Value(c_ast.Assignment(operator + "=", lvalue, operand.node), kind)

    # Binary expressions

    def visit_BinaryOp(self, node: c_ast.Node) -> Value:
        left, right = self.expressions.value(node.left), self.expressions.value(node.right)
        if node.op in ("&&", "||"):
            node.left, node.right = self.conversions.truth(left), self.conversions.truth(right)
            return Value(node, INT)
        if left.type.is_pointer_to_shared or right.type.is_pointer_to_shared:
            return self._on_shared_pointers(node, left, right)
        node.left, node.right = left.node, right.node
        if node.op in ("==", "!=") or node.op in COMPARISONS:
            return Value(node, INT)
        if left.type.is_pointer or right.type.is_pointer:
            if left.type.is_pointer and right.type.is_pointer:
                return Value(node, DIFFERENCE)
            return Value(node, left.type if left.type.is_pointer else right.type)
        if node.op in ("<<", ">>"):
            return Value(node, promoted(left.type))
        return Value(node, usual(left.type, right.type))

    def _on_shared_pointers(self, node: c_ast.Node, left: Value, right: Value) -> Value:
        operator, coord = node.op, node.coord
        if operator in ("==", "!="):
            return Value(self._equality(operator, left, right, coord), INT)
        if operator in COMPARISONS:
            kind, a, b = self.conversions.common_pointer(left, right, coord, f"operator {operator}")
            if kind.target.is_void:
                self.unit.error(coord, f"{operator} on pointers to shared void")
                return Value(number(0), INT)
            element = types.element_of(kind.target)
            compared = call("ncupc_compare", a, b, *self.typenames.layout(element))
            return Value(c_ast.BinaryOp(operator, compared, number(0)), INT)
        if operator == "-" and left.type.is_pointer_to_shared and right.type.is_pointer_to_shared:
            return Value(self._difference(left, right, coord), DIFFERENCE)
        if operator == "+" and not left.type.is_pointer:
            left, right = right, left
        if (
            operator not in "+-"
            or not left.type.is_pointer_to_shared
            or not types.may_index(right.type)
        ):
            self.unit.error(coord, f"operator {operator} on '{left.type}' and '{right.type}'")
            return Value(node, types.Unknown())
        index = right.node
        if operator == "-":
            index = c_ast.UnaryOp(
                "-",
                index
                if isinstance(index, c_ast.Constant) and right.type.signed
                else c_ast.Cast(difference_type(), index),
            )
        unsigned = right.type if operator == "+" else None
        moved = self.accesses.added(left.node, index, left.type.target, unsigned)
        return Value(moved, left.type)

    def _equality(
        self, operator: str, left: Value, right: Value, coord: Coord | None
    ) -> c_ast.Node:
        left_is_null = self.conversions.is_null(left)
        if left_is_null or self.conversions.is_null(right):
            same = call("ncupc_is_null", right.node if left_is_null else left.node)
        else:
            if left.type.is_pointer_to_shared and right.type.is_pointer_to_shared:
                a, b = left.node, right.node
                if not (
                    left.type.target.is_void
                    or right.type.target.is_void
                    or types.same(left.type, right.type)
                ):
                    self._compare_different(operator, left.type, right.type, coord)
            else:
                _, a, b = self.conversions.common_pointer(
                    left, right, coord, f"operator {operator}"
                )
            same = call("ncupc_equal", a, b)
        return same if operator == "==" else c_ast.UnaryOp("!", same)

    def _compare_different(
        self, operator: str, left: types.Type, right: types.Type, coord: Coord | None
    ) -> None:
        one, other = types.element_of(left.target).block, types.element_of(right.target).block
        if one.same(other) is False:
            self.unit.warn(
                coord,
                f"{operator} of pointers-to-shared with block sizes {one} and {other}, without a cast",
            )
        elif not types.same(left.target, right.target):
            self.unit.warn(
                coord, f"{operator} of pointers to different types ('{left}' and '{right}')"
            )

    def _difference(self, left: Value, right: Value, coord: Coord | None) -> c_ast.Node:
        kind, a, b = self.conversions.common_pointer(left, right, coord, "operator -")
        target = kind.target
        if target.is_void:
            self.unit.error(coord, "the difference of pointers to shared void")
            return number(0)
        if types.has_no_size(target):
            self.unit.error(coord, f"the difference of pointers to an incomplete type: '{target}'")
            return number(0)
        element = types.element_of(target)
        made = call("ncupc_diff", a, b, *self.typenames.layout(element))
        if target.is_array:
            made = c_ast.BinaryOp(
                "/", made, c_ast.Cast(difference_type(), self.typenames.count_of(target)[1])
            )
        return made

    def visit_TernaryOp(self, node: c_ast.Node) -> Value:
        condition = self.expressions.value(node.cond)
        if node.iftrue is None:
            return self._elvis(node, condition)
        left, right = self.expressions.value(node.iftrue), self.expressions.value(node.iffalse)
        node.cond, node.iftrue, node.iffalse = (
            self.conversions.truth(condition),
            left.node,
            right.node,
        )
        if left.type.is_pointer_to_shared or right.type.is_pointer_to_shared:
            kind, node.iftrue, node.iffalse = self.conversions.common_pointer(
                left, right, node.coord, "operator ?:"
            )
            return Value(node, kind)
        return Value(node, self._common(left, right))

    @staticmethod
    def _common(left: Value, right: Value) -> types.Type:
        if left.type.is_arithmetic and right.type.is_arithmetic:
            return usual(left.type, right.type)
        if left.type.is_pointer and right.type.is_pointer:
            if left.null or right.null:
                return right.type if left.null else left.type
            return right.type if right.type.target.is_void else left.type
        if left.type.is_pointer or right.type.is_pointer:
            return left.type if left.type.is_pointer else right.type
        return left.type

    def _elvis(self, node: c_ast.Node, condition: Value) -> Value:
        other = self.expressions.value(node.iffalse)
        if not (condition.type.is_pointer_to_shared or other.type.is_pointer_to_shared):
            node.cond, node.iffalse = condition.node, other.node
            return Value(node, self._common(condition, other))
        name, declaration = self.accesses.temporary(condition.type, condition.node)
        kept = Value(identifier(name), condition.type)
        kind, a, b = self.conversions.common_pointer(kept, other, node.coord, "operator ?:")
        chosen = c_ast.TernaryOp(
            self.conversions.truth(Value(identifier(name), condition.type)), a, b
        )
        return Value(self.accesses.sequence(declaration, chosen), kind)
