# SPDX-License-Identifier: BSD-3-Clause
"""The report as report_file loads it, and its parts (docs/report.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

# Counts and levels, by the names of counters.def.
Counters = Mapping[str, int]


class Spread(TypedDict):
    """A figure over ranks."""

    min: float
    mean: float
    max: float


class Rank(TypedDict):
    rank: int
    wall_seconds: float
    counters: Counters


class Sharing(TypedDict):
    """How many ranks of a window share caches with others of their node, and how many caches that
    makes."""

    ranks: int
    caches: int


class WindowParts(TypedDict):
    """What a window has in every report."""

    id: int  # below 0: all that were left alone for the reason in `bypass`
    mode: str
    policy: str
    ranks: int
    counters: Counters


class Window(WindowParts, total=False):
    """A window; of an OpenSHMEM program, a context."""

    name: str
    # Why it was not cached, was not kept across acquires, or why some rank had its own cache.
    bypass: str | None
    incoherent: str | None
    unshared: str | None
    sharing: Sharing | None


class Verdict(TypedDict):
    helped: bool
    saved_seconds: float  # per rank, mean
    text: str


class Timeline(TypedDict, total=False):
    slot_ns: int
    # at the end of each slot, by name: counts since the start, and levels
    points: list[Counters]


class Size(TypedDict):
    """Gets of up to this many bytes, and of more than half as many."""

    bytes: int
    gets: int
    hits: int


class ReuseClass(TypedDict):
    """Keys that a rank requested at least this many times, and less than twice as often."""

    times: int
    keys: int
    gets: int


class Reuse(TypedDict, total=False):
    sampled: float
    classes: list[ReuseClass]


class Target(TypedDict):
    rank: int
    gets: int
    hits: int
    bytes: int
    bytes_from_cache: int


class Adaptation(TypedDict):
    rank: int
    window: int
    ns: int
    index_entries: int
    storage_bytes: int


class SymmetricObject(TypedDict):
    name: str
    bytes: int  # on one PE
    gets: int
    hits: int
    bypassed: int
    bytes_from_network: int
    bytes_to_network: int


class Acquire(TypedDict):
    call: str
    calls: int
    bytes_dropped: int


class Details(TypedDict, total=False):
    timeline: Timeline
    sizes: list[Size]
    targets: list[Target]
    reuse: Reuse  # of MPI programs
    adaptations: list[Adaptation]
    objects: list[SymmetricObject]  # of OpenSHMEM programs
    acquires: list[Acquire]


class ReportParts(TypedDict):
    """What every report has (report_file.REQUIRED)."""

    format: str
    version: int
    ranks: int
    totals: Counters
    spread: Mapping[str, Spread]
    wall_seconds: Spread
    windows: list[Window]
    verdict: Verdict


class Report(ReportParts, total=False):
    """A report. What its version lacks is absent or null; what was not known is empty."""

    nearcache: str
    api: str
    mpi: str
    host: str
    program: str
    command: str
    started: str
    job: str
    threads: str
    nodes: int
    modelled: str | None
    options: Mapping[str, str]
    per_rank: list[Rank]
    details: Details | None
