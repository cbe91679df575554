# SPDX-License-Identifier: BSD-3-Clause
"""Lowers objects: static shared data become pointers set by the runtime at the start, private
objects stay declarations.

Each file has two functions that the runtime calls before main: one reports the sizes of the file's
shared objects; the other stores initial values, including those of private objects that C does not
accept as constant (the address of a shared object).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pycparser import c_ast

from . import types
from .declare import resized
from .part import Part
from .rewrite import innermost
from .scope import Symbol
from .static_values import (
    has_literals,
    mentions_shared,
    only_null,
    what_it_reads,
    with_static_literals,
    with_static_null,
)
from .tree import nodes_of
from .typenames import POINTER, call, identifier, number, plain_type

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .accesses import Accesses
    from .alignments import Alignments
    from .convert import Conversions, Value
    from .expressions import Expressions
    from .hoisting import Hoisting
    from .initializers import Initializers
    from .layouts import Layouts
    from .rewrite import Rewriting
    from .typenames import Typenames
    from .unit import Unit

STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CHARACTER = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|.")


def _elements(spelled: str, prefix: str) -> int:
    """Return how many elements of an array a character of a string literal takes: bytes of UTF-8,
    words of UTF-16, or one."""
    if prefix in ("L", "U") or spelled[0] == "\\" and spelled[1] not in "uU":
        return 1
    character = chr(int(spelled[2:], 16)) if spelled[0] == "\\" else spelled
    if prefix == "u":
        return len(character.encode("utf-16-le", "surrogatepass")) // 2
    return len(character.encode("utf-8", "surrogateescape"))


def string_length(text: str) -> int:
    """Elements of the array that a string literal is, the final null included."""
    prefix = text[: text.index('"')]
    spelled = [each[0] for part in STRING.findall(text) for each in CHARACTER.finditer(part)]
    return sum(_elements(each, prefix) for each in spelled) + 1


def _names_others(node: c_ast.Node) -> bool:
    """Return whether an expression names anything besides THREADS: constants, types."""
    return any(
        isinstance(each, c_ast.Typename) or isinstance(each, c_ast.ID) and each.name != "THREADS"
        for each in nodes_of(node)
    )


def pointer_declaration(
    name: str,
    storage: Iterable[str] = (),
    attributes: Iterable[str] = (),
    coord: Coord | None = None,
) -> c_ast.Node:
    declarator = c_ast.TypeDecl(name, [], None, c_ast.IdentifierType([*attributes, POINTER]))
    return c_ast.Decl(name, [], [], list(storage), [], declarator, None, None, coord)


class Statics(Part):
    """Lowers objects with static storage, shared and private."""

    accesses: Accesses
    alignments: Alignments
    conversions: Conversions
    layouts: Layouts
    expressions: Expressions
    hoisting: Hoisting
    initializers: Initializers
    rewriting: Rewriting
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._shared_names: set[str] = set()  # C names of shared objects
        # C name -> (Symbol, type or None, coord) of shared objects defined in this file
        self._placed: dict[str, tuple[Symbol, types.Type | None, Coord | None]] = {}
        # C name -> the different alignments that their declarations request
        self._alignments: dict[str, list[c_ast.Node]] = {}
        self._initialisations: list[c_ast.Node] = []  # statements
        # name -> [(declaration, its declarator without const)] of private const objects with
        # linkage
        self._const_declarations: dict[str, list[tuple[c_ast.Node, c_ast.Node]]] = {}
        self._stored_later: set[str] = set()  # names of const objects initialised by a statement

    # Shared objects

    def shared_object(
        self, node: c_ast.Node, kind: types.Type, c_name: str | None = None, hoisted: bool = False
    ) -> list[c_ast.Node]:
        """Return the declaration in C of a static shared object."""
        storage = node.storage or []
        kind = self.sized_by_initializer(resized(kind, node), node.init)
        kind = self.layouts.complete(kind, node)
        self.layouts.check_shared_object(kind, node, storage)
        self.count_without_names(kind)
        self.rewritten_specifier_only(node)
        if hoisted and node.name in self.unit.scope.names:
            self.unit.error(node.coord, f"'{node.name}' is declared twice in one block")
        symbol = self.declared(node, kind, c_name)
        symbol.storage = storage
        self._shared_names.add(symbol.c_name)
        asked_for = self._alignments.setdefault(symbol.c_name, [])
        asked_for += [
            self.hoisting.expression(each, node) if hoisted else each
            for each in self.alignments.asked_for(node, kind)
        ]
        extern = "extern" in storage and node.init is None
        if extern:
            return self.rewriting.definitions_before(
                [pointer_declaration(symbol.c_name, ["extern"], coord=node.coord)]
            )
        if node.init is not None and symbol.defined:
            self.unit.error(node.coord, f"'{node.name}' is initialised twice")
        symbol.defined = symbol.defined or node.init is not None
        if kind.is_array and any(each.count is None for each in kind.dimensions()):
            self.unit.error(node.coord, f"the size of '{node.name}' is missing")
        outside, compared = self.hoisting.placed(kind, node) if hoisted else (None, [])
        self._placed[symbol.c_name] = (symbol, outside, node.coord)
        if node.init is not None:
            self._initialisations.append(self._filling(node, kind, symbol, hoisted))
        static = "static" in storage or hoisted
        kind_of_definition = (
            [] if static else ["NCUPC_TENTATIVE" if node.init is None else "NCUPC_DEFINED"]
        )
        made = pointer_declaration(
            symbol.c_name, ["static"] if static else [], kind_of_definition, node.coord
        )
        return self.rewriting.definitions_before([made, *compared])

    def count_without_names(self, kind: types.Type) -> None:
        """Replace multiples of THREADS by numbers: enumeration constants may be different or
        unknown where the type is used."""
        for each in kind.dimensions() if kind.is_array else ():
            if each.length is not None or each.count is None or not _names_others(each.count):
                continue
            factor = self.layouts.without_threads(each.count)
            if factor is not None:
                each.count = c_ast.BinaryOp("*", number(factor), identifier("THREADS"))

    def rewritten_specifier_only(self, node: c_ast.Node) -> None:
        """Keep the struct or enumeration that the declaration defines, but not its declarator."""
        self.rewriting.keep_definition(innermost(node.type).type)

    def sized_by_initializer(self, kind: types.Type, init: c_ast.Node | None) -> types.Type:
        """Return an array type without a size completed by its initialiser."""
        if not kind.is_array or kind.count is not None or init is None:
            return kind
        length = None
        if isinstance(init, c_ast.Constant) and init.type == "string":
            length = string_length(init.value)
        elif isinstance(init, c_ast.InitList):
            if (
                len(init.exprs) == 1
                and isinstance(init.exprs[0], c_ast.Constant)
                and init.exprs[0].type == "string"
                and kind.element.is_arithmetic
            ):
                length = string_length(init.exprs[0].value)
            else:
                length = self.initializers.length(init, kind)
        if length is None:
            return kind
        made = kind.copy()
        made.length, made.count, made.alias = length, number(length), None
        return made

    def _filling(
        self, node: c_ast.Node, kind: types.Type, symbol: Symbol, hoisted: bool
    ) -> c_ast.Node:
        """Return a block that stores the initial values of the elements of a shared object that
        this thread owns."""
        private = kind.unqualified()
        if hoisted:
            node.init = self.hoisting.with_sizes_of_types(node.init)
        values = self.initializers.initializer(node.init, private, of_shared=True)
        self._check_constant(values, node.name)
        if not kind.is_array:
            if kind.is_record or not isinstance(values, c_ast.InitList):
                values = c_ast.InitList([values], node.coord)
            private = types.Array(private, None, 1)
        elif any(each.length is None for each in kind.dimensions()[1:]):
            self.unit.error(
                node.coord,
                f"'{node.name}' cannot be initialised: its inner dimensions are not known before the start",
            )
        if kind.is_array and kind.length is None:
            private = types.Array(kind.element.unqualified(), None, None)
        constant = not (self._mentions_shared(values) or has_literals(values))
        if constant:
            with_static_null(values)
        else:
            values = with_static_literals(values, self.unit.next_temporary)
        if hoisted:
            kind, private = self.hoisting.type(kind, node), self.hoisting.type(private, node)
            values = self.hoisting.expression(values, node)
        element = types.element_of(kind)
        declarator = self.typenames.declarator(private, "ncupc_initial")
        initial = c_ast.Decl(
            "ncupc_initial",
            ["const"],
            [],
            ["static"] if constant else [],
            [],
            declarator,
            values,
            None,
            node.coord,
        )
        innermost(initial.type).quals = ["const"]
        size = self.typenames.size(element)
        count = c_ast.BinaryOp("/", c_ast.UnaryOp("sizeof", identifier("ncupc_initial")), size)
        fill = call(
            "ncupc_fill",
            identifier(symbol.c_name),
            identifier("ncupc_initial"),
            count,
            size,
            self.typenames.count_of(kind)[1],
            self.typenames.block_size(element),
        )
        fill.coord = node.coord
        return c_ast.Compound([initial, fill], node.coord)

    # Private objects

    def private_object(
        self, node: c_ast.Node, kind: types.Type, symbol: Symbol, local: bool
    ) -> list[c_ast.Node]:
        """Return the declaration of a private object, and what follows it."""
        static = not local or "static" in (node.storage or [])
        init = node.init
        if init is None or "extern" in (node.storage or []) and local:
            if not local or "extern" in (node.storage or []):
                return self._declared_without_value(node, kind)
            node.type = self.rewriting.rewritten(node.type)
            return self.rewriting.definitions_before([node])
        name = f"initialiser of '{node.name}'" if not isinstance(init, c_ast.InitList) else ""
        if isinstance(init, c_ast.InitList):
            lowered = self.initializers.initializer(init, kind)
        else:
            found = self.expressions.expression(init)
            is_string = isinstance(init, c_ast.Constant) and init.type == "string"
            if is_string and kind.is_array:
                lowered = cast("Value", found).node
            else:
                lowered = self.conversions.converted(
                    self.accesses.loaded(found), kind, init.coord or node.coord, name
                )
        if not static or not self._mentions_shared(lowered) or only_null(lowered):
            node.init = with_static_null(lowered) if static else lowered
            node.type = self.rewriting.rewritten(node.type)
            return self.rewriting.definitions_before([node])
        self._check_constant(lowered, node.name)
        return self._initialised_later(node, kind, symbol, lowered, local)

    def _declared_without_value(self, node: c_ast.Node, kind: types.Type) -> list[c_ast.Node]:
        """Return a declaration of an object that may be initialised elsewhere in the file; it is
        not const in C if its definition is not."""
        if "const" in types.element_of(kind).quals:
            self.rewriting.keep_definition(innermost(node.type).type)
            declarator = self._declarator(node, self._without_const(kind), node.name)
            if node.name in self._stored_later:
                node.type = declarator
                return self.rewriting.definitions_before([node])
            self._const_declarations.setdefault(node.name, []).append((node, declarator))
        node.type = self.rewriting.rewritten(node.type)
        return self.rewriting.definitions_before([node])

    def _declarator(self, node: c_ast.Node, kind: types.Type, name: str) -> c_ast.Node:
        """Return the declaration's declarator, with its attributes, for another type."""
        made = self.typenames.declarator(kind, name)
        inner = innermost(made)
        inner.attributes, inner.align = innermost(node.type).attributes, innermost(node.type).align
        if isinstance(made, c_ast.ArrayDecl) and isinstance(node.type, c_ast.ArrayDecl):
            made.attributes = node.type.attributes
        return made

    def _check_constant(self, node: c_ast.Node, name: str) -> None:
        """Report an error if the lowered initialiser of a static object reads or calls anything of
        the program."""
        read = what_it_reads(node, self.unit.scope)
        if read:
            self.unit.error(
                node.coord, f"the initialiser of '{name}' is not constant: it reads {read}"
            )

    def _mentions_shared(self, node: c_ast.Node) -> bool:
        return mentions_shared(
            node, self.unit.scope, self._shared_names, self.unit.threads is not None
        )

    def _initialised_later(
        self, node: c_ast.Node, kind: types.Type, symbol: Symbol, lowered: c_ast.Node, local: bool
    ) -> list[c_ast.Node]:
        plain = self._without_const(kind)
        lowered = with_static_literals(lowered, self.unit.next_temporary)
        if not local:
            self._stored_later.add(node.name)
            for declaration, declarator in self._const_declarations.pop(node.name, ()):
                declaration.type = declarator
        self.rewriting.keep_definition(innermost(node.type).type)
        node.init, node.type = None, self._declarator(node, plain, symbol.c_name)
        if plain.is_array or plain.is_record:
            declarator = self.typenames.declarator(plain, "ncupc_initial")
            initial = c_ast.Decl(
                "ncupc_initial", [], [], [], [], declarator, lowered, None, node.coord
            )
            copied = call(
                "__builtin_memcpy",
                c_ast.UnaryOp("&", identifier(symbol.c_name)),
                c_ast.UnaryOp("&", identifier("ncupc_initial")),
                c_ast.UnaryOp("sizeof", identifier("ncupc_initial")),
            )
            copied.coord = node.coord
            block = c_ast.Compound([initial, copied], node.coord)
        else:
            while isinstance(lowered, c_ast.InitList):
                lowered = lowered.exprs[0]
            block = c_ast.Assignment("=", identifier(symbol.c_name), lowered, node.coord)
        if not local:
            self._initialisations.append(block)
            return self.rewriting.definitions_before([node])
        once = f"ncupc_once{self.unit.next_temporary()}"
        flag = c_ast.Decl(
            once,
            [],
            [],
            ["static"],
            [],
            c_ast.TypeDecl(once, [], None, c_ast.IdentifierType(["int"])),
            None,
            None,
            node.coord,
        )
        first = c_ast.If(
            c_ast.UnaryOp("!", identifier(once)),
            c_ast.Compound([c_ast.Assignment("=", identifier(once), number(1)), block], node.coord),
            None,
            node.coord,
        )
        return self.rewriting.definitions_before([node, flag, first])

    def _without_const(self, kind: types.Type) -> types.Type:
        """Return the type of an object that can be stored to later."""
        if kind.is_array:
            made = kind.copy()
            made.element, made.alias = self._without_const(kind.element), None
            return made
        if "const" not in kind.quals:
            return kind
        made = kind.copy()
        made.quals = kind.quals - {"const"}
        return made

    # Functions that the runtime calls before main

    def module(self) -> list[c_ast.Node]:
        """Return the two functions and their registration. Every file has them, so that THREADS and
        the pointers' form are checked."""
        placing = []
        for symbol, outside, coord in self._placed.values():
            kind = outside or symbol.type
            if not kind.is_shared:
                continue  # declared again as private, about which there is an error
            self.unit.coord = coord
            element = types.element_of(kind)
            asked_for = self._alignments[symbol.c_name]
            made = call(
                "ncupc_place_aligned" if asked_for else "ncupc_place",
                c_ast.UnaryOp("&", identifier(symbol.c_name)),
                c_ast.Constant("string", f'"{symbol.name}"'),
                self.typenames.size(element),
                self.typenames.count_of(kind)[1],
                self.typenames.block_size(element),
                *([self.alignments.largest(asked_for)] if asked_for else []),
                identifier("NCUPC_HERE"),
            )
            made.coord = coord
            placing.append(made)
        functions = [
            ("ncupc_place_statics", placing),
            ("ncupc_initialise_statics", self._initialisations),
        ]
        made, names = [], []
        for name, items in functions:
            if not items:
                names.append(number(0))  # NULL may be undefined by now
                continue
            names.append(identifier(name))
            void = c_ast.ParamList([plain_type("void")])
            declarator = c_ast.FuncDecl(
                void, c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["void"]))
            )
            made.append(
                c_ast.FuncDef(
                    c_ast.Decl(name, [], [], ["static"], [], declarator, None, None),
                    None,
                    c_ast.Compound(items),
                )
            )
        quoted = self.unit.name.replace("\\", "\\\\").replace('"', '\\"')
        made.append(call("NCUPC_MODULE", c_ast.Constant("string", f'"{quoted}"'), *names))
        return made

    def declared(self, node: c_ast.Node, kind: types.Type, c_name: str | None = None) -> Symbol:
        """Return the symbol of an object or function; an earlier declaration is completed."""
        before = self.unit.scope.names.get(node.name)
        if before is not None and before.kind in ("object", "function"):
            return self._redeclared(before, node, kind)
        symbol = Symbol(
            node.name,
            "function" if kind.is_function else "object",
            kind,
            c_name=c_name,
            storage=node.storage or (),
            coord=node.coord,
        )
        return self.unit.scope.add(symbol)

    def same_multiples(self, have: types.Type, kind: types.Type) -> bool:
        """Return whether sizes that contain THREADS are the same multiples of it."""
        if not (have.is_array and kind.is_array):
            return True
        for one, other in zip(have.dimensions(), kind.dimensions()):
            if (
                one.count is not None
                and other.count is not None
                and one.length is None
                and other.length is None
            ):
                a, b = (
                    self.layouts.without_threads(one.count),
                    self.layouts.without_threads(other.count),
                )
                if a is not None and b is not None and a != b:
                    return False
        return True

    def _redeclared(self, before: Symbol, node: c_ast.Node, kind: types.Type) -> Symbol:
        have = before.type
        if have.is_shared != kind.is_shared:
            was = "shared" if have.is_shared else "private"
            self.unit.error(
                node.coord, f"'{node.name}' is {was} where it was declared before, and not so here"
            )
        elif kind.is_shared:
            one, other = types.element_of(have), types.element_of(kind)
            if not one.block.same(other.block):
                self.unit.error(
                    node.coord,
                    f"'{node.name}' has block size {one.block} where it was declared before, and {other.block} here",
                )
            elif not (types.same(have, kind) and self.same_multiples(have, kind)):
                self.unit.error(
                    node.coord, f"'{node.name}' was declared before as '{have}', here as '{kind}'"
                )
        elif not types.same_sharing(have, kind):  # in C, they are the same type
            self.unit.error(
                node.coord, f"'{node.name}' was declared before as '{have}', here as '{kind}'"
            )
        if not (have.is_array and have.count is not None and kind.is_array and kind.count is None):
            before.type = kind
        return before
