# SPDX-License-Identifier: BSD-3-Clause
"""Formats a report as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .plain import CONTROL
from .report_counts import (
    api,
    by_dropped,
    by_gets,
    bytes_text,
    hit_rate,
    processes,
    saved_ns,
    sharing_words,
    traffic_rows,
    type_rows,
    why_left_out,
    window_name,
)
from .report_file import DAMAGE, damaged
from .report_parts import Report

if TYPE_CHECKING:
    from rich.console import JustifyMethod


def _safe(text: object) -> str:
    """Return a foreign name without markup and without what a terminal would take for a command."""
    return escape(CONTROL.sub("?", str(text)))


def _grid(*columns: tuple[str, JustifyMethod]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")
    return table


def header(document: Report) -> Table:
    wall = document["wall_seconds"]
    rows = [
        ("program", document.get("program", "")),
        ("host", document.get("host", "")),
        (api(document), document.get("mpi", "")),
        (processes(document)[1], str(document["ranks"])),
        ("Nearcache", document.get("nearcache", "")),
        (
            "time",
            f"{wall['mean']:.3f} s (min {wall['min']:.3f}, max {wall['max']:.3f} over {processes(document)[1]})",
        ),
    ]
    if document.get("modelled"):
        rows.append(("network", f"MODELLED, not measured: {document['modelled']}"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(name, _safe(" ".join(str(value).split())))
    return table


def accesses(document: Report) -> Table:
    totals = document["totals"]
    gets = totals.get("gets", 0)
    one = processes(document)[0]
    table = _grid(
        ("gets", "left"),
        ("calls", "right"),
        ("share", "right"),
        (f"min/{one}", "right"),
        (f"max/{one}", "right"),
        ("", "left"),
    )
    for label, count, least, most, meaning in type_rows(document):
        share = f"{100 * count / gets:.1f}%" if gets else "-"
        over_ranks = ["-" if value is None else f"{value:,.0f}" for value in (least, most)]
        table.add_row(label, f"{count:,}", share, *over_ranks, meaning)
    table.add_row(
        "all",
        f"{gets:,}",
        f"{100 * hit_rate(totals):.1f}%",
        "",
        "",
        "share: hits of remote gets",
        style="bold",
    )
    return table


def traffic(document: Report) -> Table:
    totals = document["totals"]
    ranks = max(document["ranks"], 1)
    one, several = processes(document)
    table = _grid((f"sums over {several}", "left"), ("", "right"))
    for label, text in traffic_rows(document):
        table.add_row(label, text)
    table.add_row(f"remote time per {one}", f"{totals.get('remote_ns', 0) / ranks / 1e9:.3f} s")
    table.add_row(f"saved time per {one}", f"{saved_ns(totals) / ranks / 1e9:.3f} s (estimated)")
    return table


def contexts(document: Report) -> Table:
    """Return the table of an OpenSHMEM program's contexts."""
    table = _grid(
        ("context", "left"),
        ("cache", "left"),
        ("PEs", "right"),
        ("gets", "right"),
        ("hits", "right"),
        ("puts", "right"),
        ("written back by", "right"),
        ("size", "right"),
        ("not cached because", "left"),
    )
    for row in document["windows"]:
        counters = row["counters"]
        table.add_row(
            _safe(row["name"]),
            _safe(row["mode"]),
            _safe(row["ranks"]),
            f"{counters.get('gets', 0):,}",
            f"{100 * hit_rate(counters):.1f}%",
            f"{counters.get('puts', 0):,}",
            f"{counters.get('network_puts', 0):,}",
            bytes_text(counters.get("storage_bytes", 0)),
            _safe(row.get("bypass") or ""),
        )
    return table


MOST_ROWS = 10  # rows shown of objects and of acquires


def objects(document: Report) -> Table | None:
    """Return the table of symmetric objects that gets access; None if the report has none."""
    rows = by_gets((document.get("details") or {}).get("objects") or [])
    if not rows:
        return None
    table = _grid(
        ("symmetric object", "left"),
        ("gets", "right"),
        ("hits", "right"),
        ("past the cache", "right"),
        ("fetched", "right"),
        ("written back", "right"),
    )
    for row in rows[:MOST_ROWS]:
        table.add_row(
            _safe(row["name"]),
            f"{row['gets']:,}",
            f"{100 * row['hits'] / row['gets']:.1f}%" if row["gets"] else "-",
            f"{row['bypassed']:,}",
            bytes_text(row["bytes_from_network"]),
            bytes_text(row["bytes_to_network"]),
        )
    if len(rows) > MOST_ROWS:
        table.add_row(f"and {len(rows) - MOST_ROWS} more")
    return table


def acquires(document: Report) -> Table | None:
    """Return the table of calls that were acquires; None if the report has none."""
    rows = by_dropped((document.get("details") or {}).get("acquires") or [])
    if not rows:
        return None
    table = _grid(("acquires by", "left"), ("calls", "right"), ("dropped", "right"))
    for row in rows[:MOST_ROWS]:
        table.add_row(_safe(row["call"]), f"{row['calls']:,}", bytes_text(row["bytes_dropped"]))
    if len(rows) > MOST_ROWS:
        table.add_row(f"and {len(rows) - MOST_ROWS} more")
    return table


def windows(document: Report) -> Table:
    if api(document) == "OpenSHMEM":
        return contexts(document)
    shared = any(sharing_words(window) for window in document["windows"])
    table = _grid(
        ("window", "left"),
        ("mode", "left"),
        ("policy", "left"),
        ("ranks", "right"),
        ("gets", "right"),
        ("hits", "right"),
        ("storage", "right"),
        ("filled", "right"),
        ("entries", "right"),
        ("not cached because", "left"),
    )
    if shared:
        table.add_column("shared by", overflow="fold")
    for window in document["windows"]:
        counters = window["counters"]
        storage = counters.get("storage_bytes", 0)
        filled = f"{100 * counters.get('stored_bytes', 0) / storage:.0f}%" if storage else "-"
        table.add_row(
            _safe(window_name(window)),
            _safe(window["mode"]),
            _safe(window["policy"]),
            _safe(window["ranks"]),
            f"{counters.get('gets', 0):,}",
            f"{100 * hit_rate(counters):.1f}%",
            bytes_text(storage),
            filled,
            f"{counters.get('entries', 0):,}",
            _safe(why_left_out(window)),
            *([_safe(sharing_words(window))] if shared else []),
        )
    return table


def render(document: Report, console: Console) -> None:
    """Print a report to a rich console."""
    console.print(header(document))
    for part in (
        accesses(document),
        traffic(document),
        windows(document) if document["windows"] else None,
        objects(document),
        acquires(document),
    ):
        if part is not None:
            console.print()
            console.print(part)
    verdict = document["verdict"]
    console.print()
    console.print(
        Text(
            "the cache helped: "
            if verdict["helped"]
            else "a loss: "
            if verdict["saved_seconds"] < 0
            else "no gain: ",
            style="bold green" if verdict["helped"] else "bold yellow",
        )
        + Text(CONTROL.sub("?", verdict["text"]), style="default")
    )


def show(document: Report, width: int | None = None) -> None:
    console = Console(width=width or (None if sys.stdout.isatty() else 140), highlight=False)
    try:
        render(document, console)
    except DAMAGE as error:
        raise damaged(error) from None
