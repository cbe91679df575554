# SPDX-License-Identifier: BSD-3-Clause
"""Lowers the program's declarations and definitions: typedefs, objects, functions, at file scope
and within functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import main_function, types
from .declare import reshaped
from .part import Part
from .rewrite import innermost
from .scope import Scope, Symbol
from .tree import addressed_names
from .typenames import call, plain_quals
from .unit import Function

if TYPE_CHECKING:
    from .declare import Declarations
    from .expressions import Expressions
    from .layouts import Layouts
    from .rewrite import Rewriting
    from .statements import Statements
    from .statics import Statics
    from .tags import Tags
    from .typenames import Typenames
    from .unit import Unit


class Definitions(Part):
    """Turns the program's declarations into symbols, and into C: lists of nodes."""

    declarations: Declarations
    tags: Tags
    layouts: Layouts
    expressions: Expressions
    rewriting: Rewriting
    statements: Statements
    statics: Statics
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._static_locals = 0

    def external(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Lower a declaration or definition at file scope."""
        match node:
            case c_ast.FuncDef():
                return self.function_definition(node)
            case c_ast.Decl():
                return self._global_declaration(node)
            case c_ast.Typedef():
                return self.type_definition(node)
            case c_ast.Pragma():
                return self.unit.pragma(node)
            case c_ast.StaticAssert():
                return [self.statements.on_StaticAssert(node)]
        return [node]

    def type_definition(self, node: c_ast.Node) -> list[c_ast.Node]:
        kind = reshaped(self.declarations.type_of(node.type), node)
        self.declarations.check_reference_type(kind, node)
        if kind.is_shared:
            kind = self.layouts.named(kind, node)
            self.statics.count_without_names(kind)
        symbol = self.unit.scope.names.get(node.name)
        if symbol is None or symbol.kind != "typedef":  # otherwise a repeated declaration
            symbol = self.unit.scope.add(Symbol(node.name, "typedef", coord=node.coord))
        named = symbol.type = self.typenames.named(kind, symbol)
        symbol.origin = node
        if (
            kind.is_array
            and named.alias is None
            and (kind.is_shared or self.unit.function.symbol is None)
        ):
            # not possible in C: its size is not known before the program starts
            self.rewriting.leave_out(node.name)
            self.rewriting.keep_definition(innermost(node.type).type)
            return self.rewriting.definitions_before([])
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewriting.rewritten(node.type)
        return self.rewriting.definitions_before([node])

    def _global_declaration(self, node: c_ast.Node) -> list[c_ast.Node]:
        kind = self.declarations.type_of(node.type)
        if node.name is None:
            return self._tag_declaration(node, kind)
        self.declarations.check_reference_type(kind, node)
        if kind.is_shared and not kind.is_function:
            return self.statics.shared_object(node, kind)
        kind = self.statics.sized_by_initializer(kind, node.init)
        symbol = self.statics.declared(
            node, kind, main_function.NAME if node.name == "main" and kind.is_function else None
        )
        node.quals = plain_quals(node.quals or [])
        self.rewriting.align(node)
        if symbol.c_name == main_function.NAME:
            return []  # declared by the runtime's header
        if kind.is_function:
            return self.rewriting.definitions_before([self._prototype(node, symbol)])
        return self.statics.private_object(node, kind, symbol, local=False)

    def _tag_declaration(self, node: c_ast.Node, kind: types.Type) -> list[c_ast.Node]:
        """Lower a lone `struct s { ... };`."""
        if kind.is_shared:
            self.unit.warn(node.coord, "shared declares nothing here")
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewriting.rewritten(node.type)
        return [node]

    def _prototype(self, node: c_ast.Node, symbol: Symbol) -> c_ast.Node:
        node.type = self.rewriting.rewritten(node.type)
        if symbol.c_name != node.name:
            innermost(node.type).declname = node.name = symbol.c_name
        return node

    def local_declaration(self, node: c_ast.Node) -> list[c_ast.Node]:
        if node.name is None:
            self.tags.hide_tag(node.type)
        kind = self.declarations.type_of(node.type)
        if node.name is None:
            return self._tag_declaration(node, kind)
        self.declarations.check_reference_type(kind, node)
        storage = node.storage or []
        if kind.is_shared and not kind.is_function:
            return self._local_shared(node, kind, storage)
        if self._is_auto_type(node):
            kind = self.expressions.type_of_operand(node.init)
        kind = self.statics.sized_by_initializer(kind, node.init)
        symbol = self.unit.scope.add(
            Symbol(
                node.name,
                "function" if kind.is_function else "object",
                types.decayed(kind) if self._is_auto_type(node) else kind,
                storage=storage,
                coord=node.coord,
            )
        )
        node.quals = plain_quals(node.quals or [])
        self.rewriting.align(node)
        if kind.is_function:
            return self.rewriting.definitions_before([self._prototype(node, symbol)])
        return self.statics.private_object(node, symbol.type, symbol, local=True)

    @staticmethod
    def _is_auto_type(node: c_ast.Node) -> bool:
        return isinstance(node.type, c_ast.TypeDecl) and getattr(node.type.type, "names", None) == [
            "__auto_type"
        ]

    def _local_shared(
        self, node: c_ast.Node, kind: types.Type, storage: Sequence[str]
    ) -> list[c_ast.Node]:
        if "extern" in storage:
            return self.statics.shared_object(node, kind)
        if "static" not in storage:
            self.unit.error(
                node.coord,
                f"'{node.name}' cannot be shared: an automatic variable is private; declare it static, or outside of "
                "the function",
            )
            kind = self.layouts.complete(kind, node)
            self.unit.scope.add(Symbol(node.name, "object", kind, coord=node.coord))
            return []
        self._static_locals += 1
        function = self.unit.function.symbol
        assert function is not None
        c_name = f"{node.name}_in_{function.name}_{self._static_locals}"
        made = self.statics.shared_object(node, kind, c_name, hoisted=True)
        moved = [each for each in made if getattr(each, "name", None) is not None]
        self.unit.function.hoisted += moved
        return [each for each in made if each not in moved]

    # Functions

    def function_definition(self, node: c_ast.Node) -> list[c_ast.Node]:
        unit = self.unit
        outer, scope = unit.function, unit.scope
        nested = outer.symbol is not None
        kind = self.declarations.type_of(node.decl.type)
        main = node.decl.name == "main" and not nested
        symbol = self.statics.declared(node.decl, kind, main_function.NAME if main else None)
        function = unit.function = Function(symbol, main, outer.hoisted)
        function.addressed = None if nested else addressed_names(node.body)
        unit.scope = Scope(scope)
        self._parameters(node)
        node.decl.quals = plain_quals(node.decl.quals or [])
        node.decl = self._prototype(node.decl, symbol)
        for each in node.param_decls or ():
            each.quals, each.type = (
                plain_quals(each.quals or []),
                self.rewriting.rewritten(each.type, parameter=True),
            )
        node.body = self.statements.compound(node.body, scope=unit.scope)
        if function.jumps_land:
            node.body.block_items.insert(0, call("NCUPC_ENTERED"))
        if main:
            main_function.complete(node)
        unit.function, unit.scope = outer, scope
        if nested:
            outer.hoisted = function.hoisted
        return self.rewriting.definitions_before([node] if nested else [*function.hoisted, node])

    def _parameters(self, node: c_ast.Node) -> None:
        """Declare the parameters of a function definition in the scope of its body."""
        declarator = node.decl.type
        while not isinstance(declarator, c_ast.FuncDecl):
            declarator = declarator.type
        given = node.param_decls or (declarator.args.params if declarator.args is not None else ())
        for each in given:
            if isinstance(each, c_ast.Decl) and each.name:
                self.unit.scope.add(
                    Symbol(
                        each.name,
                        "object",
                        self.declarations.parameter_type(each),
                        coord=each.coord,
                    )
                )
