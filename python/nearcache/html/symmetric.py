# SPDX-License-Identifier: BSD-3-Clause
"""Sections only for OpenSHMEM and UPC programs: symmetric objects, and the calls that were
acquires."""

from __future__ import annotations

from ..report_counts import HITS_ARE_ESTIMATES, by_dropped, by_gets, bytes_text, dropped_of_network
from ..report_parts import Acquire, Counters, Details
from . import scale
from .parts import Section, counted


def objects(details: Details | None) -> Section:
    """Return the section on the symmetric objects that gets access."""
    part = Section("objects", "Symmetric objects")
    found = (details or {}).get("objects")
    if found is None:
        part.missing = "gets by symmetric object"
        return part
    if not found:
        part.words = ["The program accessed no symmetric object."]
        return part
    rows = by_gets(found)
    gets = sum(row["gets"] for row in rows) or 1
    columns = [
        ("object", "text"),
        ("size", "number"),
        ("gets", "number"),
        ("share", "number"),
        ("hit ratio", "number"),
        ("past the cache", "number"),
        ("fetched", "number"),
        ("written back", "number"),
    ]
    cells = [
        [
            row["name"],
            bytes_text(row["bytes"]) if row["bytes"] else "-",
            counted(row["gets"]),
            scale.percent(row["gets"] / gets),
            scale.percent(row["hits"] / row["gets"]) if row["gets"] else "-",
            counted(row["bypassed"]),
            bytes_text(row["bytes_from_network"]),
            bytes_text(row["bytes_to_network"]),
        ]
        for row in rows
    ]
    part.show("Gets by symmetric object, most first", columns, cells, "objects")
    part.words = [
        "The size is that of one PE's part; all else is the sum over PEs. " + HITS_ARE_ESTIMATES
    ]
    return part


def _mean(row: Acquire) -> str:
    return bytes_text(row["bytes_dropped"] / row["calls"]) if row["calls"] else "-"


def acquires(details: Details | None, totals: Counters) -> Section:
    """Return the section on the calls that invalidated what the caches had read, and how much."""
    part = Section("acquires", "Acquires")
    rows = (details or {}).get("acquires")
    if rows is None:
        part.missing = "acquires by call"
        return part
    if not rows:
        part.words = ["No call of the program was an acquire: nothing was dropped."]
        return part
    rows = by_dropped(rows)
    dropped = sum(row["bytes_dropped"] for row in rows) or 1
    columns = [
        ("call", "text"),
        ("calls", "number"),
        ("dropped", "number"),
        ("share", "number"),
        ("mean of a call", "number"),
    ]
    cells = [
        [
            row["call"],
            counted(row["calls"]),
            bytes_text(row["bytes_dropped"]),
            scale.percent(row["bytes_dropped"] / dropped),
            _mean(row),
        ]
        for row in rows
    ]
    part.show("Acquires by call, those that dropped most first", columns, cells, "calls")
    part.words = [
        "After these calls a PE may know of other PEs' writes, so nothing that it read before is "
        f"served any more. {dropped_of_network(rows, totals)}"
    ]
    return part
