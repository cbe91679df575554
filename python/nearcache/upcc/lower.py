# SPDX-License-Identifier: BSD-3-Clause
"""Lowers UPC to C: lower() turns the syntax tree of a UPC file into one of C that calls the runtime
(nearcache/upc_runtime.h).

The work is divided among parts (part.py), which share a Unit (unit.py) and call each other: types
come from declarations, whose sizes are expressions, which may contain declarations within statement
expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import diagnostics, upc_ast
from .accesses import Accesses
from .alignments import Alignments
from .constants import Constants
from .convert import Conversions
from .declare import Declarations
from .definitions import Definitions
from .diagnostics import UpcError, UpcErrors
from .expressions import Expressions
from .forall import Forall
from .hoisting import Hoisting
from .initializers import Initializers
from .layouts import Layouts
from .local_loops import LocalLoops
from .operators import Operators
from .rewrite import Rewriting
from .statements import Statements
from .statics import Statics
from .system_headers import SystemHeaders
from .tags import Tags
from .typenames import Typenames
from .unit import Function, Unit

if TYPE_CHECKING:
    from .diagnostics import Diagnostic

PARTS = {
    "accesses": Accesses,
    "alignments": Alignments,
    "constants": Constants,
    "conversions": Conversions,
    "declarations": Declarations,
    "definitions": Definitions,
    "expressions": Expressions,
    "forall": Forall,
    "hoisting": Hoisting,
    "initializers": Initializers,
    "layouts": Layouts,
    "local_loops": LocalLoops,
    "operators": Operators,
    "rewriting": Rewriting,
    "statements": Statements,
    "statics": Statics,
    "system_headers": SystemHeaders,
    "tags": Tags,
    "typenames": Typenames,
}


class FileAST(c_ast.FileAST):
    """The C file, and the warnings about the UPC file: (coord, severity, message)."""

    __slots__ = ("diagnostics",)

    def __init__(self, ext: list[c_ast.Node], found: list[Diagnostic]) -> None:
        super().__init__(ext)
        self.diagnostics = found


def connected(unit: Unit) -> dict[str, Any]:
    """Create all parts and connect them to each other; return them by name."""
    parts = {name: kind(unit) for name, kind in PARTS.items()}
    for part in parts.values():
        part.connect(parts)
    return parts


def lower(
    tree: c_ast.Node,
    system_files: Iterable[str] = (),
    threads: int | None = None,
    strict: bool = False,
    name: str = "",
    struct_pointers: bool = False,
    options: Sequence[str] = (),
) -> FileAST:
    """Lower a UPC file to C.

    threads: THREADS if it is static, None if it is known only when the program starts. strict: the
    mode of accesses for which neither a pragma nor a qualifier gives one. name: of the file, for
    the runtime's messages. options: of the C compiler, which may change layouts. Raises UpcErrors.
    """
    unit = Unit(threads, strict, name, struct_pointers, options)
    made = _file(tree, unit, connected(unit), frozenset(system_files))
    if any(severity == diagnostics.ERROR for _, severity, _ in unit.found):
        raise UpcErrors(unit.found)
    return FileAST(made, unit.found)


def _file(
    tree: c_ast.Node, unit: Unit, parts: Mapping[str, Any], system_files: frozenset[str]
) -> list[c_ast.Node]:
    made = []
    for node in tree.ext:
        try:
            if node.coord is not None and node.coord.file in system_files:
                parts["system_headers"].declare(node)
            else:
                unit.coord = node.coord or unit.coord
                made += parts["definitions"].external(node)
        except UpcError as error:
            unit.error(error.coord, error.message)
            unit.function, unit.scope = Function(), unit.globals
    _allow_unused(made, parts["expressions"].unevaluated())
    return made + parts["statics"].module()


def _allow_unused(made: list[c_ast.Node], functions: set[str]) -> None:
    """Mark static functions as unused if they are called only in operands of sizeof, which are not
    printed."""
    for node in made:
        if (
            isinstance(node, c_ast.FuncDef)
            and "static" in node.decl.storage
            and node.decl.name in functions
        ):
            node.decl.attributes = [
                upc_ast.GnuAttribute("__attribute__((unused))"),
                *node.decl.attributes,
            ]
