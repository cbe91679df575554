# SPDX-License-Identifier: BSD-3-Clause
"""Lowers statements: synchronisation statements and pragmas change; others only contain expressions
and declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import pragmas, types
from .diagnostics import UpcError
from .part import Part
from .rewrite import innermost
from .scope import Scope
from .typenames import call, number

if TYPE_CHECKING:
    from .convert import Conversions, Value
    from .definitions import Definitions
    from .expressions import Expressions
    from .forall import Forall
    from .unit import Unit

ASSEMBLER_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\[\s*\w+\s*\]')  # also matches names of operands
ASSEMBLER_NAMES = re.compile(r"[A-Za-z_]\w*")


class Statements(Part):
    """Lowers blocks and statements; upc_forall has a part of its own."""

    conversions: Conversions
    definitions: Definitions
    expressions: Expressions
    forall: Forall

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._visitors: dict[str, Callable[[c_ast.Node], c_ast.Node]] = {}
        self._last_value: Value | None = None

    def connect(self, parts: Mapping[str, Part]) -> None:
        super().connect(parts)
        self._visitors = {
            name[3:]: getattr(self, name) for name in dir(self) if name.startswith("on_")
        }
        self._visitors["UpcForall"] = self.forall.statement

    def valued(self, node: c_ast.Node) -> tuple[c_ast.Node, types.Type]:
        """Return (lowered, type) of the block of a statement expression."""
        self._last_value = None
        made = self.compound(node, value=True)
        return made, self._last_value.type if self._last_value is not None else types.Void()

    def compound(
        self, node: c_ast.Node, value: bool = False, scope: Scope | None = None
    ) -> c_ast.Node:
        """Lower a block. value: it belongs to a statement expression, so its last statement is kept
        as the value."""
        outer, mode = self.unit.scope, self.unit.strict
        self.unit.scope = scope or Scope(outer)
        items = []
        given = node.block_items or []
        for position, item in enumerate(given):
            last = value and position == len(given) - 1
            try:
                items += self.block_item(item, last)
            except UpcError as error:
                self.unit.error(error.coord, error.message)
        node.block_items = pragmas.without_lost(items)
        self.unit.scope, self.unit.strict = outer, mode
        return node

    def block_item(self, node: c_ast.Node, last: bool = False) -> list[c_ast.Node]:
        """Return the C that a declaration or statement becomes, as a list."""
        if isinstance(node, c_ast.Decl):
            return self.definitions.local_declaration(node)
        if isinstance(node, c_ast.Typedef):
            return self.definitions.type_definition(node)
        if isinstance(node, c_ast.FuncDef):  # GNU's nested functions
            return self.definitions.function_definition(node)
        if isinstance(node, c_ast.DeclList):
            return [each for decl in node.decls for each in self.block_item(decl)]
        if isinstance(node, c_ast.Pragma):
            return self.unit.pragma(node)
        return [self.statement(node, last)]

    def statement(self, node: c_ast.Node | None, last: bool = False) -> c_ast.Node | None:
        """Lower one statement."""
        if node is None:
            return None
        if node.coord is not None:
            self.unit.coord = node.coord
        method = self._visitors.get(type(node).__name__)
        if method is not None:
            return method(node)
        if self.expressions.knows(node):
            value = self.expressions.value(node, unused=not last)
            self._last_value = value
            made = value.node
            if made.coord is None:
                made.coord = node.coord
            return made
        return node

    def body(self, node: c_ast.Node) -> c_ast.Node:
        """Lower a statement that is a scope of its own."""
        items = self.block_item(node)
        if len(items) == 1:
            return items[0]
        return c_ast.Compound(items, node.coord) if items else c_ast.EmptyStatement(node.coord)

    def on_Compound(self, node: c_ast.Node) -> c_ast.Node:
        return self.compound(node)

    def on_If(self, node: c_ast.Node) -> c_ast.Node:
        node.cond = self.expressions.condition(node.cond)
        node.iftrue = self.body(node.iftrue)
        node.iffalse = self.body(node.iffalse) if node.iffalse is not None else None
        return node

    def on_While(self, node: c_ast.Node) -> c_ast.Node:
        node.cond = self.expressions.condition(node.cond)
        node.stmt = self.body(node.stmt)
        return node

    def on_DoWhile(self, node: c_ast.Node) -> c_ast.Node:
        node.stmt = self.body(node.stmt)
        node.cond = self.expressions.condition(node.cond)
        return node

    def loop_head(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Lower the first three clauses; declarations that cannot stand there are returned as a
        list."""
        before = []
        if isinstance(node.init, c_ast.DeclList):
            made = [each for decl in node.init.decls for each in self.block_item(decl)]
            if (
                all(isinstance(each, c_ast.Decl) for each in made)
                and len(made) == len(node.init.decls)
                and len({frozenset(innermost(each.type).quals or ()) for each in made}) == 1
            ):
                node.init.decls = made
            else:
                before, node.init = made, None
        elif node.init is not None:
            node.init = self.expressions.value(node.init, unused=True).node
        node.cond = self.expressions.condition(node.cond) if node.cond is not None else None
        node.next = (
            self.expressions.value(node.next, unused=True).node if node.next is not None else None
        )
        return before

    def on_For(self, node: c_ast.Node) -> c_ast.Node:
        self.unit.scope = Scope(self.unit.scope)
        before = self.loop_head(node)
        node.stmt = self.body(node.stmt)
        self.unit.scope = self.unit.scope.parent
        return c_ast.Compound([*before, node], node.coord) if before else node

    def on_UpcSync(self, node: c_ast.Node) -> c_ast.Node:
        kind = node.kind.upper()
        if node.expr is None:
            made = call(f"NCUPC_{kind}")
        else:
            value = self.expressions.value(node.expr)
            if not (value.type.is_arithmetic or value.type.is_unknown):
                self.unit.error(
                    node.coord,
                    f"the expression of upc_{node.kind} must be a number, not a '{value.type}'",
                )
            made = call(f"NCUPC_{kind}_EXPR", value.node)
        made.coord = node.coord
        return made

    def on_Switch(self, node: c_ast.Node) -> c_ast.Node:
        value = self.expressions.value(node.cond)
        if value.type.is_pointer_to_shared:
            self.unit.error(
                node.coord, f"the expression of switch must be an integer, not a '{value.type}'"
            )
        node.cond = value.node
        node.stmt = self.body(node.stmt)
        return node

    def on_Asm(self, node: c_ast.Node) -> c_ast.Node:
        """Report shared objects among the operands of inline assembly.

        Its text goes to the C compiler unchanged, for which such a name is a pointer.
        """
        for name in ASSEMBLER_NAMES.findall(ASSEMBLER_STRINGS.sub(" ", node.text)):
            symbol = self.unit.scope.find(name)
            if symbol is not None and symbol.kind == "object" and symbol.type.is_shared:
                self.unit.error(
                    node.coord,
                    f"'{name}' is shared and cannot be an operand of asm: copy it to a private variable",
                )
        return node

    def on_StaticAssert(self, node: c_ast.Node) -> c_ast.Node:
        node.cond = self.expressions.value(node.cond).node
        return node

    def on_Case(self, node: c_ast.Node) -> c_ast.Node:
        node.expr = self.expressions.constant(node.expr)
        return self._labelled(node)

    def _labelled(self, node: c_ast.Node) -> c_ast.Node:
        node.stmts = [each for item in node.stmts or () for each in self.block_item(item)]
        return node

    on_Default = _labelled

    def on_Label(self, node: c_ast.Node) -> c_ast.Node:
        node.stmt = self.body(node.stmt) if node.stmt is not None else None
        return node

    def on_Return(self, node: c_ast.Node) -> c_ast.Node:
        function = self.unit.function
        result = function.symbol.type.result if function.symbol is not None else types.Unknown()
        if node.expr is None:
            if not (function.is_main or result.is_void or result.is_unknown):
                self.unit.error(
                    node.coord, f"return without a value in a function that returns '{result}'"
                )
            node.expr = number(0) if function.is_main else None
            return node
        value = self.expressions.value(node.expr)
        if (
            result.is_void
            and not value.type.is_void
            and not value.type.is_unknown
            and function.is_main
        ):
            node.expr = value.node
            return node
        if result.is_void and not (value.type.is_void or value.type.is_unknown):
            self.unit.error(node.coord, "return with a value in a function that returns none")
        node.expr = (
            value.node
            if result.is_void
            else self.conversions.converted(value, result, node.coord, "return")
        )
        return node

    def on_ComputedGoto(self, node: c_ast.Node) -> c_ast.Node:
        node.expr = self.expressions.value(node.expr).node
        return node

    def on_AttributedStatement(self, node: c_ast.Node) -> c_ast.Node:
        node.stmt = self.body(node.stmt)
        return node
