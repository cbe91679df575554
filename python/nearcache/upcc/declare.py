# SPDX-License-Identifier: BSD-3-Clause
"""Derives types from the syntax of declarations, and checks where they may be shared (UPC 1.3,
6.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import types
from .arithmetic_types import arithmetic
from .layouts import STAR
from .part import Part

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .constants import Constants
    from .expressions import Expressions
    from .layouts import Layouts
    from .tags import Tags

RESIZING = re.compile(r"\b_*(?:mode|vector_size)_*\b")  # attributes that make a type another


def is_any_size(node: c_ast.Node) -> bool:
    """Return whether the size of an array is C's `[*]` of a prototype (C11 6.7.6.2)."""
    return isinstance(node, c_ast.ID) and node.name == "*"


def attributes_of(node: c_ast.Node) -> Iterator[str]:
    """Yield the texts of the attributes of a declaration and of all parts of its declarator."""
    while isinstance(
        node, (c_ast.Decl, c_ast.Typedef, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl)
    ):
        yield from (getattr(each, "text", "") for each in node.attributes or ())
        node = node.type


def reshaped(kind: types.Type, typedef: c_ast.Node) -> types.Type:
    """Return the type that a typedef names; its attributes may change the size (mode, vector_size)
    or the alignment."""
    kind = resized(kind, typedef)
    texts = " ".join(attributes_of(typedef))
    if re.search(r"aligned|packed", texts):
        if kind.is_record:
            kind.body.plain = False
        kind = kind.copy()
        kind.aligned = "aligned" in texts
    return kind


def resized(kind: types.Type, declaration: c_ast.Node) -> types.Type:
    """Return the type of what is declared: attributes may make it one whose size only the C
    compiler knows, and which no words name."""
    return _resized(kind) if any(map(RESIZING.search, attributes_of(declaration))) else kind


def _resized(kind: types.Type) -> types.Type:
    """Return such a type; of an array or a pointer, the attribute changes what it consists of or
    points to."""
    made = kind.copy()
    made.alias = None
    if kind.is_arithmetic:
        made.size = None
    elif kind.is_array:
        made.element = _resized(kind.element)
    elif kind.is_pointer:
        made.target = _resized(kind.target)
    return made


class Declarations(Part):
    """Determines the types named by declarators, and checks that they are allowed."""

    constants: Constants
    expressions: Expressions
    layouts: Layouts
    tags: Tags

    def type_of(self, node: c_ast.Node) -> types.Type:
        """Return the type that a declarator (c_ast.TypeDecl, PtrDecl, ...) gives its name."""
        match node:
            case c_ast.TypeDecl():
                return self._qualify(self.specified(node.type, node), node.quals)
            case c_ast.PtrDecl():
                target = self.type_of(node.type)
                if target.is_shared and types.element_of(target).block is STAR:
                    self.unit.error(
                        node.coord,
                        "[*] cannot lay out what a pointer-to-shared points to: only an array that is declared",
                    )
                    target = target.qualified((), types.INDEFINITE)
                target = self.layouts.complete(target, node) if target.is_shared else target
                if target.is_array and target.is_shared:
                    self.layouts.check_threads_in_sizes(target, node.coord, "an array")
                return self._qualify(types.Pointer(target), node.quals)
            case c_ast.ArrayDecl():
                element = self.type_of(node.type)
                if element.is_function:
                    self.unit.error(node.coord, "an array of functions")
                length = None
                if node.dim is not None and not is_any_size(node.dim):
                    length = self.constants.evaluate(node.dim)
                    if length is None and element.is_shared:
                        self.layouts.must_be_constant_size(node.dim, node.coord)
                return types.Array(element, node.dim, length, node.dim_quals or (), self.unit.scope)
            case c_ast.FuncDecl():
                return self._function(node)
            case c_ast.Typename() | c_ast.Decl() | c_ast.Typedef():
                return self.type_of(node.type)
        return self.specified(node, node)

    def _qualify(self, kind: types.Type, quals: Iterable[Any]) -> types.Type:
        block, has_layout = None, False
        for qual in quals or ():
            if qual == "shared":
                if block is not None:
                    self.unit.error(qual.coord, "shared is said twice")
                block, has_layout = self.layouts.layout(qual), qual.layout is not None
        plain = {str(qual) for qual in quals or () if qual != "shared"}
        if {"strict", "relaxed"} <= plain | kind.quals:
            self.unit.error(self._place(quals), "both strict and relaxed")
        base = types.element_of(kind)
        if "restrict" in plain and (base.is_arithmetic or base.is_record):
            self.unit.error(self._place(quals), f"restrict is for pointers, and not for '{base}'")
        if block is None:
            return kind.qualified(plain) if plain else kind
        if "_Atomic" in plain | base.quals:
            self.unit.error(
                self._place(quals),
                "accesses to shared objects cannot be _Atomic: upc_atomic.h has atomic operations",
            )
        if kind.is_shared:
            have = types.element_of(kind).block
            if has_layout and not have.same(block):
                self.unit.error(
                    self._place(quals),
                    f"the type is shared {have} already; here it is shared {block}",
                )
            block = have
        if kind.is_function:
            self.unit.error(self._place(quals), "a function cannot be shared")
            return kind
        if kind.is_void and block.value not in (0, 1):
            self.unit.error(
                self._place(quals), "a pointer to shared void is generic and has no layout"
            )
            block = types.CYCLIC
        return kind.qualified(plain, block)

    @staticmethod
    def _place(quals: Iterable[Any]) -> Coord | None:
        return next((qual.coord for qual in quals if getattr(qual, "coord", None)), None)

    # Specifiers

    def specified(self, node: c_ast.Node, around: c_ast.Node) -> types.Type:
        match node:
            case c_ast.IdentifierType():
                return self._named(node)
            case c_ast.Struct() | c_ast.Union():
                return self.tags.record(node)
            case c_ast.Enum():
                return self.tags.enumeration(node)
            case c_ast.TypeOf():
                if isinstance(node.expr, c_ast.Typename):
                    return self.type_of(node.expr.type)
                kind = self.expressions.type_of_operand(node.expr)
                # the value's type, so that ({ typeof(a) b = a; ...}) works for shared a
                return kind.unqualified() if kind.is_shared else kind
            case c_ast.Typename():
                return self.type_of(node.type)
        inner = getattr(node, "type", None)
        if isinstance(inner, c_ast.Node):  # with attributes
            return self.specified(inner, around)
        return types.Unknown(node)

    def _named(self, node: c_ast.Node) -> types.Type:
        names = node.names
        if len(names) == 1:
            if names[0] == "void":
                return types.Void()
            symbol = self.unit.scope.find(names[0])
            if symbol is not None and symbol.kind == "typedef":
                return symbol.type
        known = arithmetic(names)
        if known is not None:
            return known
        return types.Unknown(node)

    def _function(self, node: c_ast.Node) -> types.Type:
        result = self.type_of(node.type)
        if result.is_shared and not result.is_void:
            self.unit.error(
                node.coord, "a function cannot return a shared object, only a pointer to one"
            )
            result = result.unqualified()
        if node.args is None:
            return types.Function(result, None, False)
        parameters, variadic = [], False
        for each in node.args.params:
            if isinstance(each, c_ast.EllipsisParam):
                variadic = True
            elif isinstance(each, c_ast.ID):  # of an old-style definition
                return types.Function(result, None, False)
            else:
                parameters.append(self.parameter_type(each))
        if len(parameters) == 1 and parameters[0].is_void and not variadic:
            parameters = []
        return types.Function(result, parameters, variadic)

    def parameter_type(self, node: c_ast.Node) -> types.Type:
        """Return the type of a parameter, in which arrays and functions become pointers."""
        declarator = node.type
        # becomes a pointer, so its size may be anything
        if isinstance(declarator, c_ast.ArrayDecl):
            declarator = c_ast.ArrayDecl(
                declarator.type, None, declarator.dim_quals, declarator.coord
            )
        kind = self.type_of(declarator)
        if kind.is_array:
            if types.element_of(kind).block is STAR:
                self.unit.error(node.coord, "[*] cannot lay out a parameter: it is a pointer")
                kind = kind.qualified((), types.INDEFINITE)
            kind = types.Pointer(
                (self.layouts.complete(kind, node) if kind.is_shared else kind).element
            )
        elif kind.is_function:
            kind = types.Pointer(kind)
        if kind.is_shared:
            name = f" '{node.name}'" if node.name else ""
            self.unit.error(
                node.coord, f"parameter{name} cannot be shared, only a pointer to shared"
            )
            kind = kind.unqualified()
        self.check_reference_type(kind, node)
        return kind

    def check_reference_type(self, kind: types.Type, node: c_ast.Node) -> None:
        """Report an error if strict or relaxed is used for a type that is not shared."""
        at = kind
        while True:
            if at.is_function:
                at = at.result
                continue
            base = types.element_of(at)
            if base.quals & {"strict", "relaxed"} and base.block is None:
                self.unit.error(
                    node.coord,
                    f"{'strict' if 'strict' in base.quals else 'relaxed'} is for shared types only",
                )
                return
            if not base.is_pointer:
                return
            at = base.target
