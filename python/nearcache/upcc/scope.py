# SPDX-License-Identifier: BSD-3-Clause
"""The symbol table: identifiers and tags by scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from . import types


class Symbol:
    """The meaning of a name: kind is "object", "function", "typedef" or "constant" (of an
    enumeration).

    `resolve` computes the type on first use, as system headers declare much that no program uses.
    """

    __slots__ = (
        "name",
        "kind",
        "c_name",
        "storage",
        "value",
        "coord",
        "defined",
        "scope",
        "origin",
        "_type",
        "_resolve",
    )

    def __init__(
        self,
        name: str,
        kind: str,
        type: types.Type | None = None,
        resolve: Callable[[], types.Type] | None = None,
        c_name: str | None = None,
        storage: Sequence[str] = (),
        value: int | None = None,
        coord: Coord | None = None,
    ) -> None:
        self.name, self.kind, self._type, self._resolve = name, kind, type, resolve
        self.c_name = c_name or name
        self.storage = storage
        self.value = value  # of a constant; None if only the C compiler knows it
        self.coord = coord
        self.defined = False
        self.scope: Scope | None = None  # the scope of the definition
        self.origin: c_ast.Node | None = None  # node of the typedef, or of a constant's enumeration

    @property
    def type(self) -> types.Type:
        if self._type is None:
            assert self._resolve is not None
            self._type = self._resolve()
        return self._type

    @type.setter
    def type(self, kind: types.Type) -> None:
        self._type = kind


class Scope:
    def __init__(self, parent: Scope | None = None) -> None:
        self.parent: Any = parent  # Scope; None for that of the file
        self.names: dict[str, Symbol] = {}
        # by tag: a struct or union, or the type of an enumeration
        self.tags: dict[str, types.Body | types.Type] = {}

    def find(self, name: str) -> Symbol | None:
        at: Scope | None = self
        while at is not None and name not in at.names:
            at = at.parent
        return None if at is None else at.names[name]

    def find_tag(self, name: str) -> types.Body | types.Type | None:
        at: Scope | None = self
        while at is not None and name not in at.tags:
            at = at.parent
        return None if at is None else at.tags[name]

    def add(self, symbol: Symbol) -> Symbol:
        self.names[symbol.name] = symbol
        symbol.scope = self
        return symbol


class _Names(c_ast.NodeVisitor):
    """Finds what an expression names: identifiers and tags, but not members."""

    def __init__(self, node: c_ast.Node) -> None:
        self.identifiers: set[str] = set()
        self.tags: set[str] = set()
        self.visit(node)

    def visit_ID(self, node: c_ast.Node) -> None:
        self.identifiers.add(node.name)

    def visit_IdentifierType(self, node: c_ast.Node) -> None:
        self.identifiers.update(node.names)

    def visit_Struct(self, node: c_ast.Node) -> None:
        if node.name:
            self.tags.add(node.name)
        self.generic_visit(node)

    visit_Union = visit_Enum = visit_Struct

    def visit_StructRef(self, node: c_ast.Node) -> None:
        self.visit(node.name)

    def visit_NamedInitializer(self, node: c_ast.Node) -> None:
        self.visit(node.expr)

    def visit_FuncCall(self, node: c_ast.Node) -> None:
        given = node.args.exprs if node.args is not None else []
        if getattr(node.name, "name", None) in ("offsetof", "__builtin_offsetof"):
            given = given[:1]
        else:
            self.visit(node.name)
        for each in given:
            self.visit(each)


def renamed(node: c_ast.Node, there: Scope, here: Scope) -> str | None:
    """Return an identifier of an expression that has one meaning in the scope of the expression,
    `there`, and another one here; None if there is none."""
    for name in sorted(_Names(node).identifiers):
        meant = there.find(name)
        if meant is not None and here.find(name) is not meant:
            return name
    return None


def retagged(node: c_ast.Node, there: Scope, here: Scope) -> bool:
    """Return whether the same is true of a tag."""
    return any(there.find_tag(tag) is not here.find_tag(tag) for tag in _Names(node).tags)
