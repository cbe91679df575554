# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites declarators for C: pointers-to-shared become ncupc_ptr; shared and its layout are
removed."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pycparser import c_ast

from .constants import UPC_SIZES
from .convert import Place
from .declare import is_any_size
from .part import Part
from .scope import Scope, Symbol
from .tree import called_names, nodes_of
from .typenames import POINTER, plain_quals

if TYPE_CHECKING:
    from .declare import Declarations
    from .expressions import Expressions
    from .typenames import Typenames
    from .unit import Unit

RESTRICT = {"restrict", "__restrict", "__restrict__"}  # for pointers of C only


def innermost(node: c_ast.Node) -> c_ast.Node:
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return node


class Rewriting(Part):
    """Rewrites the source's declarators and type names in place."""

    declarations: Declarations
    expressions: Expressions
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._printed: set[c_ast.Node] = set()  # nodes of the definitions already in the output
        self._left_out: set[str] = set()  # typedef names of arrays that C cannot have
        # of structs to print before the current declaration
        self._definitions: list[c_ast.Node] = []

    def is_printed(self, node: c_ast.Node) -> None:
        """Note that a struct's or enumeration's definition is in the output already, as those of
        system headers are."""
        self._printed.add(node)

    def leave_out(self, name: str) -> None:
        """Note that C has no typedef of this name: the type is written out where it is used."""
        self._left_out.add(name)

    def definitions_before(self, made: list[c_ast.Node]) -> list[c_ast.Node]:
        """Prepend the structs whose definitions were in declarations that are no longer printed."""
        if not self._definitions:
            return made
        coord = made[0].coord if made else self.unit.coord
        before = [
            c_ast.Decl(None, [], [], [], [], each, None, None, coord) for each in self._definitions
        ]
        self._definitions = []
        return before + made

    def rewritten(self, node: c_ast.Node, parameter: bool = False) -> c_ast.Node:
        """Return the same declarator in C. pre: type_of(node) was called in the same scope."""
        match node:
            case c_ast.TypeDecl():
                if parameter and self._is_shared_array(node):
                    self.keep_definition(node.type)
                    return self._pointer(node, ())  # its qualifiers are those of the elements
                if self._left_out.intersection(getattr(node.type, "names", ())):
                    return self.typenames.declarator(
                        self.declarations.type_of(node).unqualified(), node.declname
                    )
                node.quals = plain_quals(node.quals or [])
                if (
                    RESTRICT & set(node.quals)
                    and self.declarations.type_of(node).is_pointer_to_shared
                ):
                    node.quals = [word for word in node.quals if word not in RESTRICT]
                node.type = self._specifier(node.type)
                return node
            case c_ast.PtrDecl():
                if self.declarations.type_of(node.type).is_shared:
                    self.keep_definition(innermost(node).type)
                    return self._pointer(node, node.quals)
                node.quals = plain_quals(node.quals or [])
                node.type = self.rewritten(node.type)
                return node
            case c_ast.ArrayDecl():
                if parameter and self.declarations.type_of(node.type).is_shared:
                    return self._pointer(
                        node, [word for word in node.dim_quals or [] if word != "static"]
                    )
                node.type = self.rewritten(node.type)
                if not parameter:
                    node.dim = self._constant(node.dim)
                elif self._is_of_upc(node.dim):
                    node.dim = None  # it is a pointer
                    node.dim_quals = [word for word in node.dim_quals or [] if word != "static"]
                return node
            case c_ast.FuncDecl():
                node.type = self.rewritten(node.type)
                if node.args is not None:
                    self._parameters(node.args.params)
                return node
        return self._specifier(node)

    def _parameters(self, params: Sequence[c_ast.Node]) -> None:
        """Each may have the names of those before it in its type: int m[][n]."""
        self.unit.scope = Scope(self.unit.scope)
        for each in params:
            if isinstance(each, (c_ast.Decl, c_ast.Typename)):
                if each.name:
                    kind = self.declarations.parameter_type(each)
                    self.unit.scope.add(Symbol(each.name, "object", kind, coord=each.coord))
                each.quals = plain_quals(each.quals or [])
                each.type = self.rewritten(each.type, parameter=True)
        self.unit.scope = self.unit.scope.parent

    def _is_of_upc(self, dim: c_ast.Node | None) -> bool:
        """Return whether the size of an array contains an operator of UPC or a shared object."""
        return dim is not None and any(
            isinstance(each, c_ast.UnaryOp) and each.op in UPC_SIZES or self._is_shared_name(each)
            for each in nodes_of(dim)
        )

    def _is_shared_name(self, node: c_ast.Node) -> bool:
        symbol = self.unit.scope.find(node.name) if isinstance(node, c_ast.ID) else None
        return symbol is not None and symbol.kind == "object" and symbol.type.is_shared

    def align(self, node: c_ast.Node) -> None:
        """Rewrite each _Alignas of a declaration once: all of its declarators share the nodes."""
        for each in node.align or ():
            if each in self._printed:
                continue
            self._printed.add(each)
            if isinstance(each.alignment, c_ast.Typename):
                each.alignment = self.rewritten_typename(each.alignment)
            else:
                each.alignment = self._constant(each.alignment)

    def _constant(self, node: c_ast.Node | None) -> c_ast.Node | None:
        """Return a size, width or value of a declaration in C; None if there is none."""
        if node is None or isinstance(node, c_ast.Constant) or is_any_size(node):
            return node
        return self.expressions.value(copy.deepcopy(node)).node

    def _is_shared_array(self, node: c_ast.Node) -> bool:
        kind = self.declarations.type_of(node)
        return kind.is_array and kind.is_shared

    def _pointer(self, node: c_ast.Node, quals: Iterable[str] | None) -> c_ast.Node:
        inner = innermost(node)
        quals = [word for word in plain_quals(quals or []) if word not in RESTRICT]
        made = c_ast.TypeDecl(
            inner.declname, quals, inner.align, c_ast.IdentifierType([POINTER]), inner.coord
        )
        made.attributes = inner.attributes
        return made

    def keep_definition(self, node: c_ast.Node) -> None:
        """Keep the definition of a struct or enumeration if the declaration that contains it is not
        printed."""
        if (
            isinstance(node, (c_ast.Struct, c_ast.Union))
            and node.decls is not None
            or isinstance(node, c_ast.Enum)
            and node.values is not None
        ):
            if node not in self._printed:
                self.typenames.name_tag(node)
                self._definitions.append(self._specifier(node))

    def _specifier(self, node: c_ast.Node) -> c_ast.Node:
        match node:
            case c_ast.Struct() | c_ast.Union():
                return self._record_specifier(node)
            case c_ast.Enum() if node.values is not None:
                return self._once(node)
            case c_ast.TypeOf():
                return self._typeof(node)
            case c_ast.Typename():
                return self.rewritten_typename(node)
        inner = getattr(node, "type", None)
        if isinstance(inner, c_ast.Node):  # with attributes
            node.type = self._specifier(inner)
        return node

    def _once(self, node: c_ast.Node) -> c_ast.Node:
        """Return the definition the first time it is printed, then only its tag."""
        if node not in self._printed:
            self._printed.add(node)
            for each in node.values.enumerators if isinstance(node, c_ast.Enum) else ():
                if getattr(each, "value", None) is not None:
                    each.value = self._constant(each.value)
            return node
        self.typenames.name_tag(node)
        if isinstance(node, c_ast.Enum):
            return c_ast.Enum(node.name, None, None)
        return type(node)(node.name, None)

    def _record_specifier(self, node: c_ast.Node) -> c_ast.Node:
        if node.decls is None:
            return node
        self.declarations.type_of(node)
        if node in self._printed:
            return self._once(node)
        self._printed.add(node)
        for each in node.decls:
            if isinstance(each, c_ast.Decl):
                each.quals = plain_quals(each.quals or [])
                self.align(each)
                each.type = self.rewritten(each.type)
                each.bitsize = self._constant(each.bitsize)
            elif isinstance(each, c_ast.StaticAssert):
                each.cond = self._constant(each.cond)
        return node

    def _typeof(self, node: c_ast.Node) -> c_ast.Node:
        kind = self.declarations.specified(node, None)
        if isinstance(node.expr, c_ast.Typename) and not kind.is_shared:
            node.expr = self.rewritten_typename(node.expr)
        elif kind.is_shared:
            return c_ast.TypeOf("__typeof__", self.typenames.typename(kind.unqualified()))
        else:
            called = set(called_names(node.expr))
            found = self.expressions.expression(node.expr)
            if isinstance(found, Place) or self.expressions.needs_a_function(found):
                node.expr = self.typenames.typename(kind)
                self.expressions.leave_unevaluated(called)
            else:
                node.expr = found.node
        return node

    def rewritten_typename(self, node: c_ast.Node) -> c_ast.Node:
        kind = self.declarations.type_of(node.type)
        if kind.is_shared and kind.is_array:
            return self.typenames.typename(kind.unqualified())
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewritten(node.type)
        return node
