# SPDX-License-Identifier: BSD-3-Clause
"""What is advised: for a program, for each of its windows, and what to set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .answers import Cost

# The mode of windows for which nothing is set: it needs no promise and is safe in any run, so the
# others are compared with it.
DEFAULT = "coherent"
PROMISES = ("always", "user")


@dataclass
class CoherentAdvice:
    """What mode coherent does in a window, at best."""

    hits: int
    hits_kept: int  # across acquires
    validations: int
    saved_seconds: float  # a rank


@dataclass
class SharedAdvice:
    """What one cache for the ranks of a node does in a window (option share)."""

    mode: str
    ranks: int  # of the host that has the most
    helps: bool  # more than a cache for each
    hits: int
    hits_of_others: int  # on what another rank had fetched
    saved_seconds: float  # a rank; what hits there cost more is counted
    saved_seconds_least: float
    storage_bytes: int  # a rank


@dataclass
class WindowAdvice:
    id: int
    mode: str  # recommended: off, transparent, coherent, user or always
    helps: bool
    saved_seconds: float  # a rank of the window, mean
    reasons: list[str]  # sentences, the most important first
    saved_seconds_least: float = 0.0  # the same if gets cost what the quickest of them took
    ranks: int = 0  # of the window, with a trace
    gets: int = 0  # of other ranks' memory
    own_gets: int = 0  # of the rank's own, which needs no cache
    repeats: float = 0.0  # share of the gets
    undecided: bool = False  # would depend on what a get costs, which is not known
    now: str = ""  # the mode it had in this run
    danger: str = ""  # the mode it had would have served old data
    storage_bytes: int = 0  # a rank; 0 where nothing is stored
    index_entries: int = 0
    invalidations: int = 0  # mode user: how often, by the rank that needs it most
    coherent: CoherentAdvice | None = None  # none where no gets are replayed
    # none where no host has two ranks, or nothing vouches for it
    shared: SharedAdvice | None = None
    apart: bool = False  # by the ranks' own caches only: what another one read may be older
    # (storage in bytes a rank, share of the get cost that is saved)
    curve: list[tuple[int, float]] = field(default_factory=list)

    @property
    def sets_mode(self) -> bool:
        """Return whether a mode must be set: the default need not be, unless the program or the
        environment has chosen another."""
        return self.mode != DEFAULT or self.now not in ("", DEFAULT)


@dataclass
class Advice:
    verdict: str  # helps, no, or unknown: it depends on what a get costs, or nothing was seen of the windows
    helps: bool
    saved_seconds: float  # a rank, mean over all ranks, also those that have no part in a window
    saved_seconds_least: float
    # of the run, were no get cached; with a given cost of gets, what it would take there
    wall_seconds: float
    get_seconds: float  # a rank: what the gets cost in this run, were none cached
    run_seconds: float  # of the run, whose own cache has served this share of the gets:
    served: float
    cost: Cost
    complete: bool  # every rank's trace is there and whole
    program: str
    ranks: int
    modelled: str
    windows: list[WindowAdvice]
    left_alone: list[str]  # reasons why Nearcache did not touch other windows
    # for all windows, if they agree: option name to value; also empty if there is nothing to set
    settings: dict[str, str | int]
    notes: list[str]

    def as_json(self) -> dict[str, Any]:
        return {"format": "nearcache-advice", "version": 1, **asdict(self)}


def settings_of(windows: Sequence[WindowAdvice]) -> dict[str, str | int]:
    """Return options for the whole program, if all windows that are worth caching want the same
    mode and it does the others no harm."""
    helped = [window for window in windows if window.helps]
    if not helped or len({window.mode for window in helped}) > 1:
        return {}
    mode = helped[0].mode
    if mode in PROMISES and any(not window.helps and window.gets for window in windows):
        return {}
    settings: dict[str, str | int] = {}
    if any(window.sets_mode for window in helped):
        settings["mode"] = mode
    if any(window.storage_bytes for window in helped):
        settings["storage"] = max(window.storage_bytes for window in helped)
        settings["index"] = max(window.index_entries for window in helped)
    if all(window.shared and window.shared.helps for window in helped):
        settings["share"] = "node"
    elif any(window.shared and window.shared.helps for window in helped):
        return {}
    elif any(window.apart for window in helped):
        settings["share"] = "off"
    return settings
