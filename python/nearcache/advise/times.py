# SPDX-License-Identifier: BSD-3-Clause
"""How long the gets of a run and the run itself take if no get is cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .answers import Cost, Price, SafetyWindow
from .estimates import cost_ns, hit_ns
from .measure import span_seconds

if TYPE_CHECKING:
    from .measure import Evidence

SERVED = ("full", "pending")  # outcomes of gets that were not issued


class Times:
    """In the run, some gets were served by its cache, and the others took what was measured."""

    def __init__(self, evidence: Evidence) -> None:
        self.cost = evidence.safety["cost"]
        self.windows = evidence.safety["windows"]
        self.traced = len(evidence.safety["traces"])
        # by window: share of its gets that the cache has served in the run
        self.served = {
            row["id"]: sum(row["outcomes"].get(name, 0) for name in SERVED) / max(1, row["gets"])
            for row in evidence.summary["windows"]
        }
        self.span = span_seconds(evidence.summary)
        self.wall = self.ran = max(self.span, evidence.run_seconds)
        self.scale = 1.0  # of the measured cost of gets
        self.gets = self._settle()  # seconds a rank

    def share_served(self, window: SafetyWindow) -> float:
        return self.served.get(window["id"], 0.0)

    def _settle(self) -> float:
        """Return the seconds that all gets take per rank, and make the time of the run that of a
        run without a cache."""

        def a_rank(of: Callable[[SafetyWindow], float]) -> float:
            return 1e-9 * sum(map(of, self.windows)) / max(1, self.traced)

        def all_of(cost: Cost | Price, window: SafetyWindow) -> float:
            return cost_ns(cost, window["gets"], window["bytes"])

        measured, took = self.cost["measured"], 0.0
        if measured:
            fetched = a_rank(lambda each: (1 - self.share_served(each)) * all_of(measured, each))
            # Samples from a busy machine may suggest that they took longer than the whole trace.
            # They are then scaled down.
            took = min(fetched, self.span)
            if self.cost["from"] != "model" and fetched:
                self.scale = took / fetched
        elif self.cost["from"] != "model":
            return 0.0
        gets = self.scale * a_rank(lambda each: all_of(self.cost, each))
        hits = a_rank(
            lambda each: (
                self.share_served(each) * hit_ns(self.cost["hit"], each["gets"], each["bytes"])
            )
        )
        self.wall += gets - took - min(hits, self.ran - took)
        return gets
