# SPDX-License-Identifier: BSD-3-Clause
"""Structs, unions and enumerations: their tags, members and constants (C11 6.7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import types
from .arithmetic_types import INT, UNSIGNED, wrapped
from .declare import resized
from .part import Part
from .scope import Symbol

if TYPE_CHECKING:
    from .constants import Constants
    from .declare import Declarations
    from .scope import Scope
    from .unit import Unit


def _is_placed(node: c_ast.Node) -> bool:
    """Return whether a member's offset depends on more than its type: attributes, _Alignas, a
    pragma among the members."""
    if isinstance(node, c_ast.Pragma):
        return True
    while isinstance(node, (c_ast.Decl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl)):
        if getattr(node, "attributes", None) or getattr(node, "align", None):
            return True
        node = node.type
    return False


class Tags(Part):
    """Determines the types of structs, unions and enumerations, each once."""

    constants: Constants
    declarations: Declarations

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        # by the node of a struct, union (types.Body) or enumeration (its type)
        self._bodies: dict[c_ast.Node, Any] = {}
        self._scopes: dict[c_ast.Node, Scope] = {}  # defining node -> the scope of its definition

    def scope_of(self, node: c_ast.Node) -> Scope | None:
        """Return the scope in which a struct, union or enumeration is defined; None if it is not
        defined."""
        return self._scopes.get(node)

    def defined_as(self, node: c_ast.Node) -> types.Body | types.Type | None:
        """Return the types.Body or type of a struct, union or enumeration whose type was requested;
        else None."""
        return self._bodies.get(node)

    def record(self, node: c_ast.Node) -> types.Type:
        keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
        known = self._bodies.get(node)
        if known is not None:
            return types.Record(known)
        body = None
        if node.name:
            at = (
                self.unit.scope.tags.get(node.name)
                if node.decls is not None
                else self.unit.scope.find_tag(node.name)
            )
            if isinstance(at, types.Body) and (at.fields is None or node.decls is None):
                body = at
        if body is None:
            body = types.Body(keyword, node)
            self._declare_tag(node, body)
        elif node.name:
            node.name = body.node.name
        self._bodies[node] = body
        if node.decls is not None:
            if body.node is not node:
                body.node = node
            self._scopes[node] = self.unit.scope
            body.fields = []  # known while its members are read, as they may point to it
            body.packed = self.unit.packing.changed
            body.plain = not (node.attributes or body.packed or self.unit.packs_all)
            body.fields = self._members(node)
            for each in node.decls:
                if isinstance(each, c_ast.Pragma):
                    self.unit.packing.follow(each)
            body.plain = body.plain and not any(map(_is_placed, node.decls))
        return types.Record(body)

    def hide_tag(self, node: c_ast.Node) -> None:
        """Declare the struct or union of a lone `struct s;` of a block: it is not that of an outer
        scope (C11 6.7.2.3)."""
        if (
            isinstance(node, (c_ast.Struct, c_ast.Union))
            and node.decls is None
            and node.name not in self.unit.scope.tags
        ):
            keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
            body = self._bodies[node] = types.Body(keyword, node)
            self._declare_tag(node, body)

    def _declare_tag(self, node: c_ast.Node, meaning: types.Body | types.Type) -> None:
        """Enter the tag of a node, if it has one, into the current scope.

        If it hides another, it is another in C: what is lowered here may have to name the hidden
        type.
        """
        scope = self.unit.scope
        if not node.name:
            return
        scope.tags[node.name] = meaning
        if scope.parent is not None and scope.parent.find_tag(node.name) is not None:
            node.name = f"ncupc_{node.name}_{self.unit.next_temporary()}"
            scope.tags[node.name] = meaning

    def _members(self, node: c_ast.Node) -> list[types.Member]:
        fields = []
        for decl in node.decls:
            if not isinstance(decl, c_ast.Decl):
                continue
            kind = resized(self.declarations.type_of(decl.type), decl)
            if kind.is_shared:
                self.unit.error(
                    decl.coord,
                    f"member '{decl.name}' cannot be shared: a member may be a pointer to shared, and a whole "
                    f"{'struct' if isinstance(node, c_ast.Struct) else 'union'} may be shared",
                )
                kind = kind.unqualified()
            self.declarations.check_reference_type(kind, decl)
            fields.append((decl.name, kind, decl.bitsize))
        return fields

    def enumeration(self, node: c_ast.Node) -> types.Type:
        if node in self._bodies:
            return self._bodies[node]
        if node.values is None:
            known = self.unit.scope.find_tag(node.name)
            if isinstance(known, types.Arithmetic):
                assert known.node is not None
                node.name = known.node.name
                return known
        kind = types.Arithmetic(["int"], None, node=node)
        self._bodies[node] = kind
        self._declare_tag(node, kind)
        if node.values is not None:
            self._scopes[node] = self.unit.scope
            value: int | None = -1
            values = []
            for each in node.values.enumerators:
                if not isinstance(each, c_ast.Enumerator):
                    continue
                if each.value is not None:
                    value = self.constants.evaluate(each.value)
                elif value is not None:
                    value += 1
                symbol = self.unit.scope.add(
                    Symbol(
                        each.name,
                        "constant",
                        types.Arithmetic(["int"], 4),
                        value=value,
                        coord=each.coord,
                    )
                )
                symbol.origin = node
                values.append(value)
            if self._is_as_large_as_int(node, values):
                kind.size = INT.size
        return kind

    def _is_as_large_as_int(self, node: c_ast.Node, values: list[int | None]) -> bool:
        """Return whether an enumeration is known to be of int or unsigned."""
        if node.attributes or node.underlying_type is not None or self.unit.short_enums:
            return False
        known = [value for value in values if value is not None]
        return len(known) == len(values) and any(
            all(wrapped(value, kind) == value for value in known) for kind in (INT, UNSIGNED)
        )
