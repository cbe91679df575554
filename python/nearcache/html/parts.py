"""What the page is made of: tables, and figures with their legend, drawings, tips and table."""

from dataclasses import dataclass, field
from typing import Optional

from ..report_counts import ACCESS_TYPES

# A drawing is made once per width, so that its text has the same size everywhere; the style sheet shows the one that fits.
FULL = (("wide", 1120), ("medium", 540), ("narrow", 330))
HALF = (("medium", 540), ("narrow", 330))
LABELS = {name: label for name, label, _ in ACCESS_TYPES}


@dataclass
class Table:
    caption: str
    columns: list  # (heading, "text" or "number")
    rows: list  # lists of texts
    note: str = ""
    shown: int = 0  # rows before the fold; 0: all
    header: bool = True  # the first column names the row


@dataclass
class Figure:
    name: str
    title: str
    about: str  # what is drawn, in which units
    drawings: list  # (width class, SVG)
    table: Optional[Table]
    legend: list = field(default_factory=list)  # (class of the mark, label, figure beside it)
    tips: list = field(default_factory=list)  # per band: lines of text


@dataclass
class Section:
    """A part of the page; one without content says why in `missing`."""

    name: str
    title: str
    words: list = field(default_factory=list)
    figures: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    folded: list = field(default_factory=list)  # tables that are closed at first
    missing: str = ""


def drawings(widths, draw):
    """`draw(name, width)` for each width."""
    return [(width_class, draw(width_class, width)) for width_class, width in widths]


def counted(value):
    return f"{value:,}"
