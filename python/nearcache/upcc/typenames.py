# SPDX-License-Identifier: BSD-3-Clause
"""Turns types back into syntax, for the C output."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from .arithmetic_types import arithmetic
from .part import Part
from .scope import renamed, retagged
from .types import MADE_TAG

if TYPE_CHECKING:
    from . import types
    from .expressions import Expressions
    from .scope import Scope, Symbol
    from .unit import Unit

POINTER = "ncupc_ptr"
UPC_WORDS = {"strict", "relaxed"}


class Alias(str):
    """The name of a typedef, and its Symbol."""

    symbol: Symbol

    def __new__(cls, name: str, symbol: Symbol) -> Alias:
        made = super().__new__(cls, name)
        made.symbol = symbol
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Alias:
        return self  # the same typedef, even in a copy of the syntax tree


def plain_quals(quals: Iterable[str]) -> list[str]:
    """Return the qualifiers that C knows."""
    return [word for word in quals if word != "shared" and word not in UPC_WORDS]


def identifier(name: str) -> c_ast.Node:
    return c_ast.ID(name)


def call(name: str, *arguments: c_ast.Node) -> c_ast.Node:
    return c_ast.FuncCall(c_ast.ID(name), c_ast.ExprList(list(arguments)))


def number(value: int) -> c_ast.Node:
    return c_ast.Constant("int", str(value))


def pointer_declarator(name: str) -> c_ast.Node:
    """Return the syntax that declares `name` as a pointer-to-shared."""
    return c_ast.TypeDecl(name, [], None, c_ast.IdentifierType([POINTER]))


def plain_type(word: str) -> c_ast.Node:
    """Return a type name of one word."""
    return c_ast.Typename(
        None, [], None, c_ast.TypeDecl(None, [], None, c_ast.IdentifierType([word]))
    )


def size_type() -> c_ast.Node:
    return plain_type("size_t")


def difference_type() -> c_ast.Node:
    return plain_type("ptrdiff_t")


class Typenames(Part):
    """Prints the names and sizes of types in C."""

    expressions: Expressions

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._emitted_arrays: set[str] = set()  # typedef names of arrays that C can have
        self._in_parameters = 0  # of a function's type: how many such lists are around
        # tag -> node of the struct or enumeration that got it
        self._made_tags: dict[str, c_ast.Node] = {}

    def declarator(
        self, kind: types.Type, name: str | None = None, quals: list[str] | None = None
    ) -> c_ast.Node:
        """Return the syntax that declares `name` as a `kind`; for a shared type, the type of its
        value."""
        quals = sorted(plain_quals(kind.quals)) if quals is None else quals
        alias = self.alias_of(kind)
        if kind.is_array and not (alias and alias in self._emitted_arrays):
            dim = (
                kind.count
                if kind.length is None and kind.count is not None and not self._in_parameters
                else None  # a size may name other parameters, and need not be said among them
            )
            if dim is not None:
                dim = self._size_in_c(dim, kind.scope)
            elif kind.length is not None:
                dim = number(kind.length)
            return c_ast.ArrayDecl(self.declarator(kind.element, name), dim, kind.dim_quals)
        if kind.is_pointer_to_shared:
            return c_ast.TypeDecl(
                name,
                [word for word in quals if word != "restrict"],
                None,
                c_ast.IdentifierType([alias or POINTER]),
            )
        if kind.is_pointer and not alias:
            return c_ast.PtrDecl(quals, self.declarator(kind.target, name))
        if kind.is_function and not alias:
            if kind.parameters is None:
                arguments = None
            else:
                self._in_parameters += 1
                inside = [self.typename(each) for each in kind.parameters]
                self._in_parameters -= 1
                inside += [c_ast.EllipsisParam()] if kind.variadic else []
                arguments = c_ast.ParamList(inside or [plain_type("void")])
            return c_ast.FuncDecl(arguments, self.declarator(kind.result, name))
        return c_ast.TypeDecl(name, quals, None, self.specifier(kind))

    def alias_of(self, kind: types.Type) -> Alias | None:
        """Return the typedef name that the source used for a type; None if another declaration
        hides it here."""
        if kind.alias is None or self.unit.scope.find(kind.alias) is not kind.alias.symbol:
            return None
        return kind.alias

    def specifier(self, kind: types.Type) -> c_ast.Node:
        if self.alias_of(kind):
            return c_ast.IdentifierType([kind.alias])
        if kind.is_void:
            return c_ast.IdentifierType(["void"])
        if kind.is_record:
            return (c_ast.Struct if kind.body.keyword == "struct" else c_ast.Union)(
                self.tag_of(kind.body), None
            )
        if kind.is_unknown and kind.node is not None:
            return kind.node
        if kind.is_arithmetic:
            if kind.node is not None and kind.node.name:
                return c_ast.Enum(kind.node.name, None, None)
            plain = arithmetic(kind.words)
            if kind.node is None and kind.size is None and plain is not None and plain.size:
                self.unit.error(
                    self.unit.coord,
                    f"the type of what is used here, '{kind}' with an attribute that changes it, has no name here: "
                    "a typedef must give it one",
                )
            return c_ast.IdentifierType(list(kind.words))
        return c_ast.IdentifierType(["int"])

    def tag_of(self, body: types.Body) -> str:
        """Return the tag of a struct; one without a tag is given one, also in its definition."""
        self.name_tag(body.node)
        return body.node.name

    def name_tag(self, node: c_ast.Node) -> None:
        """Give a struct or enumeration a tag if it has none."""
        if not node.name:
            node.name = f"{MADE_TAG}{len(self._made_tags) + 1}"
            self._made_tags[node.name] = node

    def made_tag(self, name: str) -> c_ast.Node | None:
        """Return the node that was given a tag here; else None."""
        return self._made_tags.get(name)

    def typename(self, kind: types.Type) -> c_ast.Node:
        return c_ast.Typename(None, sorted(plain_quals(kind.quals)), None, self.declarator(kind))

    def value_type(self, kind: types.Type) -> c_ast.Node:
        """Return a type as a macro's argument: `int`, `struct s`, or __typeof__(...) if a
        declarator could not follow the type's name."""
        kind = kind.unqualified()
        name = self.typename(kind)
        if isinstance(name.type, c_ast.TypeDecl):
            return name
        return call("__typeof__", name)

    def size(self, kind: types.Type) -> c_ast.Node:
        """Return sizeof an element, in C."""
        return c_ast.UnaryOp("sizeof", self.typename(kind.unqualified()))

    def block_size(self, kind: types.Type) -> c_ast.Node:
        """Return the block size of a shared type, in C."""
        block = kind.block
        if block.value is not None:
            return number(block.value)
        return self._size_in_c(block.node, block.scope)

    def _size_in_c(self, node: c_ast.Node, scope: Scope | None) -> c_ast.Node:
        """Return the C of a size or block size that a declaration gives. scope: that of the
        declaration, whose tags it names."""
        here = self.unit.scope
        if scope is not None and scope is not here:
            name = renamed(node, scope, here)
            if name is not None:
                self.unit.error(
                    self.unit.coord,
                    f"the layout of what is used here depends on '{name}', and another '{name}' hides it: "
                    "rename one of them",
                )
            elif retagged(node, scope, here):
                self.unit.scope = scope
        made = self.expressions.value(copy.deepcopy(node)).node
        self.unit.scope = here
        return made

    def layout(self, kind: types.Type) -> tuple[c_ast.Node, c_ast.Node]:
        """Return size and block size: the last arguments of many calls of the runtime."""
        return self.size(kind), self.block_size(kind)

    def count_of(self, kind: types.Type) -> tuple[int | None, c_ast.Node]:
        """Return (the number of elements of a shared array type as an int, None if not known here;
        the same in C)."""
        known, factors = 1, []
        for each in kind.dimensions() if kind.is_array else ():
            if each.length is not None:
                known *= each.length
            elif each.count is not None:
                factors.append(self._size_in_c(each.count, each.scope))
            else:
                factors.append(number(0))  # there is an error about the missing size
        made = None
        for factor in factors:
            factor = c_ast.Cast(size_type(), factor)
            made = factor if made is None else c_ast.BinaryOp("*", made, factor)
        if made is None:
            return known, number(known)
        return None, made if known == 1 else c_ast.BinaryOp("*", made, number(known))

    def named(self, kind: types.Type, symbol: Symbol) -> types.Type:
        """Return a type under its typedef's name, if C has the name for the same type."""
        if kind.quals & {"const", "volatile", "_Atomic"} or (
            kind.is_array and any(each.length is None for each in kind.dimensions())
        ):
            return kind
        made = kind.copy()
        made.alias = Alias(symbol.name, symbol)
        if kind.is_array:
            self._emitted_arrays.add(symbol.name)
        return made
