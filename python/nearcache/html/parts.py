# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a page: tables, and figures with their legend, drawings, tips and table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from ..report_counts import ACCESS_TYPES

Widths = tuple[tuple[str, int], ...]  # (width class, px)
Columns = Sequence[tuple[str, str]]  # (heading, "text" or "number")
SHOWN = 16  # rows of a table shown before the fold
# A drawing is made once per width, so that its text always has the same size; the style sheet shows
# the one that fits.
FULL: Widths = (("wide", 1120), ("medium", 540), ("narrow", 330))
HALF: Widths = (("medium", 540), ("narrow", 330))
LABELS = {name: label for name, label, _ in ACCESS_TYPES}


@dataclass
class Table:
    caption: str
    columns: Columns
    rows: Sequence[Sequence[str]]


@dataclass
class Figure:
    name: str
    title: str
    about: str  # what is drawn, and in which units
    drawings: list[tuple[str, Markup]]  # (width class, SVG)
    table: Table | None
    # (class of the mark, label, figure beside it)
    legend: list[tuple[str, str, str]] = field(default_factory=list)
    tips: list[list[str]] = field(default_factory=list)  # per band: lines of text


@dataclass
class Section:
    """A part of the page; a part without content gives the reason in `missing`."""

    name: str
    title: str
    words: list[str] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)  # tables that are collapsed at first
    missing: str = ""

    def show(
        self,
        caption: str,
        columns: Columns,
        rows: Sequence[Sequence[str]],
        what: str,
        which: str = "other",
    ) -> None:
        """Make a table of `what` the section's; `which` of them are folded."""
        self.tables = [Table(caption, columns, rows[:SHOWN])]
        if len(rows) > SHOWN:
            folded = f"The {which} {len(rows) - SHOWN} {what}"
            self.folded = [Table(folded, columns, rows[SHOWN:])]


def drawings(widths: Widths, draw: Callable[[str, int], Markup]) -> list[tuple[str, Markup]]:
    """Call `draw(name, width)` for each width."""
    return [(width_class, draw(width_class, width)) for width_class, width in widths]


def counted(value: int) -> str:
    return f"{value:,}"
