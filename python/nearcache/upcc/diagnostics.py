# SPDX-License-Identifier: BSD-3-Clause
"""Messages about UPC sources in the style of C compilers: `file:line:col: error: message`, the
source line, a caret."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    Diagnostic = tuple[Coord | None, str, str]  # place, severity, message

ERROR, WARNING, NOTE = "error", "warning", "note"


class UpcError(Exception):
    """One error at a place in a source; `coord` (pycparser's Coord: file, line, column) may be
    None."""

    def __init__(self, coord: Coord | None, message: str) -> None:
        super().__init__(coord, message)
        self.coord = coord
        self.message = message

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [(self.coord, ERROR, self.message)]

    def __str__(self) -> str:
        return heading(self.coord, ERROR, self.message)


class UpcErrors(Exception):
    """Several diagnostics, at least one of them an error: (coord, severity, message) in source
    order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        return "\n".join(heading(*entry) for entry in self.diagnostics)


def heading(coord: Coord | None, severity: str, message: str, column: int | None = None) -> str:
    """Return `file:line:col: severity: message`, without the unknown parts of the place."""
    parts = []
    if coord is not None:
        column = column or getattr(coord, "column", None)
        parts = [str(part) for part in (coord.file, coord.line, column) if part]
    return f"{':'.join(parts)}: {severity}: {message}" if parts else f"upcc: {severity}: {message}"


@functools.lru_cache(maxsize=16)
def _lines(path: str, changed: int) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def source_line(coord: Coord | None) -> str | None:
    """Return the text of the line that a coord names; None if the file does not exist."""
    if coord is None or not coord.file or not coord.line:
        return None
    try:
        path = os.path.abspath(coord.file)
        lines = _lines(path, os.stat(path).st_mtime_ns)
    except OSError:
        return None
    return lines[coord.line - 1] if 0 < coord.line <= len(lines) else None


def render(coord: Coord | None, severity: str, message: str, column: int | None = None) -> str:
    """Return the whole message; `column` if given replaces that of `coord`, which counts in
    preprocessed text."""
    column = column or (getattr(coord, "column", None) if coord is not None else None)
    text = heading(coord, severity, message, column)
    line = source_line(coord)
    if line is None or not line.strip():
        return text
    assert coord is not None
    number = f"{coord.line:5} | "
    text += f"\n{number}{line}"
    if column and column <= len(line) + 1:
        # Tabs are kept, so that the caret is aligned with its character.
        text += (
            "\n"
            + " " * (len(number) - 2)
            + "| "
            + "".join("\t" if char == "\t" else " " for char in line[: column - 1])
            + "^"
        )
    return text


def counts(diagnostics: Iterable[Diagnostic]) -> str:
    """Return `2 errors and 1 warning generated.`, the last line of compilers; empty if there are
    none."""
    parts = []
    for severity in (ERROR, WARNING):
        count = sum(entry[1] == severity for entry in diagnostics)
        if count:
            parts.append(f"{count} {severity}{'s' if count > 1 else ''}")
    return f"{' and '.join(parts)} generated." if parts else ""
