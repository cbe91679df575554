# SPDX-License-Identifier: BSD-3-Clause
"""What the traces say of the run they were taken in."""

from __future__ import annotations

from .answers import Safety, SafetyWindow


class TracedRun:
    def __init__(self, safety: Safety) -> None:
        traces = safety["traces"]
        self.ranks = max((trace["ranks"] for trace in traces), default=1)
        self.traced = len(traces)
        self.of_one_run = (
            len({trace["rank"] for trace in traces}) == len(traces)
            and len({trace["ranks"] for trace in traces}) <= 1
        )
        self.program, self.modelled = (
            (traces[0]["program"], traces[0]["modelled"]) if traces else ("?", "")
        )
        self.whole = not any(trace["dropped"] or trace["cut_short"] for trace in traces)

    def all_there(self) -> bool:
        return self.whole and self.of_one_run and self.traced == self.ranks

    def complete(self, window: SafetyWindow) -> bool:
        return self.all_there() and window["traced_ranks"] == window["ranks"]
