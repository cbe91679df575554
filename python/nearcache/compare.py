# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache compare A B`: two reports of runs, or two results of bench/run, side by side."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Union, cast

import click
from rich.console import Console
from rich.text import Text

from . import common_options, report_file
from .errors import Command, NearcacheError
from .plain import plain
from .report_counts import (
    TRAFFIC,
    Sum,
    access_types,
    api,
    bytes_text,
    hit_rate,
    processes,
    saved_ns,
    shares,
    told_apart,
)
from .report_parts import Report
from .report_text import _grid

if TYPE_CHECKING:
    from typing import TypeGuard


class Median(TypedDict):
    median: float
    ci95: tuple[float, float]  # its confidence interval


Measure = Union[float, Median]


class Bench(TypedDict, total=False):
    """A result of bench/run, as far as it is compared."""

    format: str
    name: str
    quick: bool
    context: Mapping[str, object]
    results: list[Mapping[str, object]]
    summary: Mapping[str, str | Measure]


class Loaded(NamedTuple):
    """A document, which is one of the two."""

    report: Report | None
    bench: Bench | None


class Row(NamedTuple):
    """One figure of both documents as text, and the ratio B over A."""

    label: str
    first: str
    second: str
    ratio: str


class Compared(NamedTuple):
    """The differences between the settings of the two runs, and their figures."""

    differs: list[str]
    rows: list[Row]


BENCH = "nearcache-bench"
# Words of a bench result's row that are no part of its name: the winner of that measurement, and
# what is said of its figures.
WINNER = "best"
UNNAMED = {WINNER, "goal", "note"}
NOTHING = "-"  # in place of a figure that there is not
# Settings that make two runs hard to compare if they differ.
SETTINGS = {
    "program": "program",
    "host": "host",
    "mpi": "library",
    "ranks": "ranks",
    "modelled": "network model",
    "nearcache": "Nearcache",
}


def ratio(first: float, second: float) -> str:
    """Return B over A as text; empty if A is 0."""
    return f"{second / first:.3g}" if first else ("1" if not second else "-")


def differing(
    names: Mapping[str, str], first: Mapping[str, object], second: Mapping[str, object]
) -> list[str]:
    """Return the settings in which the two differ, as text."""
    return [
        f"{label}: {plain(first.get(name, '-'))} / {plain(second.get(name, '-'))}"
        for name, label in names.items()
        if plain(first.get(name)) != plain(second.get(name))
    ]


def seconds(document: Report, name: str) -> float:
    """Return the mean over ranks of a total, in seconds."""
    return document["totals"].get(name, 0) / max(document["ranks"], 1) / 1e9


def of_reports(first: Report, second: Report) -> Compared:
    """Return (what differs, rows of label, A, B, ratio)."""
    both = (first, second)
    one = processes(first)[0]
    rows = []

    def row(label: str, values: Sequence[float], show: Callable[[float], str]) -> None:
        a, b = values
        rows.append(Row(label, show(a), show(b), ratio(a, b)))

    row(
        "time of the run",
        [each["wall_seconds"]["mean"] for each in both],
        lambda value: f"{value:.3f} s",
    )
    row(
        "hit ratio",
        [hit_rate(each["totals"]) for each in both],
        lambda value: f"{100 * value:.1f}%",
    )
    row(
        f"remote time per {one}",
        [seconds(each, "remote_ns") for each in both],
        lambda value: f"{value:.3f} s",
    )
    row(
        f"saved time per {one} (estimated)",
        [saved_ns(each["totals"]) / max(each["ranks"], 1) / 1e9 for each in both],
        lambda value: f"{value:.3f} s",
    )
    counted = [
        Sum("gets", "gets", False),
        *(
            Sum(each.name, each.label, False)
            for each in access_types(second if shares(second) else first)
        ),
        *TRAFFIC[api(first)],
    ]
    counted += TRAFFIC["coherence"] if api(first) == "MPI" else []
    for name, label, in_bytes in counted:
        values = [told_apart(each["totals"]).get(name, 0) for each in both]
        if any(values):
            row(label, values, bytes_text if in_bytes else "{:,}".format)
    options = {name: name for each in both for name in each.get("options") or {}}
    options.pop("report", None)  # two reports are hardly ever in one file
    said = differing(SETTINGS, first, second) + differing(
        options, first.get("options") or {}, second.get("options") or {}
    )
    return Compared(said, rows)


def measure(value: Measure) -> tuple[float, str, tuple[float, float] | None]:
    """Return (median, its interval as text or "", the interval) of a figure."""
    if isinstance(value, dict):
        low, high = value["ci95"]
        return value["median"], f" [{low:.4g}, {high:.4g}]", (low, high)
    return value, "", None


def is_measure(value: object) -> TypeGuard[Measure]:
    return isinstance(value, float) or isinstance(value, dict) and "median" in value


def compared(label: str, first: Measure, second: Measure) -> Row:
    """Return the row of a figure; marks it if the two intervals do not overlap."""
    (a, a_text, a_range), (b, b_text, b_range) = measure(first), measure(second)
    apart = a_range and b_range and (a_range[1] < b_range[0] or b_range[1] < a_range[0])
    mark = " *" if apart else ""
    return Row(label, f"{a:.4g}{a_text}", f"{b:.4g}{b_text}", ratio(a, b) + mark)


def rows_by_name(result: Bench) -> dict[str, Mapping[str, object]]:
    """Return {name: row}. Words and whole numbers of a row make up its name, with few exceptions;
    all else was measured."""
    named: dict[str, Mapping[str, object]] = {}
    for row in result["results"]:
        named.setdefault(
            " ".join(
                f"{value}" if isinstance(value, str) else f"{name}={value}"
                for name, value in row.items()
                if not is_measure(value) and value != NOTHING and name not in UNNAMED
            ),
            row,
        )
    return named


def of_benches(first: Bench, second: Bench) -> Compared:
    rows = [
        compared(name, value, cast(Measure, second["summary"][name]))  # else it is damaged
        for name, value in first["summary"].items()
        if name in second["summary"]
        and isinstance(value, (int, float, dict))
        and not isinstance(value, bool)
    ]
    others = rows_by_name(second)
    unmatched = 0
    for name, row in rows_by_name(first).items():
        if name not in others:
            unmatched += 1
            continue
        rows += [
            compared(f"{name}: {column}", value, other)
            for column, value in row.items()
            if is_measure(value) and is_measure(other := others[name].get(column))
        ]
        if WINNER in row:
            a, b = (plain(each.get(WINNER, NOTHING)) for each in (row, others[name]))
            rows.append(Row(f"{name}: {WINNER}", a, b, ""))
    said = differing({"name": "measurement", "quick": "quick"}, first, second)
    context = {name: name for name in first.get("context") or {}}
    said += differing(context, first.get("context") or {}, second.get("context") or {})
    if unmatched:
        said.append(f"{unmatched} row{'s' if unmatched > 1 else ''} of A with no counterpart in B")
    return Compared(said, rows)


def load(file: str) -> Loaded:
    document = report_file.read(file)
    if isinstance(document, dict) and document.get("format") == BENCH:
        return Loaded(None, cast(Bench, document))
    return Loaded(report_file.checked(document, report_file.name_of(file)), None)


def damage(error: Exception, documents: Mapping[str, Loaded]) -> NearcacheError:
    """Return the error to raise for one of report_file.DAMAGE: it names the document, by file, that
    cannot even be compared with itself."""
    for file, (report, bench) in documents.items():
        try:
            if report:
                of_reports(report, report)
            elif bench:
                of_benches(bench, bench)
        except report_file.DAMAGE as its:
            kind = "report" if report else "bench result"
            return report_file.damaged(its, f"the {kind} {file}")
    return report_file.damaged(error, " or ".join(documents))


@click.command(cls=Command, short_help="Show two reports, or two bench results, side by side")
@click.argument("first", metavar="A", type=click.Path(dir_okay=False))
@click.argument("second", metavar="B", type=click.Path(dir_okay=False))
@common_options.width
def compare(first: str, second: str, width: int | None) -> None:
    """Show the JSON reports A and B of two runs, or two results of bench/run, side by side: first what they were run with that
    differs, then each figure and B over A. Medians whose 95% intervals do not meet are marked with *.
    """
    if first == second == "-":
        raise NearcacheError("A and B cannot both be standard input")
    left, right = load(first), load(second)
    try:
        if left.bench and right.bench:
            said, rows = of_benches(left.bench, right.bench)
        elif left.report and right.report:
            if api(left.report) != api(right.report):
                raise NearcacheError(
                    f"{first} is of {api(left.report)} and {second} of {api(right.report)}: there is nothing to compare"
                )
            said, rows = of_reports(left.report, right.report)
        else:
            raise NearcacheError(
                f"{first} is a {'bench result' if left.bench else 'report'} and {second} is not: there is nothing to compare"
            )
    except report_file.DAMAGE as error:
        raise damage(error, {first: left, second: right}) from None
    if not rows:
        raise NearcacheError(
            f"{first} and {second} have no figure in common: there is nothing to compare"
        )
    console = Console(width=width or (None if sys.stdout.isatty() else 140), highlight=False)
    console.print(Text(f"A {plain(first)}\nB {plain(second)}"))
    for line in said:
        console.print(Text(plain(f"differs: {line}")))
    console.print()
    table = _grid(("", "left"), ("A", "right"), ("B", "right"), ("B/A", "right"))
    for cells in rows:
        table.add_row(*(Text(plain(cell)) for cell in cells))
    console.print(table)


__all__ = ["compare"]
