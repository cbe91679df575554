# SPDX-License-Identifier: BSD-3-Clause
"""Charts over time: access types, hit ratio, storage. The report's counters are cumulative; the
charts show the increase per slot."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ..report_counts import (
    HITS,
    AccessType,
    access_types,
    api,
    bytes_text,
    hit_rate,
    hits,
    processes,
    told_apart,
)
from ..report_parts import Counters, Report
from . import scale
from .parts import FULL, Figure, Section, Table, counted, drawings
from .svg import Frame, Ticks, steps_path, tag

MISSING = "gets over time"


def slots_of(points: Sequence[Counters], types: Sequence[AccessType]) -> list[Counters]:
    """Return what happened in each slot: the differences between its counters and those of the slot
    before."""
    names = dict.fromkeys(("gets", *HITS, *(one.name for one in types)))
    slots: list[Counters] = []
    before: Counters = {}
    for point in map(told_apart, points):
        slots.append({name: max(0, point.get(name, 0) - before.get(name, 0)) for name in names})
        before = point
    return slots


def _axes(frame: Frame, y_ticks: Ticks, span_ns: int) -> Markup:
    return frame.y_axis(y_ticks) + frame.x_axis(scale.ticks_of_time(span_ns, frame.bands))


def _when(i: int, slot_ns: int) -> str:
    return f"{scale.seconds_text(i * slot_ns) if i else '0'} to {scale.seconds_text((i + 1) * slot_ns)}"


def _stack(frame: Frame, slots: Sequence[Counters], used: Sequence[str]) -> list[Markup]:
    """Return an area for each access type that occurs, one on top of the other."""
    base, areas = [0] * len(slots), []
    for name in used:
        top = [low + slot[name] for low, slot in zip(base, slots)]
        path = steps_path(frame.edges, [frame.y(v) for v in top], [frame.y(v) for v in base])
        areas.append(tag("path", d=path, class_=f"fill {name}"))
        base = top
    return areas


def accesses(
    slots: Sequence[Counters], slot_ns: int, types: Sequence[AccessType], everybody: str
) -> Figure:
    """Return a stacked chart of the access types of each slot's gets."""
    used = [one.name for one in types if any(slot[one.name] for slot in slots)]
    labels = {one.name: one.label for one in types}
    meanings = {one.name: one.meaning for one in types}
    y_ticks = scale.ticks(max(sum(slot[name] for name in used) for slot in slots))
    totals = {name: sum(slot[name] for slot in slots) for name in used}
    gets = sum(totals.values()) or 1

    def draw(width_class: str, width: int) -> Markup:
        frame = Frame(width, 280 if width > 600 else 240, len(slots), y_ticks[-1][0])
        return frame.drawing(
            f"accesses-{width_class}",
            "Gets by access type over time",
            _story(slots),
            _axes(frame, y_ticks, slot_ns * len(slots)),
            *_stack(frame, slots, used),
            tips="accesses",
        )

    tips = [
        [
            _when(i, slot_ns),
            f"{slot['gets']:,} gets",
            *(f"{labels[name]}: {slot[name]:,}" for name in reversed(used) if slot[name]),
        ]
        for i, slot in enumerate(slots)
    ]
    table = Table(
        "Gets of each slot by access type",
        [("time", "text"), ("gets", "number"), *((labels[name], "number") for name in used)],
        [
            [_when(i, slot_ns), counted(slot["gets"]), *(counted(slot[name]) for name in used)]
            for i, slot in enumerate(slots)
        ],
    )
    return Figure(
        "accesses",
        "Access types",
        f"Gets in each {scale.seconds_text(slot_ns)}, {everybody} together, stacked by outcome. "
        + "; ".join(f"“{labels[name]}” = {meanings[name]}" for name in used)
        + ".",
        drawings(FULL, draw),
        table,
        [(f"fill {name}", labels[name], scale.percent(totals[name] / gets)) for name in used],
        tips,
    )


def _story(slots: Sequence[Counters]) -> str:
    rates = [hit_rate(slot) for slot in slots if slot["gets"]]
    if not rates:
        return "No gets."
    return f"Hits make up {scale.percent(rates[0])} of the gets of the first slot and {scale.percent(rates[-1])} of those of the last."


def _shown(share: float | None) -> str:
    return "no gets" if share is None else scale.percent(share)


def hit_ratio(
    slots: Sequence[Counters], points: Sequence[Counters], slot_ns: int, kinds: str
) -> Figure:
    """Return a chart of the share of hits in each slot, and in all gets so far."""
    each = [hit_rate(slot) if slot["gets"] else None for slot in slots]
    so_far = [hit_rate(point) if point.get("gets") else None for point in points]

    def draw(width_class: str, width: int) -> Markup:
        frame = Frame(width, 200, len(slots), 1.0)
        lines = [
            tag(
                "path",
                d=steps_path(frame.edges, [None if v is None else frame.y(v) for v in values]),
                class_=mark,
            )
            for values, mark in ((so_far, "line so_far"), (each, "line hits_full"))
        ]
        return frame.drawing(
            f"ratio-{width_class}",
            "Hit ratio over time",
            _story(slots),
            _axes(frame, scale.ticks_of_share(), slot_ns * len(slots)),
            *lines,
            tips="ratio",
        )

    rows = [
        [
            _when(i, slot_ns),
            counted(hits(slot)),
            counted(slot["gets"]),
            _shown(each[i]),
            _shown(so_far[i]),
        ]
        for i, slot in enumerate(slots)
    ]
    tips = [[row[0], f"in this slot: {row[3]}", f"since the start: {row[4]}"] for row in rows]
    table = Table(
        "Hit ratio of each slot",
        [
            ("time", "text"),
            ("hits", "number"),
            ("gets", "number"),
            ("hit ratio", "number"),
            ("since the start", "number"),
        ],
        rows,
    )
    return Figure(
        "ratio",
        "Hit ratio",
        f"Share of gets that were hits{kinds}.",
        drawings(FULL, draw),
        table,
        [
            ("line hits_full", "in each slot", ""),
            ("line so_far", "since the start", _shown(so_far[-1])),
        ],
        tips,
    )


def _levels(point: Counters, ns: int, shmem: bool) -> list[str]:
    """Return a row of the table: the time, and the levels at that time."""
    of_index = [] if shmem else ["entries", "index_entries"]
    return [
        scale.seconds_text(ns),
        *(bytes_text(point.get(name, 0)) for name in ("storage_bytes", "stored_bytes")),
        *(counted(point.get(name, 0)) for name in of_index),
    ]


def storage(points: Sequence[Counters], slot_ns: int, shmem: bool) -> Figure:
    """Return a chart of the storage size and the part that holds entries or, for page caches, the
    part that can serve gets."""
    what, used, whose = (
        ("caches", "valid", "PEs and contexts")
        if shmem
        else ("storage", "in use", "ranks and windows")
    )
    size, stored = (
        [point.get(name, 0) for point in points] for name in ("storage_bytes", "stored_bytes")
    )
    # At the end windows may have been freed, and nothing would be left to tell of.
    most_size, most_stored = bytes_text(max(size)), bytes_text(max(stored))
    y_ticks = scale.ticks_of_bytes(max(*size, *stored))

    def draw(width_class: str, width: int) -> Markup:
        frame = Frame(width, 200, len(points), y_ticks[-1][0])
        inside = [frame.y(v) for v in stored]
        marks = [
            tag(
                "path",
                d=steps_path(frame.edges, inside, [frame.y(0)] * len(points)),
                class_="fill stored",
            ),
            tag("path", d=steps_path(frame.edges, [frame.y(v) for v in size]), class_="line size"),
        ]
        return frame.drawing(
            f"storage-{width_class}",
            f"{what.capitalize()} over time",
            f"At most {most_size}, and at most {most_stored} {used}.",
            _axes(frame, y_ticks, slot_ns * len(points)),
            *marks,
            tips="storage",
        )

    rows = [_levels(point, (i + 1) * slot_ns, shmem) for i, point in enumerate(points)]
    tips = [
        [
            f"at {row[0]}",
            f"{what}: {row[1]}",
            f"{used}: {row[2]}",
            *([] if shmem else [f"entries: {row[3]}", f"room in the index: {row[4]}"]),
        ]
        for row in rows
    ]
    table = Table(
        "Caches at the end of each slot" if shmem else "Storage and index at the end of each slot",
        [
            ("time", "text"),
            (what, "number"),
            (used, "number"),
            *([] if shmem else [("entries", "number"), ("index has room for", "number")]),
        ],
        rows,
    )
    return Figure(
        "storage",
        what.capitalize(),
        f"Bytes at the end of each slot, all {whose} together."
        + (" Valid data is what no acquire has dropped since it was read." if shmem else ""),
        drawings(FULL, draw),
        table,
        [
            ("line size", f"size of the {what}, at most", most_size),
            ("fill stored", f"{used if shmem else 'in use by entries'}, at most", most_stored),
        ],
        tips,
    )


def section(document: Report) -> Section:
    timeline = (document.get("details") or {}).get("timeline") or {}
    points, slot_ns = timeline.get("points") or [], timeline.get("slot_ns", 0)
    part = Section("time", "Over time")
    if not points or slot_ns <= 0:
        part.missing = MISSING
        return part
    shmem = api(document) == "OpenSHMEM"
    types = access_types(document)
    slots = slots_of(points, types)
    part.figures = [
        accesses(slots, slot_ns, types, f"all {processes(document)[1]}"),
        hit_ratio(slots, points, slot_ns, "" if shmem else " (full, pending or partial)"),
        storage(points, slot_ns, shmem),
    ]
    return part
