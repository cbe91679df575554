# SPDX-License-Identifier: BSD-3-Clause
"""Derives types from the syntax of declarations, and checks UPC's rules for what may be shared (UPC
1.3, 6.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from pycparser import c_ast, c_generator

from . import types
from .arithmetic_types import INT, UNSIGNED, arithmetic, wrapped
from .constants import UPC_SIZES
from .part import Part
from .preprocess import MAX_BLOCK_SIZE
from .scope import Symbol

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .constants import Constants
    from .expressions import Expressions
    from .scope import Scope
    from .unit import Unit
    from .upc_ast import Shared

STAR = types.Block(None, None, "*")
# [*] in a type named by a typedef: computed for each array declared with it, which may add
# dimensions.
NAMED_STAR = types.Block(None, None, "*")


RESIZING = re.compile(r"\b_*(?:mode|vector_size)_*\b")  # attributes that make a type another


class _Variables(c_ast.NodeVisitor):
    """Finds what a layout may not depend on, objects and calls; operands of sizeof and the like are
    not evaluated."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: str | None = None

    def visit_ID(self, node: c_ast.Node) -> None:
        symbol = self.scope.find(node.name)
        if symbol is None or symbol.kind == "object":  # without one it may be another parameter
            self.found = node.name

    def visit_FuncCall(self, node: c_ast.Node) -> None:
        if getattr(node.name, "name", None) != "__builtin_offsetof":
            self.found = "a call"

    def visit_UnaryOp(self, node: c_ast.Node) -> None:
        if node.op != "sizeof" and node.op not in UPC_SIZES:
            self.visit(node.expr)


class _VariablesOfSize(_Variables):
    """The same for the size of a shared array, which may have THREADS in it; of calls the arguments
    count."""

    def visit_ID(self, node: c_ast.Node) -> None:
        if node.name != "THREADS":
            super().visit_ID(node)

    def visit_FuncCall(self, node: c_ast.Node) -> None:
        if getattr(node.name, "name", None) != "__builtin_offsetof" and node.args is not None:
            self.visit(node.args)


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

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        # by the node of a struct, union (types.Body) or enumeration (its type)
        self._bodies: dict[c_ast.Node, Any] = {}
        self._scopes: dict[c_ast.Node, Scope] = {}  # defining node -> the scope of its definition

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
                target = self.complete_layout(target, node) if target.is_shared else target
                if target.is_array and target.is_shared:
                    self._check_threads_in_sizes(target, node.coord, "an array")
                return self._qualify(types.Pointer(target), node.quals)
            case c_ast.ArrayDecl():
                element = self.type_of(node.type)
                if element.is_function:
                    self.unit.error(node.coord, "an array of functions")
                length = None
                if node.dim is not None and not is_any_size(node.dim):
                    length = self.constants.evaluate(node.dim)
                    if length is None and element.is_shared:
                        self._must_be_constant_size(node.dim, node.coord)
                return types.Array(element, node.dim, length, node.dim_quals or (), self.unit.scope)
            case c_ast.FuncDecl():
                return self._function(node)
            case c_ast.Typename() | c_ast.Decl() | c_ast.Typedef():
                return self.type_of(node.type)
        return self.specified(node, node)

    def _qualify(self, kind: types.Type, quals: Iterable[Any]) -> types.Type:
        block = None
        for qual in quals or ():
            if qual == "shared":
                if block is not None:
                    self.unit.error(qual.coord, "shared is said twice")
                block = self._layout(qual)
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
            if not have.same(block) and block.value != 1:
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

    def _layout(self, qual: Shared) -> types.Block:
        layout = qual.layout
        if layout is None:
            return types.CYCLIC
        if layout == "[]":
            return types.INDEFINITE
        if layout == "[*]":
            return STAR
        value = self.constants.evaluate(layout)
        if value is None:
            if self.unit.threads is None and self._names_threads(layout):
                self.unit.error(
                    qual.coord,
                    "the layout is not constant: THREADS is not known here; compile with -T=N",
                )
                return types.CYCLIC
            if not types.may_index(self.expressions.type_of_operand(layout)):
                self.unit.error(qual.coord, "the layout is not an integer")
                return types.CYCLIC
            if not self._is_constant(layout, qual.coord):
                return types.CYCLIC
            text = c_generator.CGenerator().visit(layout)
            return types.Block(None, layout, text, self.unit.scope)
        if value < 0:
            self.unit.error(qual.coord, f"the layout is negative: {value}")
            return types.CYCLIC
        self._check_block_size(value, qual.coord)
        return types.Block(value)

    def _check_block_size(self, value: int, coord: Coord | None) -> None:
        limit = MAX_BLOCK_SIZE[self.unit.struct_pointers]
        if value > limit:
            more = "" if self.unit.struct_pointers else "; --struct-pointers allows more"
            self.unit.error(
                coord, f"the block size {value} is larger than UPC_MAX_BLOCK_SIZE ({limit}{more})"
            )

    def _is_constant(self, node: c_ast.Node, coord: Coord | None) -> bool:
        """Return whether a layout names neither objects nor calls, and report an error if not;
        sizes that only the C compiler knows are allowed."""
        names = _Variables(self.unit.scope)
        names.visit(node)
        if names.found:
            self.unit.error(coord, f"the layout is not a constant expression: {names.found}")
        return not names.found

    @staticmethod
    def _names_threads(node: c_ast.Node) -> int:
        class Threads(c_ast.NodeVisitor):
            count = 0

            def visit_ID(self, at: c_ast.Node) -> None:
                self.count += at.name == "THREADS"

        found = Threads()
        found.visit(node)
        return found.count

    def scope_of(self, node: c_ast.Node) -> Scope | None:
        """Return the scope in which a struct, union or enumeration is defined; None if it is not
        defined."""
        return self._scopes.get(node)

    def defined_as(self, node: c_ast.Node) -> types.Body | types.Type | None:
        """Return the types.Body or type of a struct, union or enumeration whose type was requested;
        else None."""
        return self._bodies.get(node)

    # Specifiers

    def specified(self, node: c_ast.Node, around: c_ast.Node) -> types.Type:
        match node:
            case c_ast.IdentifierType():
                return self._named(node)
            case c_ast.Struct() | c_ast.Union():
                return self._record(node)
            case c_ast.Enum():
                return self._enumeration(node)
            case c_ast.TypeOf():
                if isinstance(node.expr, c_ast.Typename):
                    return self.type_of(node.expr.type)
                kind = self.expressions.type_of_operand(node.expr)
                return (
                    kind.unqualified() if kind.is_shared else kind
                )  # the value's type, so that ({ typeof(a) b = a; ...}) works for shared a
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

    def _record(self, node: c_ast.Node) -> types.Type:
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
            kind = resized(self.type_of(decl.type), decl)
            if kind.is_shared:
                self.unit.error(
                    decl.coord,
                    f"member '{decl.name}' cannot be shared: a member may be a pointer to shared, and a whole "
                    f"{'struct' if isinstance(node, c_ast.Struct) else 'union'} may be shared",
                )
                kind = kind.unqualified()
            self.check_reference_type(kind, decl)
            fields.append((decl.name, kind, decl.bitsize))
        return fields

    def _enumeration(self, node: c_ast.Node) -> types.Type:
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
                (self.complete_layout(kind, node) if kind.is_shared else kind).element
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

    # Shared objects

    def complete_layout(self, kind: types.Type, node: c_ast.Node) -> types.Type:
        """Return the type of a shared object with [*] replaced by the number of elements that gives
        each thread one block."""
        block = types.element_of(kind).block
        if block is STAR or block is NAMED_STAR:
            if not kind.is_array:
                return kind.qualified((), types.CYCLIC)
            return kind.qualified((), self._even_block(kind, node))
        return kind

    def named_layout(self, kind: types.Type, node: c_ast.Node) -> types.Type:
        """Return the type that a typedef names; its [*] stays until arrays of the type are
        declared."""
        if types.element_of(kind).block is STAR:
            self.unit.warn(
                node.coord,
                "[*] in a typedef is not UPC 1.3 (6.5.1.1): each array of this type is laid out by its own size",
            )
            self.complete_layout(kind, node)
            return kind.qualified((), NAMED_STAR)
        return kind

    def _even_block(self, kind: types.Type, node: c_ast.Node) -> types.Block:
        total, times_threads = 1, False
        for each in kind.dimensions():
            factor = each.length
            if factor is None and self.unit.threads is None and each.count is not None:
                factor = self.without_threads(each.count)
                times_threads = times_threads or factor is not None
            if factor is None:
                self.unit.error(node.coord, "[*] needs an array whose size is known here")
                return types.CYCLIC
            total *= factor
        if times_threads or self.unit.threads is not None:
            block = total if times_threads else -(-total // cast(int, self.unit.threads))
            self._check_block_size(block, node.coord)
            return types.Block(block)
        text = f"({total} + THREADS - 1) / THREADS"
        made = c_ast.BinaryOp(
            "/",
            c_ast.BinaryOp(
                "-",
                c_ast.BinaryOp("+", c_ast.Constant("int", str(total)), c_ast.ID("THREADS")),
                c_ast.Constant("int", "1"),
            ),
            c_ast.ID("THREADS"),
        )
        return types.Block(None, made, text)

    def without_threads(self, node: c_ast.Node) -> int | None:
        """Return the other factor of a dimension that is a multiple of THREADS, if THREADS is not
        known; None if it is not a multiple."""
        match node:
            case c_ast.ID(name="THREADS"):
                return 1
            case c_ast.BinaryOp(op="*"):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if self._names_threads(one) == 1:
                        inside, factor = self.without_threads(one), self.constants.evaluate(other)
                        return None if inside is None or factor is None else inside * factor
            case c_ast.Cast():
                return self.without_threads(node.expr)
        return None

    def check_shared_object(
        self, kind: types.Type, node: c_ast.Node, storage: Sequence[str]
    ) -> None:
        """Check the constraints on the declaration of a shared object (6.5.1, 6.5.2, 6.5.3)."""
        if types.element_of(kind).is_void:
            self.unit.error(node.coord, f"'{node.name}' cannot be of type shared void")
            return
        for word in ("register", "auto", "_Thread_local", "__thread"):
            if word in storage:
                self.unit.error(
                    node.coord, f"'{node.name}' cannot be {word}: a shared object is static"
                )
        if kind.is_record and kind.body.fields is None and "extern" not in storage:
            self.unit.error(node.coord, f"'{node.name}' is of an incomplete type: {kind}")
        if not kind.is_array:
            return
        threads_dimensions = self._check_threads_in_sizes(kind, node.coord, f"'{node.name}'")
        has_sizes = all(each.count is not None for each in kind.dimensions())
        if (
            self.unit.threads is None
            and threads_dimensions == 0
            and has_sizes
            and types.element_of(kind).block.value != 0
        ):
            self.unit.error(
                node.coord,
                f"the size of '{node.name}' must be a multiple of THREADS in one dimension, as THREADS is not known "
                "here: write n * THREADS, compile with -T=N, or declare it shared []",
            )

    def _check_threads_in_sizes(self, kind: types.Type, coord: Coord | None, what: str) -> int:
        """Check the constraints on the sizes of a shared array type (6.5.2.1); return the number of
        dimensions with THREADS if it is not known."""
        threads_dimensions = 0
        for each in kind.dimensions():
            if each.count is None:
                continue
            if self.unit.threads is None and self._names_threads(each.count):
                threads_dimensions += 1
                if self._names_threads(each.count) > 1 or not self._is_multiple_of_threads(
                    each.count
                ):
                    self.unit.error(
                        coord,
                        f"the size of {what} must be a positive multiple of THREADS that names THREADS once: n * THREADS",
                    )
            elif each.length is not None and each.length < 0:
                self.unit.error(coord, f"the size of {what} is negative")
        if threads_dimensions > 1:
            self.unit.error(coord, f"THREADS may be in one dimension of {what} only")
        if threads_dimensions and types.element_of(kind).block.value == 0:
            self.unit.error(
                coord,
                f"{what} is all on one thread: THREADS cannot be in its size where it is not known before the start",
            )
        return threads_dimensions

    def _is_multiple_of_threads(self, node: c_ast.Node) -> bool:
        match node:
            case c_ast.ID(name="THREADS"):
                return True
            case c_ast.BinaryOp(op="*"):
                inside, other = (
                    (node.left, node.right)
                    if self._names_threads(node.left)
                    else (node.right, node.left)
                )
                factor = self.constants.evaluate(other)
                return self._is_multiple_of_threads(inside) and (factor is None or factor > 0)
            case c_ast.Cast():
                return self._is_multiple_of_threads(node.expr)
        return False

    def _must_be_constant_size(self, node: c_ast.Node, coord: Coord | None) -> None:
        """Report an error for a shared array whose length is known only at run time, THREADS
        aside."""
        names = _VariablesOfSize(self.unit.scope)
        names.visit(node)
        if names.found:
            self.unit.error(coord, f"the size of a shared array is not constant: {names.found}")
            return
        kind = self.expressions.type_of_operand(node)
        if not types.may_index(kind):
            self.unit.error(
                coord, f"the size of a shared array is not an integer, but of type '{kind}'"
            )
