"""Initialisers, walked along the type that they fill (C11 6.7.9), as null pointers and pointers-to-shared differ from C's."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types
from .convert import Value
from .part import Part

if TYPE_CHECKING:
    from .accesses import Accesses
    from .convert import Conversions
    from .expressions import Expressions


class Initializers(Part):
    """Initialisers of objects, and of compound literals."""

    accesses: Accesses
    conversions: Conversions
    expressions: Expressions

    def __init__(self, unit):
        super().__init__(unit)
        self._of_shared = False

    def initializer(self, node, kind, of_shared=False):
        """The syntax of an initialiser of a `kind`; of a shared object it may not have more than there are elements."""
        outer, self._of_shared = self._of_shared, of_shared or self._of_shared
        made = self._initializer(node, kind)
        self._of_shared = outer
        return made

    def _initializer(self, node, kind):
        if isinstance(node, c_ast.InitList):
            return self._list(node, kind)
        value = self.expressions.value(node)
        return self.conversions.converted(value, kind, node.coord, "initialiser")

    def _list(self, node, kind):
        if not (kind.is_array or kind.is_record):
            node.exprs = [self._initializer(each, kind) for each in node.exprs]
            return node
        members = self._members_of(kind)
        for position, item in enumerate(node.exprs):
            if isinstance(item, c_ast.NamedInitializer):
                target, members = self._designated(item, kind)
                item.expr = self._item(item.expr, target, None)[0]
                continue
            target = next(members, None)
            if target is None:
                if self._of_shared:
                    self.unit.error(item.coord, f"more initialisers than '{kind}' has elements")
                node.exprs[position] = self._expression_in_list(item)
                continue
            node.exprs[position], members = self._item(item, target, members)
        return node

    def _expression_in_list(self, item):
        return (
            self._list(item, types.Unknown())
            if isinstance(item, c_ast.InitList)
            else self.expressions.value(item).node
        )

    def _item(self, item, target, members):
        """(lowered, the members that follow): braces may be left out around the members of a member."""
        if isinstance(item, c_ast.InitList):
            return self._list(item, target), members
        value = self._value_for(item, target)
        while (
            members is not None
            and (target.is_array or target.is_record)
            and not self._fills(value, item, target)
        ):
            members = itertools.chain(self._members_of(target), members)
            target = next(members, None)
            if target is None:
                return value.node, members
        return self.conversions.converted(value, target, item.coord, "initialiser"), members

    def _value_for(self, item, target):
        found = self.expressions.expression(item)
        if isinstance(found, Value) and found.type.is_array:
            return found
        return self.accesses.loaded(found)

    @staticmethod
    def _fills(value, item, target):
        if target.is_array:
            return (
                isinstance(item, c_ast.Constant)
                and item.type == "string"
                and target.element.is_arithmetic
            )
        return value.type.is_record or value.type.is_unknown

    def _members_of(self, kind):
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

    def _designated(self, item, kind):
        """(type of what is designated, the members after it)."""
        target, following = kind, iter(())
        for depth, designator in enumerate(item.name):
            outer = target
            if isinstance(designator, c_ast.ID):
                found = outer.field(designator.name) if outer.is_record else None
                target = found[0] if found else types.Unknown()
                if depth == 0 and outer.is_record:
                    following = self._members_after(outer, designator.name)
            else:
                target = outer.element if outer.is_array else types.Unknown()
                if depth == 0 and outer.is_array:
                    following = itertools.repeat(outer.element)
        return target, following

    @staticmethod
    def _members_after(kind, name):
        if kind.body.keyword == "union":
            return iter(())
        fields = kind.body.fields or ()
        at = next((i for i, (member, _, _) in enumerate(fields) if member == name), len(fields))
        return (
            each for member, each, _ in fields[at + 1 :] if member is not None or each.is_record
        )
