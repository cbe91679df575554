# SPDX-License-Identifier: BSD-3-Clause
"""Charts of how the tuner changed index and storage while the program ran."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

from markupsafe import Markup, escape

from ..report_counts import bytes_text, window_label
from ..report_parts import Adaptation, Details, Spread
from . import scale
from .parts import HALF, Figure, Section, Table, counted, drawings
from .svg import Frame, number, steps_path, tag

Key = Literal["storage_bytes", "index_entries"]
Text = Callable[[int], str]

BANDS = 100  # bands on the time axis
MOST_LINES = 8  # with more pairs of rank and window, draw a band and the median


def _powers(values: Sequence[int], text: Text) -> list[tuple[int, str]]:
    """Return ticks at powers of two around the values, at most six: (log2, text)."""
    low, high = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    high = max(high, low + 1)
    step = -(-(high - low) // 5)
    return [(power, text(2**power)) for power in range(low, high + step, step)]


def _stairs(frame: Frame, rows: Sequence[Adaptation], key: Key, low: int, span_ns: int) -> Markup:
    """Draw the sizes of each window on each rank as stairs."""
    series: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for row in rows:
        series.setdefault((row["rank"], row["window"]), []).append(
            (frame.x(BANDS * min(row["ns"] / span_ns, 1)), frame.y(math.log2(row[key]) - low))
        )
    return Markup("").join(
        tag(
            "path",
            d=f"M{number(points[0][0])} {number(points[0][1])}"
            + "".join(f"H{number(x)}V{number(y)}" for x, y in points[1:]),
            class_="steps",
        )
        for points in series.values()
    )


def _by_window(rows: Sequence[Adaptation]) -> dict[tuple[int, int], list[Adaptation]]:
    """Return the adaptations of each window on each rank, in order of time."""
    series: dict[tuple[int, int], list[Adaptation]] = {}
    for row in rows:
        series.setdefault((row["rank"], row["window"]), []).append(row)
    return series


def _quantiles(
    rows: Sequence[Adaptation], key: Key, span_ns: int
) -> list[tuple[float, float, float] | None]:
    """Return the least, median and largest log2 of the sizes at the end of each time band; None
    while there is no size."""
    series = [
        ([row["ns"] for row in rows_of], [math.log2(row[key]) for row in rows_of])
        for rows_of in _by_window(rows).values()
    ]
    found = []
    for band in range(BANDS):
        until = span_ns * (band + 1) / BANDS
        sizes = [
            sizes_of[at - 1] for times, sizes_of in series if (at := bisect_right(times, until)) > 0
        ]
        found.append((min(sizes), median(sizes), max(sizes)) if sizes else None)
    return found


def _band(frame: Frame, found: Sequence[tuple[float, float, float] | None], low: int) -> Markup:
    """Draw the range over all windows on all ranks, and their median."""
    first = next((i for i, at in enumerate(found) if at is not None), BANDS)
    edges = [frame.x(i) for i in range(first, BANDS + 1)]
    least, middle, most = (
        [frame.y(at[which] - low) for at in found[first:] if at is not None] for which in range(3)
    )
    return tag("path", d=steps_path(edges, most, least), class_="band-of-ranks") + tag(
        "path", d=steps_path(edges, middle), class_="line size"
    )


def sizes_over_time(
    name: str, title: str, rows: Sequence[Adaptation], key: Key, span_ns: int, text: Text
) -> Figure:
    """Draw a dot per adaptation on a logarithmic scale, as sizes change by factors."""
    ticks = _powers([row[key] for row in rows], text)
    low = ticks[0][0]
    shifted = [(power - low, label) for power, label in ticks]
    story = f"{len(rows)} adaptations; sizes from {text(min(row[key] for row in rows))} to {text(max(row[key] for row in rows))} of a window on a rank."

    many = len(_by_window(rows)) > MOST_LINES
    found = _quantiles(rows, key, span_ns) if many else []

    def draw(width_class: str, width: int) -> Markup:
        frame = Frame(width, 210, BANDS, shifted[-1][0])
        axes = frame.y_axis(shifted) + frame.x_axis(scale.ticks_of_time(span_ns, BANDS))
        dots = [
            tag(
                "circle",
                tag(
                    "title",
                    escape(
                        f"rank {row['rank']}, window {row['window']}, {scale.seconds_text(row['ns'])}: {text(row[key])}"
                    ),
                ),
                cx=frame.x(BANDS * min(row["ns"] / span_ns, 1)),
                cy=frame.y(math.log2(row[key]) - low),
                r=4,
                class_="dot",
            )
            for row in ([] if many else rows)
        ]
        return frame.drawing(
            f"{name}-{width_class}",
            title,
            story,
            axes,
            _band(frame, found, low) if many else _stairs(frame, rows, key, low, span_ns),
            *dots,
        )

    return Figure(
        name,
        title,
        (
            f"The median of {len(_by_window(rows))} windows on ranks that adapted, and a band from the least to the largest. Logarithmic scale."
            if many
            else "A dot for each adaptation of a window on a rank, at the size that it chose; a line for each window on a rank. Logarithmic scale."
        ),
        drawings(HALF, draw),
        None,
    )


def section(details: Details | None, wall_seconds: Spread) -> Section:
    part = Section("adaptations", "Adaptations")
    rows = (details or {}).get("adaptations")
    if rows is None:
        part.missing = "adaptations over time"
        return part
    if not rows:
        part.words = ["Index and storage kept the sizes that they had at the start."]
        return part
    rows = sorted(rows, key=lambda row: row["ns"])
    span = max(rows[-1]["ns"], int(wall_seconds["max"] * 1e9), 1)
    charts: tuple[tuple[Key, str, str, Text], ...] = (
        ("storage_bytes", "tuned-storage", "Storage after each adaptation", scale.whole_bytes),
        ("index_entries", "tuned-index", "Index after each adaptation", counted),
    )
    for key, name, title, text in charts:
        sized = [row for row in rows if row[key] > 0]
        if sized:
            part.figures.append(sizes_over_time(name, title, sized, key, span, text))
    cells = [
        [
            scale.seconds_text(row["ns"]),
            str(row["rank"]),
            window_label(row["window"]),
            counted(row["index_entries"]),
            bytes_text(row["storage_bytes"]),
        ]
        for row in rows
    ]
    columns = [
        ("time", "text"),
        ("rank", "number"),
        ("window", "text"),
        ("index, entries", "number"),
        ("storage", "number"),
    ]
    part.folded = [
        Table(
            f"All {len(cells)} adaptations" if len(cells) > 1 else "The adaptation", columns, cells
        )
    ]
    return part
