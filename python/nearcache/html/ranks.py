# SPDX-License-Identifier: BSD-3-Clause
"""How ranks differ as origins of gets, and where their gets go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from ..report_counts import HITS_ARE_ESTIMATES, api, bytes_text, hit_rate, processes
from ..report_parts import Report, Target
from . import bars, scale
from .parts import HALF, Figure, Section, Table, counted, drawings
from .svg import Ticks

BARS = 32  # more ranks share bars: at 400 px, single bars would be thinner than their outlines
EVEN = 1.1  # times the mean: below this, concentration is not worth a sentence
LISTED = 256  # targets that a report has at most (src/telemetry/report_details.cpp)


def _groups(
    values: Sequence[float], names: tuple[str, str]
) -> list[tuple[str, str, Sequence[float]]]:
    """Group the values of neighbouring ranks into at most BARS groups: (label, name, values)."""
    one, several = names
    size = -(-len(values) // BARS)
    groups = [values[at : at + size] for at in range(0, len(values), size)]
    return [
        (
            str(i * size),
            f"{one} {i * size}"
            if len(group) == 1
            else f"{several} {i * size} to {i * size + len(group) - 1}",
            group,
        )
        for i, group in enumerate(groups)
    ]


def per_rank(
    name: str,
    title: str,
    names: tuple[str, str],
    values: Sequence[float],
    text: Callable[[float], str],
    ticks: Callable[[float], Ticks],
) -> Figure:
    """Draw the mean of each rank or group of ranks as bars, with the range within each group."""
    groups = _groups(values, names)
    means = [sum(group) / len(group) for _, _, group in groups]
    lows, highs = ([of(group) for _, _, group in groups] for of in (min, max))
    y_ticks = ticks(max(values))
    story = f"From {text(min(values))} to {text(max(values))}, {text(sum(values) / len(values))} in the mean."

    def draw(width_class: str, width: int) -> Markup:
        return bars.chart(
            name,
            width_class,
            width,
            title,
            story,
            y_ticks,
            [label for label, _, _ in groups],
            lambda frame: (
                bars.stacked(frame, [("bar rank", means)]) + bars.ranges(frame, lows, highs)
            ),
            height=190,
        )

    cells = [
        [who, text(low), text(mean), text(high)]
        for (_, who, _), low, mean, high in zip(groups, lows, means, highs)
    ]
    tips = [
        [row[0], row[2] if row[1] == row[3] else f"{row[1]} to {row[3]}, mean {row[2]}"]
        for row in cells
    ]
    table = Table(
        title, [(names[1], "text"), ("min", "number"), ("mean", "number"), ("max", "number")], cells
    )
    return Figure(name, title, f"By {names[0]}. {story}", drawings(HALF, draw), table, [], tips)


def spread_table(document: Report) -> Table:
    """Return a table of the smallest, mean and largest value over ranks."""
    rows = []
    for name, label, text in (
        ("gets", "gets", counts),
        ("hits_full", "hits, full", counts),
        ("bytes_requested", "bytes requested", bytes_text),
        ("bytes_from_cache", "bytes from the cache", bytes_text),
        ("evictions", "evictions", counts),
        ("remote_ns", "time of remote gets", scale.seconds_text),
        ("saved_ns", "time saved (estimated)", scale.seconds_text),
        ("lost_ns", "time lost (estimated)", scale.seconds_text),
    ):
        spread = document["spread"].get(name)
        if spread and (name != "lost_ns" or spread["max"]):
            rows.append([label, *(text(spread[of]) for of in ("min", "mean", "max"))])
    wall = document["wall_seconds"]
    rows.append(["run time", *(f"{wall[of]:.3f} s" for of in ("min", "mean", "max"))])
    return Table(
        f"Smallest, mean and largest {processes(document)[0]}",
        [("", "text"), ("min", "number"), ("mean", "number"), ("max", "number")],
        rows,
    )


def counts(value: float) -> str:
    return f"{value:,.0f}"


def spread(document: Report) -> Section:
    ranks = document.get("per_rank") or []
    names = processes(document)
    one, several = names
    part = Section("ranks", f"Spread over {several}", tables=[spread_table(document)])
    if not ranks:
        part.missing = f"figures of each {one}"
        return part
    counters = [rank["counters"] for rank in ranks]
    gets = [c.get("gets", 0) for c in counters]
    part.figures = [
        per_rank("rank-gets", f"Gets of each {one}", names, gets, counts, scale.ticks),
        per_rank(
            "rank-ratio",
            f"Hit ratio of each {one}",
            names,
            [hit_rate(c) for c in counters],
            scale.percent,
            lambda top: scale.ticks_of_share(),
        ),
    ]
    return part


def _concentration(most: Target, gets: int, count: int, one: str) -> str:
    """Say how evenly gets are spread over `count` targets, which are too many to be listed if they
    are more than LISTED."""
    share = most["gets"] / gets
    if count == 1:
        return f"All gets go to {one} {most['rank']}."
    targets = f"{count} targets" if count <= LISTED else f"more than {LISTED} targets"
    if share * count < EVEN:
        return f"The gets are spread evenly over {targets}."
    receives = (
        f"{one[:1].upper()}{one[1:]} {most['rank']} receives the most gets: {scale.percent(share)}"
    )
    if count > LISTED:
        return f"{receives}; there are {targets}."
    return f"{receives}; the mean over the {targets} is {scale.percent(1 / count)}."


def targets(document: Report) -> Section:
    """Return where gets go, the targets with most gets first."""
    part = Section("targets", "Targets")
    one = processes(document)[0]
    rows = (document.get("details") or {}).get("targets") or []
    if not rows:
        part.missing = "gets by target"
        return part
    rows = sorted(rows, key=lambda row: (-row["gets"], row["rank"]))
    gets, count = sum(row["gets"] for row in rows), len(rows)
    cut = count >= LISTED and document["ranks"] > LISTED
    if cut:  # how many targets there were is not known: at most all ranks
        totals, count = document["totals"], document["ranks"]
        gets = max(gets, totals.get("gets", 0) - totals.get("own_gets", 0))
    gets = gets or 1
    cells = [
        [
            str(row["rank"]),
            counted(row["gets"]),
            scale.percent(row["gets"] / gets),
            scale.percent(row["hits"] / row["gets"]) if row["gets"] else "-",
            bytes_text(row["bytes"]),
            bytes_text(row["bytes_from_cache"]),
        ]
        for row in rows
    ]
    columns = [
        ("target", "text"),
        ("gets", "number"),
        ("share", "number"),
        ("hit ratio", "number"),
        ("bytes asked for", "number"),
        ("from the cache", "number"),
    ]
    which = "next" if cut else "other"
    part.show(f"Gets by target {one}, most first", columns, cells, "targets", which)
    part.words = [_concentration(rows[0], gets, count, one)]
    if api(document) == "OpenSHMEM":
        part.words.append(HITS_ARE_ESTIMATES)
    if cut:
        part.words.append(f"Only the {LISTED} targets with the most gets are listed.")
    return part
