# SPDX-License-Identifier: BSD-3-Clause
"""What one cache for the ranks of a node would save (option share)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .advice import SharedAdvice, WindowAdvice
from .answers import Cost, Price, Replay, ReplayedWindow, SafetyWindow
from .estimates import (
    CLEARLY_MORE,
    ENOUGH,
    SHARED_HIT_NS,
    VERSIONS_BYTES,
    cost_ns,
    hits_of,
    is_worthwhile,
    storage_of,
)
from .measure import SHARED_STORAGES, ranks_of_a_host
from .safety import safe_mode

if TYPE_CHECKING:
    from .measure import Evidence
    from .savings import Savings
    from .times import Times


def shared_rows(replay: Replay) -> dict[int, list[tuple[float, ReplayedWindow]]]:
    """Return, by window, the tried shares of the requested bytes that fit into the cache, each with
    its replay."""
    rows = replay["rows"]
    found: dict[int, list[tuple[float, ReplayedWindow]]] = {}
    for share, row in zip(SHARED_STORAGES, rows):
        for window in row.get("windows", []):
            found.setdefault(window["id"], []).append((share, window))
    return found


class Sharing:
    def __init__(self, evidence: Evidence, savings: Savings, times: Times) -> None:
        self.savings, self.times = savings, times
        self.shared = {
            mode: shared_rows(replay) for mode, replay in (evidence.shared or {}).items()
        }
        self.of_a_host = ranks_of_a_host(evidence.safety)

    def advice(self, window: SafetyWindow, mode: str) -> SharedAdvice | None:
        """Return the advice on one cache for the ranks of a host, in the advised mode or in the
        strongest safe mode if that saves clearly more."""
        safest, _ = safe_mode(window, True)
        tried = [
            self.advice_in(window, each)
            for each in dict.fromkeys((mode, safest))
            # Other ranks' reads precede this rank's own, so no write at all may come between them.
            if each != "always" or window["writes_while_read"] == 0
        ]
        best: SharedAdvice | None = None
        for each in tried:
            if each and (
                best is None or each.saved_seconds > CLEARLY_MORE * max(0.0, best.saved_seconds)
            ):
                best = each
        return best

    def advice_in(self, window: SafetyWindow, mode: str) -> SharedAdvice | None:
        rows = self.shared.get("always" if mode == "user" else mode, {}).get(window["id"])
        if not rows:
            return None
        part = 1.0
        if mode == "user":  # of these hits, mode user keeps those that survive its invalidations
            part = window["user"]["hits"] / max(1, window["always"]["hits"])
        ranks = max(1, window["traced_ranks"])
        cost, least = self.savings.cost, self.savings.least

        def saved(row: ReplayedWindow, cost: Cost | Price) -> float:
            looks = row["validations"] if mode == "coherent" else 0
            return (
                part * (self.savings.saved_by(row, cost) - SHARED_HIT_NS * hits_of(row))
                - cost_ns(cost, looks, looks * VERSIONS_BYTES)
            ) / ranks

        most = max(saved(row, cost) for _, row in rows)
        share, row = min(
            (each for each in rows if saved(each[1], cost) >= ENOUGH * most),
            key=lambda each: each[0],
            default=rows[0],
        )
        curve = self.savings.curves.get(window["id"])
        whole = curve["stored_bytes"] / max(1, curve["ranks"]) if curve else 0
        seconds = max(0.0, 1e-9 * self.times.scale * saved(row, cost))
        return SharedAdvice(
            mode=mode,
            ranks=self.of_a_host,
            helps=True,
            hits=hits_of(row),
            hits_of_others=row["hits_of_others"],
            saved_seconds=seconds,
            saved_seconds_least=min(seconds, max(0.0, 1e-9 * saved(row, least))),
            storage_bytes=storage_of(int(share * whole)),
        )

    def gains(self, advice: WindowAdvice, alone_is_no_help: bool) -> bool:
        """Return whether the additional saving is worth a line, by the same thresholds as
        everything else."""
        shared = advice.shared
        assert shared is not None
        alone = 0.0 if alone_is_no_help else advice.saved_seconds
        alone_least = 0.0 if alone_is_no_help else advice.saved_seconds_least
        # Compare with the same, less certain estimate as for the shared cache.
        if advice.id in self.savings.quiet:
            row, a_rank = self.savings.quiet[advice.id], 1e-9 / max(1, advice.ranks)
            alone = max(alone, a_rank * self.times.scale * self.savings.saved_by(row))
            alone_least = max(
                alone_least, min(alone, a_rank * self.savings.saved_by(row, self.savings.least))
            )
        # Both estimates assume room for everything, so any additional saving comes from data
        # fetched by others.
        part = shared.hits_of_others / max(1, shared.hits)
        more = min(shared.saved_seconds - alone, part * shared.saved_seconds)
        more_least = min(
            shared.saved_seconds_least - alone_least, part * shared.saved_seconds_least
        )
        return is_worthwhile(more, more_least, self.times.wall)

    def why(self, shared: SharedAdvice, alone: list[str]) -> str:
        of_others = shared.hits_of_others / max(1, shared.hits)
        text = (
            f"one cache for the ranks of a node (`share=node`): {of_others:.0%} of {shared.hits:,} hits are on data read by another of up to "
            f"{shared.ranks} ranks"
        )
        return f"{text}; with a cache for each rank, {alone[0]}" if alone else text
