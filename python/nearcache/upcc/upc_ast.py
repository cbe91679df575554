# SPDX-License-Identifier: BSD-3-Clause
"""Nodes for UPC and GNU C that pycparser's own syntax tree lacks.

They behave like those of pycparser.c_ast: slots, children(), iteration over the child nodes,
attr_names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

if TYPE_CHECKING:
    from pycparser.c_parser import Coord


class Shared(str):
    """The qualifier `shared` in a list of qualifiers: equal to "shared", with its layout.

    layout: None (no brackets) | "[]" (indefinite) | "[*]" (blocked) | the expression of the block
    size.
    """

    layout: Any
    coord: Any

    def __new__(cls, layout: Any = None, coord: Any = None) -> Shared:
        qualifier = super().__new__(cls, "shared")
        qualifier.layout = layout
        qualifier.coord = coord
        return qualifier

    def __getnewargs__(self) -> Any:
        return self.layout, self.coord

    def spelling(self, visit: Callable[[c_ast.Node], str]) -> str:
        """Return its source text; visit(expression) -> str prints a block size."""
        if self.layout is None:
            return "shared"
        return (
            f"shared {self.layout}"
            if isinstance(self.layout, str)
            else f"shared [{visit(self.layout)}]"
        )


class _Node(c_ast.Node):
    """A node whose class lists the fields that hold child nodes (`_child_names`)."""

    __slots__ = ()
    _child_names: tuple[str, ...] = ()

    def children(self) -> tuple[tuple[str, c_ast.Node], ...]:
        return tuple(
            (name, getattr(self, name))
            for name in self._child_names
            if getattr(self, name) is not None
        )

    def __iter__(self) -> Iterator[c_ast.Node]:
        return iter([child for _, child in self.children()])


class UpcForall(_Node):
    """upc_forall (init; cond; next; affinity) stmt.

    The affinity is None (empty), c_ast.Continue or an expression.
    """

    __slots__ = ("init", "cond", "next", "affinity", "stmt", "coord", "__weakref__")
    _child_names = ("init", "cond", "next", "affinity", "stmt")
    attr_names = ()

    def __init__(
        self,
        init: c_ast.Node | None,
        cond: c_ast.Node | None,
        next: c_ast.Node | None,
        affinity: c_ast.Node | None,
        stmt: c_ast.Node,
        coord: Coord | None = None,
    ) -> None:
        self.init = init
        self.cond = cond
        self.next = next
        self.affinity = affinity
        self.stmt = stmt
        self.coord = coord


class UpcSync(_Node):
    """upc_notify, upc_wait, upc_barrier (expr may be None) and upc_fence; `kind` omits the
    `upc_`."""

    __slots__ = ("kind", "expr", "coord", "__weakref__")
    _child_names = ("expr",)
    attr_names = ("kind",)

    def __init__(self, kind: str, expr: c_ast.Node | None, coord: Coord | None = None) -> None:
        self.kind = kind
        self.expr = expr
        self.coord = coord


class StatementExpr(_Node):
    """GNU ({ ... }); its value is that of the last statement of the compound."""

    __slots__ = ("compound", "coord", "__weakref__")
    _child_names = ("compound",)
    attr_names = ()

    def __init__(self, compound: c_ast.Node, coord: Coord | None = None) -> None:
        self.compound = compound
        self.coord = coord


class Range(_Node):
    """GNU `first ... last` in a case or an array designator."""

    __slots__ = ("first", "last", "coord", "__weakref__")
    _child_names = ("first", "last")
    attr_names = ()

    def __init__(self, first: c_ast.Node, last: c_ast.Node, coord: Coord | None = None) -> None:
        self.first = first
        self.last = last
        self.coord = coord


class ComputedGoto(_Node):
    """GNU `goto *expr;`."""

    __slots__ = ("expr", "coord", "__weakref__")
    _child_names = ("expr",)
    attr_names = ()

    def __init__(self, expr: c_ast.Node, coord: Coord | None = None) -> None:
        self.expr = expr
        self.coord = coord


class LocalLabels(_Node):
    """GNU `__label__ a, b;`; names is a list of str."""

    __slots__ = ("names", "coord", "__weakref__")
    attr_names = ("names",)

    def __init__(self, names: list[str], coord: Coord | None = None) -> None:
        self.names = names
        self.coord = coord


class Asm(_Node):
    """Inline assembly, kept as its source text without the semicolon.

    It is a statement, an external declaration, or (in the `attributes` of a declarator) the
    assembler name of the declared object.
    """

    __slots__ = ("text", "coord", "__weakref__")
    attr_names = ("text",)

    def __init__(self, text: str, coord: Coord | None = None) -> None:
        self.text = text
        self.coord = coord


class GnuAttribute(_Node):
    """`__attribute__((...))`, or C23's `[[...]]`, as its source text; used in `attributes` lists
    like c_ast.AttributeSpecifier."""

    __slots__ = ("text", "coord", "__weakref__")
    attr_names = ("text",)

    def __init__(self, text: str, coord: Coord | None = None) -> None:
        self.text = text
        self.coord = coord


class Raw(_Node):
    """C text that is printed unchanged in place of an expression."""

    __slots__ = ("text", "coord", "__weakref__")
    attr_names = ("text",)

    def __init__(self, text: str, coord: Coord | None = None) -> None:
        self.text = text
        self.coord = coord
