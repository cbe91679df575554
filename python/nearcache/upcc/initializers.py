# SPDX-License-Identifier: BSD-3-Clause
"""Walks initialisers along the type that they fill (C11 6.7.9), because null pointers and
pointers-to-shared differ from C's."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types
from .convert import Value
from .part import Part
from .tree import nodes_of

if TYPE_CHECKING:
    from .accesses import Accesses
    from .constants import Constants
    from .convert import Conversions
    from .expressions import Expressions
    from .unit import Unit


class Initializers(Part):
    """Lowers initialisers of objects and of compound literals."""

    accesses: Accesses
    constants: Constants
    conversions: Conversions
    expressions: Expressions

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._of_shared = False

    def initializer(
        self, node: c_ast.Node, kind: types.Type, of_shared: bool = False
    ) -> c_ast.Node:
        """Return the syntax of an initialiser of a `kind`. For a shared object, it may not have
        more elements than the object."""
        outer, self._of_shared = self._of_shared, of_shared or self._of_shared
        made = self._initializer(node, kind)
        self._of_shared = outer
        return made

    def _initializer(self, node: c_ast.Node, kind: types.Type) -> c_ast.Node:
        if isinstance(node, c_ast.InitList):
            return self._list(node, kind)
        value = self.expressions.value(node)
        return self.conversions.converted(value, kind, node.coord, "initialiser")

    def _list(self, node: c_ast.Node, kind: types.Type) -> c_ast.Node:
        if not (kind.is_array or kind.is_record):
            values = [self._initializer(each, kind) for each in node.exprs]
            if kind.is_pointer_to_shared and len(values) == 1:
                # in C it may be a struct, whose members the braces would be around
                return values[0]
            node.exprs = values
            return node
        members = self._members_of(kind)
        target: types.Type | None
        for position, item in enumerate(node.exprs):
            if isinstance(item, c_ast.NamedInitializer):
                target, members = self._designated(item.name, kind)
                for each in item.name:
                    if isinstance(each, c_ast.ArrayDesignator):
                        each.expr = self.expressions.constant(each.expr)
                item.expr, members = self._item(item.expr, target, members)
                continue
            target = next(members, None)
            if target is None:
                if self._of_shared:
                    self.unit.error(item.coord, f"more initialisers than '{kind}' has elements")
                node.exprs[position] = self._expression_in_list(item)
                continue
            node.exprs[position], members = self._item(item, target, members)
        return node

    def _expression_in_list(self, item: c_ast.Node) -> c_ast.Node:
        return (
            self._list(item, types.Unknown())
            if isinstance(item, c_ast.InitList)
            else self.expressions.value(item).node
        )

    def _item(
        self, item: c_ast.Node, target: types.Type, members: Iterator[types.Type]
    ) -> tuple[c_ast.Node, Iterator[types.Type]]:
        """Return (lowered, the members that follow): braces may be omitted around a member's own
        members."""
        if isinstance(item, c_ast.InitList):
            return self._list(item, target), members
        value = self._value_of(item)
        while (
            members is not None
            and (target.is_array or target.is_record)
            and not self._fills(value, item, target)
        ):
            members = itertools.chain(self._members_of(target), members)
            next_member = next(members, None)
            if next_member is None:
                return value.node, members
            target = next_member
        return self.conversions.converted(value, target, item.coord, "initialiser"), members

    def _value_of(self, item: c_ast.Node) -> Value:
        found = self.expressions.expression(item)
        if isinstance(found, Value) and found.type.is_array:
            return found
        return self.accesses.loaded(found)

    @staticmethod
    def _fills(value: Value, item: c_ast.Node, target: types.Type) -> bool:
        if target.is_array:
            return (
                isinstance(item, c_ast.Constant)
                and item.type == "string"
                and target.element.is_arithmetic
            )
        return value.type.is_record or value.type.is_unknown

    def _members_of(self, kind: types.Type) -> Iterator[types.Type]:
        if kind.is_array:
            return (
                itertools.repeat(kind.element)
                if kind.length is None
                else itertools.repeat(kind.element, kind.length)
            )
        if kind.body.keyword == "union":
            return itertools.islice((kind for name, kind, _ in kind.body.fields or ()), 1)
        return (
            each
            for name, each, bits in kind.body.fields or ()
            if name is not None or each.is_record
        )

    def _designated(
        self, designators: Sequence[c_ast.Node], kind: types.Type
    ) -> tuple[types.Type, Iterator[types.Type]]:
        """Return (type of the designated object, the members after it: first its siblings, then
        those of the enclosing objects)."""
        after: Iterable[types.Type]
        following: Iterator[types.Type]
        target, following = kind, iter(())
        for designator in designators:
            outer = target
            if isinstance(designator, c_ast.ID):
                found = outer.field(designator.name) if outer.is_record else None
                target = found[0] if found else types.Unknown()
                after = self._members_after(outer, designator.name) if found else ()
            else:
                target = outer.element if outer.is_array else types.Unknown()
                after = self._elements_after(outer, designator) if outer.is_array else ()
            following = itertools.chain(after, following)
        return target, following

    def _elements_after(self, kind: types.Type, designator: c_ast.Node) -> Iterator[types.Type]:
        at = self._index(designator)
        if kind.length is None or at is None:
            return itertools.repeat(kind.element)
        return itertools.repeat(kind.element, max(0, kind.length - 1 - at))

    def _index(self, designator: c_ast.Node) -> int | None:
        return self.constants.evaluate(getattr(designator.expr, "last", designator.expr))

    def _members_after(self, kind: types.Type, name: str) -> Iterator[types.Type]:
        """Return the members after `name`. pre: the type has that member, possibly in an unnamed
        one."""
        fields = kind.body.fields
        assert fields is not None
        at = next(
            at
            for at, (member, each, _) in enumerate(fields)
            if member == name or member is None and each.is_record and each.field(name)
        )
        member, holder, _ = fields[at]
        inside = iter(()) if member == name else self._members_after(holder, name)
        if kind.body.keyword == "union":
            return inside
        beside = (
            each for member, each, _ in fields[at + 1 :] if member is not None or each.is_record
        )
        return itertools.chain(inside, beside)

    # Length of an array given by its initialiser

    def length(self, node: c_ast.Node, kind: types.Type) -> int | None:
        """Return the number of elements that a braced list gives an array without a size; None if
        it is not known here."""
        items = list(node.exprs)
        position = at = longest = 0
        following: Iterator[types.Type]
        while position < len(items):
            item, target, following = items[position], kind.element, iter(())
            if isinstance(item, c_ast.NamedInitializer):
                first = item.name[0]
                index = self._index(first) if isinstance(first, c_ast.ArrayDesignator) else None
                if index is None:
                    return None
                at = index
                target, following = self._designated(item.name[1:], kind.element)
                items[position] = item.expr
            before = position
            for member in itertools.chain([target], following):
                if position == len(items) or isinstance(items[position], c_ast.NamedInitializer):
                    break
                position = self._taken(items, position, member)
            if position == before:
                return None
            at += 1
            longest = max(longest, at)
        return longest

    def _taken(self, items: Sequence[c_ast.Node], position: int, kind: types.Type) -> int:
        """Return the position after the items that fill one object, whose own braces may be
        omitted."""
        item = items[position]
        if isinstance(item, c_ast.InitList) or not (kind.is_array or kind.is_record):
            return position + 1
        if kind.is_array and (
            isinstance(item, c_ast.Constant)
            and item.type == "string"
            and kind.element.is_arithmetic
        ):
            return position + 1
        if kind.is_record and self._is_record(item):
            return position + 1
        for member in self._members_of(kind):
            if position == len(items) or isinstance(items[position], c_ast.NamedInitializer):
                break
            position = self._taken(items, position, member)
        return position

    def _is_record(self, node: c_ast.Node) -> bool:
        """Return whether an item may be a whole struct or union. The array's own name is not
        declared yet, so it cannot be one."""
        if isinstance(node, c_ast.Constant) or isinstance(node, c_ast.UnaryOp) and node.op != "*":
            return False
        within = list(nodes_of(node))
        members = {id(each.field) for each in within if isinstance(each, c_ast.StructRef)}
        names = {
            each.name for each in within if isinstance(each, c_ast.ID) and id(each) not in members
        }
        if any(self.unit.scope.find(name) is None for name in names - {"THREADS", "MYTHREAD"}):
            return isinstance(node, c_ast.FuncCall)
        kind = self.expressions.type_of_operand(node)
        return kind.is_record or kind.is_unknown
