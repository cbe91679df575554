# SPDX-License-Identifier: BSD-3-Clause
"""Hoists the definitions needed by static shared objects of functions.

Such an object is placed and initialised outside its function, where the types of the function's
blocks are not known. The definitions named by its type and its initialiser are therefore repeated
before the function, under unique names. They only provide sizes and layouts: within the function,
the program's own definitions are used.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import types, upc_ast
from .expressions import FUNCTION_NAMES
from .part import Part
from .rewrite import innermost
from .scope import Symbol
from .typenames import Alias

if TYPE_CHECKING:
    from .expressions import Expressions
    from .scope import Scope
    from .tags import Tags
    from .typenames import Typenames
    from .unit import Unit

WORDS = re.compile(r"[A-Za-z_]\w*")


def _named_part(kind: types.Type, outside: types.Type) -> tuple[types.Type, types.Type]:
    """Return the first pair of a type and its hoisted type, or of their elements, that has a name;
    compilers would warn of unused names."""
    while kind.is_array and kind.alias is None:
        kind, outside = kind.element, outside.element
    return kind, outside


class Hoisting(Part):
    """Turns types and lowered expressions of a block into their equivalents outside the current
    function."""

    tags: Tags
    expressions: Expressions
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        # types.Body, node of an enumeration, or Symbol of a typedef -> its name outside
        self._names: dict[Any, str] = {}
        self._defined: set[Any] = set()  # those already in the output
        # Symbol of a typedef or a constant -> Symbol of its name outside
        self._symbols: dict[Symbol, Symbol] = {}
        self._object = c_ast.Decl(*[None] * 9)  # the declaration being hoisted, for messages
        self._repeats = False  # whether something was named for it

    def type(self, kind: types.Type, node: c_ast.Node) -> types.Type:
        """Return a type of the current scope as it is outside. node: the declaration of the
        object."""
        self._object, self._repeats = node, False
        return self._type(kind)

    def placed(self, kind: types.Type, node: c_ast.Node) -> tuple[types.Type, list[c_ast.Node]]:
        """Return (an object's type outside, a list of assertions that make the C compiler compare
        both types)."""
        outside = self.type(kind, node)
        if not self._repeats:
            return outside, []
        sizes = [self.typenames.size(each) for each in _named_part(kind, outside)]
        told = c_ast.Constant("string", f'"type of {node.name}"')
        return outside, [c_ast.StaticAssert(c_ast.BinaryOp("==", *sizes), told, node.coord)]

    def expression(self, made: c_ast.Node, node: c_ast.Node) -> c_ast.Node:
        """Return a copy, for use outside, of a lowered expression of the current scope."""
        self._object = node
        return self._copied(made, self.unit.scope)

    def with_sizes_of_types(self, init: c_ast.Node) -> c_ast.Node:
        """Return an initialiser, not lowered yet, in which sizeof of an object becomes sizeof of
        its type, which is known outside."""
        if isinstance(init, c_ast.UnaryOp) and init.op == "sizeof":
            if not isinstance(init.expr, c_ast.Typename):
                kind = self.expressions.type_of_operand(init.expr)
                if not (kind.is_shared or kind.is_unknown or kind.is_array and kind.count is None):
                    init.expr = self.typenames.typename(kind)
            return init
        for _, child in init.children():
            self.with_sizes_of_types(child)
        return init

    # Types

    def _type(self, kind: types.Type) -> types.Type:
        made = kind.copy()
        if kind.alias is not None:
            made.alias = self._alias(kind.alias)
        if kind.block is not None and kind.block.node is not None:
            node = self._copied(kind.block.node, self.unit.scope)
            made.block = types.Block(None, node, kind.block.text, self.unit.globals)
        if kind.is_pointer:
            made.target = self._type(kind.target)
        elif kind.is_array:
            made.element = self._type(kind.element)
            if kind.length is None and kind.count is not None:
                made.count = self._copied(kind.count, self.unit.scope)
                made.scope = self.unit.globals
        elif kind.is_function:
            made.result = self._type(kind.result)
            made.parameters = kind.parameters and [self._type(each) for each in kind.parameters]
        elif kind.is_record:
            made.body = self._body(kind.body)
        elif kind.is_arithmetic and kind.node is not None:
            made.node = self._enumeration(kind.node)
        elif kind.is_unknown and kind.node is not None:
            made.node = self._copied(kind.node, self.unit.scope)
        return made

    def _alias(self, alias: Alias) -> Alias:
        symbol = alias.symbol
        if self._is_known(symbol.scope):
            return alias
        self._typedef(symbol)
        return Alias(self._symbols[symbol].name, self._symbols[symbol])

    def _is_known(self, scope: Scope | None) -> bool:
        return scope is None or scope is self.unit.globals

    def _body(self, body: types.Body) -> types.Body:
        if self._is_known(self.tags.scope_of(body.node)):
            return body
        made = types.Body(body.keyword, self._reference(body.node, self._record(body)))
        made.fields, made.plain = body.fields, body.plain
        return made

    def _record(self, body: types.Body) -> str:
        """Return the tag outside."""
        name = self._name(body, body.node.name)
        if body.fields is not None and body not in self._defined:
            self._defined.add(body)
            if body.packed:
                self._refuse(f"'{body.node.name or name}', which a pragma in its block lays out,")
            scope = self.tags.scope_of(body.node)
            assert scope is not None
            made = self._reference(body.node, name)
            made.decls = [self._copied(each, scope) for each in body.node.decls]
            made.attributes = [self._copied(each, scope) for each in body.node.attributes or ()]
            self._define(c_ast.Decl(None, [], [], [], [], made, None, None, body.node.coord))
        return name

    def _enumeration(self, node: c_ast.Node) -> c_ast.Node:
        """Return the node that names an enumeration outside."""
        scope = self.tags.scope_of(node)
        if self._is_known(scope) or node.values is None:
            return node
        assert scope is not None
        name = self._name(node, node.name)
        if node not in self._defined:
            self._defined.add(node)
            values = []
            for each in node.values.enumerators:
                if not isinstance(each, c_ast.Enumerator):
                    continue
                symbol = scope.names[each.name]
                value = each.value and self._copied(each.value, scope)
                outside = self._add(symbol, self._name(symbol, symbol.name))
                values.append(c_ast.Enumerator(outside.name, value, each.coord))
            made = self._reference(node, name)
            made.values = c_ast.EnumeratorList(values, node.coord)
            made.attributes = [self._copied(each, scope) for each in node.attributes or ()]
            self._define(c_ast.Decl(None, [], [], [], [], made, None, None, node.coord))
        return self._reference(node, name)

    def _typedef(self, symbol: Symbol) -> str:
        """Return a typedef's name outside."""
        if symbol not in self._defined:
            self._defined.add(symbol)
            name = self._name(symbol, symbol.name)
            assert symbol.scope is not None
            made = self._copied(symbol.origin, symbol.scope)
            made.name = innermost(made.type).declname = name
            outside = self._add(symbol, name)
            kind = symbol.type.copy()
            kind.alias = None
            outside.type = self._type(kind)
            if symbol.type.alias is not None:
                outside.type = self.typenames.named(outside.type, outside)
            self._define(made)
        return self._names[symbol]

    def _constant(self, symbol: Symbol) -> str:
        self._enumeration(symbol.origin)
        return self._symbols[symbol].name

    def _add(self, symbol: Symbol, name: str) -> Symbol:
        made = Symbol(name, symbol.kind, symbol.type, value=symbol.value)
        self._symbols[symbol] = self.unit.globals.add(made)
        return made

    def _name(self, key: Any, name: str | None) -> str:
        self._repeats = True
        if key not in self._names:
            function = self.unit.function.symbol
            assert function is not None
            self._names[key] = f"{name or 'unnamed'}_of_{function.name}_{len(self._names) + 1}"
        return self._names[key]

    @staticmethod
    def _reference(node: c_ast.Node, name: str) -> c_ast.Node:
        """Return a struct, union or enumeration by its tag."""
        made = copy.copy(node)
        made.name, made.attributes = name, []
        if isinstance(made, c_ast.Enum):
            made.values = None
        else:
            made.decls = None
        return made

    def _define(self, node: c_ast.Node) -> None:
        self.unit.function.hoisted.append(node)

    # Lowered syntax; `scope` is the scope it belongs to

    def _copied(self, node: c_ast.Node, scope: Scope) -> c_ast.Node:
        match node:
            case c_ast.ID(name=name) if name in FUNCTION_NAMES:
                function = self.unit.function.symbol
                assert function is not None
                return c_ast.Constant("string", f'"{function.name}"', node.coord)
            case c_ast.ID():
                return c_ast.ID(self._identifier(node.name, scope), node.coord)
            case c_ast.IdentifierType(names=[name]):
                symbol = scope.find(name)
                if symbol is not None and symbol.kind == "typedef":
                    return c_ast.IdentifierType([self._alias(Alias(name, symbol))], node.coord)
                return node
            case c_ast.Struct() | c_ast.Union() | c_ast.Enum():
                return self._specifier(node, scope)
            case c_ast.Decl(name=None, type=c_ast.Struct() | c_ast.Union()) if node.type.decls:
                made = copy.copy(node)  # an unnamed member, whose own members belong to the struct
                made.type = copy.copy(node.type)
                made.type.decls = [self._copied(each, scope) for each in node.type.decls]
                return made
            case c_ast.UnaryOp(op="&&"):
                self._refuse(f"'{node.expr.name}', which only its block knows,")
                return node
            case c_ast.StructRef():
                made = copy.copy(node)
                made.name = self._copied(node.name, scope)
                return made
            case c_ast.NamedInitializer():
                made = copy.copy(node)
                made.name = [
                    each if isinstance(each, c_ast.ID) else self._copied(each, scope)
                    for each in node.name
                ]
                made.expr = self._copied(node.expr, scope)
                return made
            case c_ast.FuncCall(
                name=c_ast.ID(name="offsetof" | "__builtin_offsetof"),
                args=c_ast.ExprList(exprs=[kind, path]),
            ):
                inside = [self._copied(kind, scope), self._path(path, scope)]
                return c_ast.FuncCall(node.name, c_ast.ExprList(inside), node.coord)
            case upc_ast.GnuAttribute() | upc_ast.Raw() | upc_ast.Asm():
                for word in WORDS.findall(node.text):
                    symbol = scope.find(word)
                    if symbol is not None and symbol.kind in ("constant", "typedef"):
                        self._known_outside(symbol)
                return node
        made = copy.copy(node)
        for slot in node.__slots__:
            value = getattr(node, slot, None)
            if isinstance(value, c_ast.Node):
                setattr(made, slot, self._copied(value, scope))
            elif isinstance(value, list):
                copies = [
                    self._copied(each, scope) if isinstance(each, c_ast.Node) else each
                    for each in value
                ]
                setattr(made, slot, copies)
        return made

    def _path(self, node: c_ast.Node, scope: Scope) -> c_ast.Node:
        """Return a copy of the path of a member; only its subscripts are expressions."""
        made = copy.copy(node)
        if isinstance(node, (c_ast.StructRef, c_ast.ArrayRef)):
            made.name = self._path(node.name, scope)
        if isinstance(node, c_ast.ArrayRef):
            made.subscript = self._copied(node.subscript, scope)
        return made

    def _specifier(self, node: c_ast.Node, scope: Scope) -> c_ast.Node:
        kind = self.tags.defined_as(node)
        if kind is None:
            kind = self.typenames.made_tag(node.name) or scope.find_tag(node.name)
        if isinstance(kind, c_ast.Node):
            kind = self.tags.defined_as(kind)
        if isinstance(kind, types.Body):
            if self._is_known(self.tags.scope_of(kind.node)):
                return node
            return self._reference(node, self._record(kind))
        if kind is None or kind.node is None:
            return node
        return self._enumeration(kind.node)

    def _identifier(self, name: str, scope: Scope) -> str:
        symbol = scope.find(name)
        if symbol is None or self._is_known(symbol.scope):
            return name
        if symbol.kind == "constant":
            return self._constant(symbol)
        self._known_outside(symbol)
        return name

    def _known_outside(self, symbol: Symbol) -> None:
        """Report an error for a name that only the block knows and that cannot be repeated, unless
        it is linked to an object or function at file scope."""
        if self._is_known(symbol.scope):
            return
        outside = self.unit.globals.names.get(symbol.name)
        linked = symbol.kind == "function" or "extern" in symbol.storage
        if not (linked and outside is not None and outside.kind in ("object", "function")):
            self._refuse(f"'{symbol.name}', which only its block knows,")

    def _refuse(self, what: str) -> None:
        self.unit.error(
            self._object.coord,
            f"'{self._object.name}' is placed and initialised outside of the function: {what} must be declared there, too",
        )
