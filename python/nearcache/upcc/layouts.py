# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of shared objects: block sizes, [*], sizes with THREADS, and UPC's rules for what may be
shared (UPC 1.3, 6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from pycparser import c_ast, c_generator

from . import types
from .constants import UPC_SIZES
from .part import Part
from .preprocess import MAX_BLOCK_SIZE

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .constants import Constants
    from .expressions import Expressions
    from .scope import Scope
    from .upc_ast import Shared

STAR = types.Block(None, None, "*")
# [*] in a type named by a typedef: computed for each array declared with it, which may add
# dimensions.
NAMED_STAR = types.Block(None, None, "*")


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


class Layouts(Part):
    """Determines block sizes, and checks the declarations of shared objects."""

    constants: Constants
    expressions: Expressions

    def layout(self, qual: Shared) -> types.Block:
        """Return the layout that a qualifier `shared [...]` gives."""
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

    def complete(self, kind: types.Type, node: c_ast.Node) -> types.Type:
        """Return the type of a shared object with [*] replaced by the number of elements that gives
        each thread one block."""
        block = types.element_of(kind).block
        if block is STAR or block is NAMED_STAR:
            if not kind.is_array:
                return kind.qualified((), types.CYCLIC)
            return kind.qualified((), self._even_block(kind, node))
        return kind

    def named(self, kind: types.Type, node: c_ast.Node) -> types.Type:
        """Return the type that a typedef names; its [*] stays until arrays of the type are
        declared."""
        if types.element_of(kind).block is STAR:
            self.unit.warn(
                node.coord,
                "[*] in a typedef is not UPC 1.3 (6.5.1.1): each array of this type is laid out by its own size",
            )
            self.complete(kind, node)
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
        threads_dimensions = self.check_threads_in_sizes(kind, node.coord, f"'{node.name}'")
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

    def check_threads_in_sizes(self, kind: types.Type, coord: Coord | None, what: str) -> int:
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

    def must_be_constant_size(self, node: c_ast.Node, coord: Coord | None) -> None:
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
