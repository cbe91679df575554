# SPDX-License-Identifier: BSD-3-Clause
"""Windows, options and counters: the tables at the end of the page."""

from __future__ import annotations

from .. import tables as known
from .. import values
from ..errors import NearcacheError
from ..report_counts import (
    api,
    bytes_text,
    hit_rate,
    processes,
    sharing_words,
    traffic_rows,
    type_rows,
    why_left_out,
    window_name,
)
from ..report_parts import Report
from ..tables import Tables
from . import scale
from .parts import LABELS, Section, Table, counted


def library_tables() -> Tables | None:
    """Return the library's tables of options and counters, or None if it is not installed where the
    report is read."""
    try:
        return known.load()
    except NearcacheError:
        return None


def accesses(document: Report) -> Section:
    """Return the totals by access type."""
    gets = document["totals"].get("gets", 0)
    rows = []
    for label, count, least, most, meaning in type_rows(document):
        over = ["-" if value is None else f"{value:,.0f}" for value in (least, most)]
        rows.append(
            [
                label,
                counted(count),
                scale.percent(count / gets) if gets else "-",
                *over,
                meaning,
            ]
        )
    one = processes(document)[0]
    columns = [
        ("gets", "text"),
        ("calls", "number"),
        ("share", "number"),
        (f"min per {one}", "number"),
        (f"max per {one}", "number"),
        ("meaning", "text"),
    ]
    tables = [Table("Gets by access type", columns, rows)]
    if api(document) == "OpenSHMEM":
        tables.append(
            Table(
                "Traffic and order",
                [("sums over PEs", "text"), ("", "number")],
                [list(row) for row in traffic_rows(document)],
            )
        )
    return Section("types", "Access types", tables=tables)


def contexts(document: Report) -> Section:
    """Return the section on the contexts of an OpenSHMEM program."""
    rows = []
    for row in document["windows"]:
        counters = row["counters"]
        rows.append(
            [
                row["name"],
                row["mode"],
                counted(row["ranks"]),
                counted(counters.get("gets", 0)),
                scale.percent(hit_rate(counters)) if counters.get("gets") else "-",
                counted(counters.get("puts", 0)),
                counted(counters.get("network_puts", 0)),
                bytes_text(counters.get("storage_bytes", 0)),
                row.get("bypass") or "-",
            ]
        )
    columns = [
        ("context", "text"),
        ("cache", "text"),
        ("PEs", "number"),
        ("gets", "number"),
        ("hit ratio", "number"),
        ("puts", "number"),
        ("written back by", "number"),
        ("size", "number"),
        ("not cached because", "text"),
    ]
    return Section(
        "windows", "Contexts", tables=[Table("Contexts and their caches", columns, rows)]
    )


def windows(document: Report) -> Section:
    if api(document) == "OpenSHMEM":
        return contexts(document)
    part = Section("windows", "Windows")
    if not document["windows"]:
        part.words = ["No window was seen."]
        return part
    shared = any(sharing_words(window) for window in document["windows"])
    rows = []
    for window in document["windows"]:
        counters = window["counters"]
        storage = counters.get("storage_bytes", 0)
        filled = scale.percent(counters.get("stored_bytes", 0) / storage) if storage else "-"
        rows.append(
            [
                window_name(window),
                window["mode"],
                window["policy"],
                counted(window["ranks"]),
                counted(counters.get("gets", 0)),
                scale.percent(hit_rate(counters)) if counters.get("gets") else "-",
                bytes_text(storage),
                filled,
                why_left_out(window) or "-",
                *([sharing_words(window) or "-"] if shared else []),
            ]
        )
    columns = [
        ("window", "text"),
        ("mode", "text"),
        ("policy", "text"),
        ("ranks", "number"),
        ("gets", "number"),
        ("hit ratio", "number"),
        ("storage", "number"),
        ("filled", "number"),
        ("not cached because", "text"),
        *([("shared by", "text")] if shared else []),
    ]
    part.tables = [Table("Windows with their modes", columns, rows)]
    return part


def _value(text: str, kind: str) -> object:
    """Parse a text, so that values written differently compare equal; an ill-formed text stands for
    itself."""
    read = values.TYPES[kind][0] if kind in values.TYPES else None
    value = read(text.strip()) if read else text.lower()
    return text if value is None else value


UNITS = {"bytes": bytes_text, "power": bytes_text, "time": scale.seconds_text}


def in_units(text: str, kind: str) -> str:
    """Format a size or a time with a unit if it is a plain number."""
    return UNITS[kind](int(text)) if kind in UNITS and text.isdigit() else text


def options(document: Report, tables: Tables | None) -> Section:
    part = Section("options", "Options")
    unseen = (
        ""
        if api(document) == "OpenSHMEM"
        else " Options that windows set by info key are not listed."
    )
    given = {name: str(value) for name, value in (document.get("options") or {}).items()}
    rows = []
    for name, value in given.items():
        option = tables.option(name) if tables else None
        if option is None or _value(value, option.type) != _value(option.default, option.type):
            rows.append(
                [
                    name,
                    in_units(value, option.type if option else "") or "(empty)",
                    (option.default or "(empty)") if option else "unknown",
                    option.help if option else "-",
                ]
            )
    columns = [("option", "text"), ("value", "text"), ("default", "text"), ("what it does", "text")]
    if tables is None and rows:
        part.words = [
            "Every option of the run, because the library's table of defaults is not installed here."
            + unseen
        ]
        part.tables = [
            Table("Options of the run", [columns[0], columns[1]], [row[:2] for row in rows])
        ]
    elif rows:
        part.words = ["Set in the environment of the run." + unseen]
        part.tables = [Table("Options that differ from the default", columns, rows)]
    elif given:
        part.words = ["Every option has its default." + unseen]
    else:
        part.missing = "options"
    return part


def counters(document: Report, tables: Tables | None) -> Section:
    known_counters = {counter.name: counter for counter in tables.counters} if tables else {}
    rows = []
    for name, value in document["totals"].items():
        counter, spread = known_counters.get(name), document["spread"].get(name)
        over = [f"{spread[of]:,.0f}" for of in ("min", "mean", "max")] if spread else ["-"] * 3
        rows.append(
            [
                name,
                counted(value),
                *over,
                counter.unit if counter else "-",
                counter.help if counter else LABELS.get(name, "-"),
            ]
        )
    columns = [
        ("counter", "text"),
        ("sum", "number"),
        (f"min per {processes(document)[0]}", "number"),
        ("mean", "number"),
        ("max", "number"),
        ("unit", "text"),
        ("meaning", "text"),
    ]
    return Section(
        "counters", "Counters", folded=[Table(f"All {len(rows)} counters", columns, rows)]
    )
