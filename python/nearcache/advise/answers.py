# SPDX-License-Identifier: BSD-3-Clause
"""The JSON answers of nearcache-simulate, as far as advice reads them (written by src/simulate,
described in docs/trace.md)."""

from __future__ import annotations

from typing import Optional, TypedDict


class Price(TypedDict):
    """The cost of a get of n bytes: latency_ns + ns_per_byte * n."""

    latency_ns: float
    ns_per_byte: float


# What gets cost. `hit` is what the library takes a hit to cost. `from` is `trace`, `model` or
# `assumed`. `measured` and `least` (the quickest gets) are present if the cost was measured.
Cost = TypedDict(
    "Cost",
    {
        "latency_ns": float,
        "ns_per_byte": float,
        "hit": Price,
        "from": str,
        "samples": int,
        "measured": Optional[Price],
        "least": Optional[Price],
    },
)


class Trace(TypedDict):
    """The trace of one rank."""

    host: str
    program: str
    modelled: str  # the network model; empty if the network was real
    rank: int
    ranks: int
    dropped: int  # number of records
    cut_short: bool


class Example(TypedDict):
    """A get that would have been served stale data."""

    reader: int
    target: int
    writer: int
    displacement: int
    bytes: int
    stored_by_owner: bool


class Rule(TypedDict):
    """What one mode would have done in a window."""

    hits: int
    stale: int  # hits on stale data
    invalidations: int
    example: Example | None


class SafetyWindow(TypedDict):
    id: int
    name: str
    mode: str
    ranks: int
    traced_ranks: int
    gets: int
    bytes: int
    own_gets: int
    puts: int
    stores: int
    writes_while_read: int
    transparent: Rule
    user: Rule
    always: Rule


class Safety(TypedDict):
    """The answer to --safety."""

    cost: Cost
    traces: list[Trace]
    windows: list[SafetyWindow]


class Span(TypedDict):
    first_ns: int
    last_ns: int


class SummaryWindow(TypedDict):
    id: int
    gets: int
    outcomes: dict[str, int]  # what became of them in the run


class Summary(TypedDict):
    """The answer to --summary."""

    span: Span | None
    windows: list[SummaryWindow]


class Point(TypedDict):
    """Results for one storage size per rank; shares are 0..1."""

    storage_bytes: int
    cost_saved: float
    hit_ratio: float
    byte_hit_ratio: float


class CurveWindow(TypedDict):
    id: int
    ranks: int
    gets: int
    bytes: int
    distinct_keys: int
    distinct_bytes: int
    stored_bytes: int  # their size in storage, which is allocated in granules
    points: list[Point]


class Curve(TypedDict):
    """The answer to --curve."""

    windows: list[CurveWindow]


class ReplayedWindow(TypedDict):
    id: int
    hits_full: int
    hits_pending: int
    hits_partial: int
    hit_bytes: int
    hits_kept: int  # mode coherent: hits across acquires
    validations: int
    hits_of_others: int  # of the hits: on data fetched by another rank of the node


class Row(TypedDict, total=False):
    windows: list[ReplayedWindow]  # absent if no window was traced


class Replay(TypedDict):
    """The answer to a simulation."""

    rows: list[Row]


# Costs of OpenSHMEM operations, without the slowest fiftieth.
PageCost = TypedDict(
    "PageCost",
    {"latency_ns": float, "ns_per_byte": float, "put_ns": float, "quiet_ns": float, "from": str},
)


class PageRow(TypedDict):
    """Results for one cache size in bytes."""

    storage_bytes: int
    ns: float
    ns_with_slowest: float
    hits: int
    joined_puts: int


class PageStudy(TypedDict):
    """The answer to a simulation of the page cache."""

    cost: PageCost
    traces: list[Trace]
    rows: list[PageRow]
    gets: int
    puts: int
    uncached_ns: float  # without the slowest fiftieth of the operations
    uncached_ns_with_slowest: float  # the same if costs were not measured
