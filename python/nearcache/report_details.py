"""The parts of a report's `details` (docs/report.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class Timeline(TypedDict, total=False):
    slot_ns: int
    # at the end of each slot, by name: counts since the start, and levels
    points: list[Mapping[str, int]]


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
