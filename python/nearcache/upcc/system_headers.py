# SPDX-License-Identifier: BSD-3-Clause
"""Handles system headers: the program knows their declarations, whose types are computed on first
use, but they are not printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycparser import c_ast

from .declare import reshaped
from .part import Part
from .scope import Symbol
from .unit import Function

if TYPE_CHECKING:
    from . import types
    from .declare import Declarations
    from .rewrite import Rewriting
    from .typenames import Typenames
    from .unit import Unit


class SystemHeaders(Part):
    """Declares the contents of system headers."""

    declarations: Declarations
    rewriting: Rewriting
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._symbols: set[Symbol] = set()  # symbols that they declare

    def declares(self, symbol: Symbol) -> bool:
        """Return whether a system header declares the symbol."""
        return symbol in self._symbols

    def declare(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Pragma():
                self.unit.pragma(node)
            case c_ast.FuncDef():
                self._declare_lazily(node.decl, "function")
            case c_ast.Typedef():
                self._declare_tags(node.type)
                self._declare_lazily(node, "typedef")
            case c_ast.Decl():
                self._declare_tags(node.type)
                if node.name:
                    self._declare_lazily(
                        node, "function" if isinstance(node.type, c_ast.FuncDecl) else "object"
                    )

    def _declare_tags(self, node: c_ast.Node) -> None:
        while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl, c_ast.TypeDecl)):
            node = node.type
        if isinstance(node, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            self.rewriting.is_printed(node)
            self.declarations.type_of(node)
            if isinstance(node, c_ast.Enum):
                return
            for each in node.decls or ():
                if isinstance(each, c_ast.Decl):
                    self._declare_tags(each.type)

    def _declare_lazily(self, node: c_ast.Node, kind: str) -> None:
        def resolve() -> types.Type:
            unit = self.unit
            scope, function, unit.scope, unit.function = (
                unit.scope,
                unit.function,
                unit.globals,
                Function(),
            )
            found = self.declarations.type_of(node.type)
            if kind == "typedef":
                found = self.typenames.named(reshaped(found, node), symbol)
            unit.scope, unit.function = scope, function
            return found

        symbol = Symbol(
            node.name, kind, resolve=resolve, storage=node.storage or (), coord=node.coord
        )
        self._symbols.add(symbol)
        self.unit.globals.names.setdefault(node.name, symbol)
