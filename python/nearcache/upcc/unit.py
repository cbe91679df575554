# SPDX-License-Identifier: BSD-3-Clause
"""The state that all parts of the lowering share for a file: its options, the current scope and
function, and the diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from . import diagnostics, pragmas
from .diagnostics import UpcErrors
from .scope import Scope

if TYPE_CHECKING:
    from pycparser import c_ast
    from pycparser.c_parser import Coord

    from .diagnostics import Diagnostic
    from .scope import Symbol

TOO_MANY = 50  # errors after which any others would be mere consequences


class Function:
    """The current function; without a symbol at file scope. `hoisted`: declarations to print before
    the outermost function."""

    def __init__(
        self,
        symbol: Symbol | None = None,
        is_main: bool = False,
        hoisted: Iterable[c_ast.Node] = (),
    ) -> None:
        self.symbol, self.is_main, self.hoisted = symbol, is_main, list(hoisted)
        self.controlled = 0  # number of enclosing upc_forall loops with an affinity
        self.jumps_land = False  # whether it calls setjmp
        self.addressed: set[str] | None = None  # names whose address it takes (tree.py)


class Unit:
    def __init__(
        self,
        threads: int | None,
        strict: bool,
        name: str,
        struct_pointers: bool,
        options: Sequence[str] = (),
    ) -> None:
        self.threads, self.strict, self.name, self.struct_pointers = (
            threads,
            strict,
            name,
            struct_pointers,
        )
        # Options of the C compiler after which only it knows the sizes of structures, enumerations,
        # long double
        self.packs_all = any(word.startswith("-fpack-struct") for word in options)
        self.short_enums = "-fshort-enums" in options
        self.own_long_double = any(word.startswith("-mlong-double-") for word in options)
        self.scope = self.globals = Scope()
        self.function = Function()
        self.coord = None  # place of the node being lowered, for new nodes
        self.packing = pragmas.Packing()
        self.found: list[Diagnostic] = []
        self._temporaries = 0

    def _report(self, coord: Coord | None, severity: str, message: str) -> None:
        entry = (coord or self.coord, severity, message)
        if not any(str(entry[0]) == str(old[0]) and message == old[2] for old in self.found):
            self.found.append(entry)
        if severity == diagnostics.ERROR and len(self.found) >= TOO_MANY:
            raise UpcErrors(self.found)

    def error(self, coord: Coord | None, message: str) -> None:
        self._report(coord, diagnostics.ERROR, message)

    def warn(self, coord: Coord | None, message: str) -> None:
        self._report(coord, diagnostics.WARNING, message)

    def next_temporary(self) -> int:
        """Return a number for the name of a new variable."""
        self._temporaries += 1
        return self._temporaries

    def pragma(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Process a pragma; return what is left for the C compiler."""
        mode = pragmas.mode(node)
        if mode is None:
            self.packing.follow(node)
            return [node]
        self.strict = mode
        return []
