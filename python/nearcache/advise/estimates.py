# SPDX-License-Identifier: BSD-3-Clause
"""What gets and hits cost, which savings matter, and how much storage and index is enough."""

from __future__ import annotations

from ..values import MOST_INDEX, MOST_STORAGE
from .answers import Cost, CurveWindow, Price, ReplayedWindow

# What a hit costs beyond the library's figure for it (src/cache/get/cost_model.h), in ns: its share
# of the calls for MPI's progress (265 ns every 4 us at most), and what a cache that ranks share adds
# (docs/performance.md).
PROGRESS_NS, SHARED_HIT_NS = 30.0, 10.0
ENOUGH = 0.95  # storage is enough when it saves this share of what any storage could
ENTRY_ROOM = 1.25  # index entries per key, so that the cuckoo index is not full
LEAST_STORAGE, LEAST_INDEX = 64 << 10, 512
VERSIONS_BYTES = 1024  # what a validation of mode `coherent` reads of a target
LEAST_SHARE = 0.01  # of the run: less cannot be told from noise
LEAST_SECONDS = 0.001  # a rank
CLEARLY_MORE = 1.2  # times what a simpler way saves, before another takes its place


def cost_ns(cost: Cost | Price, gets: float, size: float) -> float:
    return gets * cost["latency_ns"] + size * cost["ns_per_byte"]


def hit_ns(hit: Price, hits: float, size: float) -> float:
    return cost_ns(hit, hits, size) + hits * PROGRESS_NS


def is_worthwhile(saved: float, saved_least: float, wall: float) -> bool:
    """Return whether a saving, in seconds of a rank, is worth having.

    Load on the machine prolongs the run, and the mean get in proportion, but not the quickest get.
    """
    return saved_least >= LEAST_SECONDS and saved >= LEAST_SHARE * wall


def power_of_two(value: int, least: int) -> int:
    power = least
    while power < value:
        power *= 2
    return power


def gain_ns(cost: Cost | Price, hit: Price, hits: float, size: float) -> float:
    """Return what this many hits save, which serve `size` bytes in total."""
    return cost_ns(cost, hits, size) - hit_ns(hit, hits, size)


def hits_of(row: ReplayedWindow | None) -> int:
    """Return the hits of a window in a replay; `row` is None if it has no gets."""
    return row["hits_full"] + row["hits_pending"] + row["hits_partial"] if row else 0


def storage_of(size: int) -> int:
    """Return the value of option `storage` for this many bytes."""
    return min(power_of_two(size, LEAST_STORAGE), MOST_STORAGE)


def storage_for(curve: CurveWindow) -> int:
    """Return the smallest storage of a rank, a power of two, that saves ENOUGH of what can be
    saved."""
    best = max((point["cost_saved"] for point in curve["points"]), default=0)
    for point in curve["points"]:
        if point["cost_saved"] >= ENOUGH * best:
            return storage_of(point["storage_bytes"])
    return LEAST_STORAGE


def index_for(window: CurveWindow, storage: int) -> int:
    """Return the index entries needed for what fits into the storage."""
    keys = window["distinct_keys"] / max(1, window["ranks"])
    fits = min(1.0, storage * max(1, window["ranks"]) / max(1, window["stored_bytes"]))
    return min(power_of_two(int(keys * fits * ENTRY_ROOM), LEAST_INDEX), MOST_INDEX)
