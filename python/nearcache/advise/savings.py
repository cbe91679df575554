# SPDX-License-Identifier: BSD-3-Clause
"""What the hits of a window save in each mode, as the library's engine simulates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .advice import DEFAULT
from .answers import Cost, Price, Replay, ReplayedWindow, SafetyWindow
from .estimates import VERSIONS_BYTES, cost_ns, gain_ns, hits_of
from .safety import rule_of

if TYPE_CHECKING:
    from .measure import Evidence
    from .traced_run import TracedRun


def windows_of(replay: Replay | None) -> dict[int, ReplayedWindow]:
    """Return the windows of a replay by id; none if it was not made, or no window was traced."""
    rows = replay["rows"][0].get("windows", []) if replay else []
    return {window["id"]: window for window in rows}


class Savings:
    def __init__(self, evidence: Evidence, run: TracedRun) -> None:
        self.run = run
        self.cost, self.hit = evidence.safety["cost"], evidence.safety["cost"]["hit"]
        # Other load on the machine prolongs most gets and the run, but not the quickest gets. What
        # pays off by these pays off on an idle machine, too.
        self.least: Cost | Price = (
            self.cost["least"] if self.cost["from"] == "trace" and self.cost["least"] else self.cost
        )
        self.curves = {window["id"]: window for window in evidence.curve["windows"]}
        self.transparent = windows_of(evidence.transparent)
        self.quiet, self.coherent = windows_of(evidence.quiet), windows_of(evidence.coherent)

    def saved_ns(self, window: SafetyWindow, mode: str, cost: Cost | Price | None = None) -> float:
        """Return the ns saved by hits over all ranks, as the library's engine simulates them with
        room for everything."""
        cost = cost or self.cost
        row = self.coherent_row(window)
        if mode == DEFAULT and row:
            return self.coherent_ns(row, cost)
        if mode in (DEFAULT, "transparent"):
            return self.saved_by(self.transparent_row(window), cost)
        curve = self.curves.get(window["id"])
        if not curve or not curve["points"]:
            return 0.0
        best = max(curve["points"], key=lambda point: point["cost_saved"])
        hits, size = best["hit_ratio"] * curve["gets"], best["byte_hit_ratio"] * curve["bytes"]
        always = gain_ns(cost, self.hit, hits, size)
        # Of these hits, `user` keeps those that survive its invalidations.
        return always * (rule_of(window, mode)["hits"] / max(1, window["always"]["hits"]))

    def coherent_ns(self, row: ReplayedWindow, cost: Cost | Price) -> float:
        looks = row["validations"]
        return self.saved_by(row, cost) - cost_ns(cost, looks, looks * VERSIONS_BYTES)

    def saved_by(self, row: ReplayedWindow | None, cost: Cost | Price | None = None) -> float:
        hits, size = hits_of(row), row["hit_bytes"] if row else 0
        return gain_ns(cost or self.cost, self.hit, hits, size)

    def transparent_row(self, window: SafetyWindow) -> ReplayedWindow | None:
        """Return the replay of what is certainly saved or, if that is negligible, of what quiet
        phases save."""
        certain = self.transparent.get(window["id"])
        return (
            certain
            if hits_of(certain) >= 0.01 * window["gets"]
            else self.quiet.get(window["id"], certain)
        )

    def coherent_row(self, window: SafetyWindow) -> ReplayedWindow | None:
        """Return the replay of mode coherent.

        None if traces are missing: then the writes are not known, and what `transparent` does is
        the lower bound.
        """
        return self.coherent.get(window["id"]) if self.run.complete(window) else None

    def default_row(self, window: SafetyWindow) -> ReplayedWindow | None:
        return self.coherent_row(window) or self.transparent_row(window)
