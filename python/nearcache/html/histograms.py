# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of the sizes of gets and of how often keys are requested (the paper's Fig. 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from ..report_counts import HITS_ARE_ESTIMATES, api
from ..report_parts import Details, Report, Reuse, ReuseClass, Size
from . import bars, scale
from .parts import HALF, Figure, Section, Table, counted, drawings
from .svg import Ticks


def _with_those_between(classes: Iterable[int]) -> list[int]:
    """Return the classes and the empty ones between them, ascending: classes are powers of two, and
    0."""
    known = sorted(classes)
    if any(value < 0 or value & (value - 1) for value in known):
        raise ValueError(f"classes {known} are not powers of two")
    found = known[:1] if known[0] == 0 else []
    at = next((value for value in known if value), 0)
    while at and at <= known[-1]:
        found.append(at)
        at *= 2
    return found


def sizes(found: Sequence[Size]) -> Figure:
    by_class = {row["bytes"]: row for row in found}
    rows = [
        by_class.get(at, Size(bytes=at, gets=0, hits=0)) for at in _with_those_between(by_class)
    ]
    labels = [scale.whole_bytes(row["bytes"]) for row in rows]
    hits = [row["hits"] for row in rows]
    others = [max(0, row["gets"] - row["hits"]) for row in rows]
    y_ticks = scale.ticks(max(row["gets"] for row in rows))
    gets = sum(row["gets"] for row in rows)
    most = max(rows, key=lambda row: row["gets"])
    story = f"Most gets, {scale.percent(most['gets'] / gets if gets else 0)}, have at most {scale.whole_bytes(most['bytes'])} and more than half of that."

    def draw(width_class: str, width: int) -> Markup:
        return bars.chart(
            "sizes",
            width_class,
            width,
            "Gets by size",
            story,
            y_ticks,
            labels,
            lambda frame: bars.stacked(frame, [("bar hits_full", hits), ("bar other", others)]),
        )

    cells = [
        [
            label,
            counted(row["gets"]),
            counted(row["hits"]),
            scale.percent(row["hits"] / row["gets"]) if row["gets"] else "-",
        ]
        for label, row in zip(labels, rows)
    ]
    tips = [[f"up to {row[0]}", f"{row[1]} gets", f"{row[2]} hits ({row[3]})"] for row in cells]
    return Figure(
        "sizes",
        "Sizes of gets",
        "Gets by size; each class holds the sizes up to its label and above half of it.",
        drawings(HALF, draw),
        Table(
            "Gets by size",
            [
                ("size up to", "text"),
                ("gets", "number"),
                ("hits", "number"),
                ("hit ratio", "number"),
            ],
            cells,
        ),
        [
            ("bar hits_full", "hits", scale.percent(sum(hits) / gets) if gets else ""),
            ("bar other", "other gets", ""),
        ],
        tips,
    )


def repeats(classes: Sequence[ReuseClass]) -> float | None:
    """Return the share of gets that repeat an earlier request, 0..1; None without gets."""
    gets = sum(row["gets"] for row in classes)
    return max(0.0, 1 - sum(row["keys"] for row in classes) / gets) if gets else None


def reuse(part: Reuse) -> Figure:
    by_class = {row["times"]: row for row in part["classes"]}
    rows = [
        by_class.get(at, ReuseClass(times=at, keys=0, gets=0))
        for at in _with_those_between(by_class)
    ]
    keys, gets = sum(row["keys"] for row in rows) or 1, sum(row["gets"] for row in rows) or 1
    labels = [scale.class_text(row["times"]) for row in rows]
    shares = [[row["keys"] / keys for row in rows], [row["gets"] / gets for row in rows]]
    once = next((row["keys"] for row in rows if row["times"] == 1), 0) / keys
    story = (
        f"{scale.percent(once)} of the keys were asked for once by a rank; {scale.percent(repeats(rows) or 0)} of the gets "
        f"repeat an earlier one of the same rank."
    )
    y_ticks = _share_ticks(max(max(values) for values in shares))

    def draw(width_class: str, width: int) -> Markup:
        return bars.chart(
            "reuse",
            width_class,
            width,
            "Reuse of keys",
            story,
            y_ticks,
            labels,
            lambda frame: bars.beside(frame, [("bar keys", shares[0]), ("bar gets", shares[1])]),
        )

    cells = [
        [label, counted(row["keys"]), scale.percent(k), counted(row["gets"]), scale.percent(g)]
        for label, row, k, g in zip(labels, rows, *shares)
    ]
    tips = [
        [f"asked for {row[0]} times", f"keys: {row[1]} ({row[2]})", f"gets: {row[3]} ({row[4]})"]
        for row in cells
    ]
    sampled = part.get("sampled", 1)
    about = "How often a rank asks for the same key (place in a window): share of the keys, and of the gets that ask for them."
    if sampled < 1:
        about += f" Estimated from {100 * sampled:.2g}% of the keys."
    columns = [
        ("asked for, times", "text"),
        ("keys", "number"),
        ("of keys", "number"),
        ("gets", "number"),
        ("of gets", "number"),
    ]
    return Figure(
        "reuse",
        "Reuse",
        f"{about} {story}",
        drawings(HALF, draw),
        Table("Keys by how often a rank asks for them", columns, cells),
        [("bar keys", "share of keys", ""), ("bar gets", "share of gets", "")],
        tips,
    )


def _share_ticks(top: float) -> Ticks:
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.25) if step * 5 >= top or step == 0.25)
    return [
        (i * step, f"{round(100 * i * step)}%")
        for i in range(min(int(top / step - 1e-9) + 2, round(1 / step) + 1))
    ]


def section(document: Report) -> Section:
    """Return the histograms of sizes and of reuse, as far as the report has them. Page caches have
    no keys."""
    details: Details = document.get("details") or {}
    shmem = api(document) == "OpenSHMEM"
    part = Section("locality", "Sizes" if shmem else "Sizes and reuse")
    rows, again = details.get("sizes"), details.get("reuse") or Reuse()
    if rows:
        part.figures.append(sizes(rows))
        if shmem:
            part.words = [HITS_ARE_ESTIMATES]
    if again.get("classes"):
        part.figures.append(reuse(again))
    absent = [
        name
        for name, there in (
            ("sizes of gets", rows),
            ("reuse of keys", shmem or again.get("classes")),
        )
        if not there
    ]
    part.missing = " and ".join(absent)
    return part
