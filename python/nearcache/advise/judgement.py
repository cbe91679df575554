# SPDX-License-Identifier: BSD-3-Clause
"""Turns traces into advice: which mode is safe, what it would save, how much storage it takes, or
why caching is not worth it.

judge(evidence) -> Advice
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .advice import (
    DEFAULT,
    PROMISES,
    Advice,
    CoherentAdvice,
    WindowAdvice,
    settings_of,
)
from .answers import SafetyWindow
from .estimates import (
    CLEARLY_MORE,
    cost_ns,
    hit_ns,
    hits_of,
    index_for,
    is_worthwhile,
    storage_for,
)
from .safety import rule_of, safe_mode
from .savings import Savings
from .sharing import Sharing
from .times import Times
from .traced_run import TracedRun

if TYPE_CHECKING:
    from .measure import Evidence

DEFAULT_STORAGE, DEFAULT_INDEX = 1 << 20, 4096  # what a window starts with; it adapts from there
NO_PROMISE_SHARE = 0.85  # of what a promise saves: then the default is advised in its place
# Why a promise is not needed where quiet phases do as much.
DEFAULT_DOES = (
    f"the default mode, `{DEFAULT}`, which needs no promise, saves just as much in this run, because "
    "nobody wrote between repeated gets"
)
UNTIL_WRITTEN = f"the default mode, `{DEFAULT}`, which needs no promise, serves what repeats until somebody writes"


class Judge:
    """Makes the advice for the windows of one set of traces."""

    def __init__(self, evidence: Evidence) -> None:
        self.windows = evidence.safety["windows"]
        self.cost = evidence.safety["cost"]
        self.known = self.cost["from"] != "assumed"
        self.obstacles, self.left_alone = evidence.obstacles, evidence.left_alone
        self.incoherent: Mapping[int, str] = evidence.incoherent or {}
        self.run = TracedRun(evidence.safety)
        self.times = Times(evidence)
        self.savings = Savings(evidence, self.run)
        self.sharing = Sharing(evidence, self.savings, self.times)

    def advice(self) -> Advice:
        windows = [self.window(window) for window in self.windows]
        helped = [window for window in windows if window.helps]
        unknown = any(window.undecided for window in windows) or (
            bool(self.left_alone) and not any(window.gets for window in windows)
        )
        return Advice(
            verdict="helps" if helped else "unknown" if unknown else "no",
            helps=bool(helped),
            saved_seconds=sum(self.of_all(window, window.saved_seconds) for window in helped),
            saved_seconds_least=sum(
                self.of_all(window, window.saved_seconds_least) for window in helped
            ),
            wall_seconds=self.times.wall,
            get_seconds=self.times.gets,
            run_seconds=self.times.ran,
            served=sum(self.times.share_served(each) * each["gets"] for each in self.windows)
            / max(1, sum(each["gets"] for each in self.windows)),
            cost=self.cost,
            complete=self.run.all_there(),
            program=self.run.program,
            ranks=self.run.ranks,
            modelled=self.run.modelled,
            windows=windows,
            left_alone=self.left_alone,
            settings=settings_of(windows),
            notes=self.notes(),
        )

    def of_all(self, window: WindowAdvice, seconds: float) -> float:
        """Return a mean over the ranks of a window as one over all ranks."""
        return seconds * window.ranks / max(1, self.run.traced)

    def notes(self) -> list[str]:
        run, notes = self.run, []
        if not run.all_there():
            missing = run.ranks - run.traced
            notes.append(
                "the traces are not those of one run: a rank has several, or runs had other numbers of ranks"
                if not run.of_one_run
                else f"traces of {missing} of {run.ranks} ranks are missing"
                if missing > 0
                else "a trace is incomplete (records were dropped, or the program did not reach MPI_Finalize)"
            )
        if self.cost["from"] == "model":
            notes.append(
                "the cost of a get was given: times are for a run in which everything else takes as long as in this one"
            )
        if self.times.scale < 0.95:
            notes.append(
                f"gets cannot have taken longer than the run, so their measured cost, too high as on a busy machine, counts {self.times.scale:.0%}"
            )
        if run.modelled:
            notes.append(f"the network was modelled: {run.modelled}")
        if run.traced and not any(window["gets"] for window in self.windows):
            notes.append("gets of a rank's own memory and shared-memory accesses are not remote")
        return notes

    def window(self, window: SafetyWindow) -> WindowAdvice:
        """Return the advice for one window: the safe mode that saves most, if it saves enough to
        matter."""
        mode, reasons = safe_mode(window, self.run.complete(window))
        advice = WindowAdvice(
            id=window["id"],
            mode="off",
            helps=False,
            saved_seconds=0.0,
            reasons=[],
            ranks=window["traced_ranks"],
            gets=window["gets"],
            now=window["mode"],
            own_gets=window["own_gets"],
            repeats=window["always"]["hits"] / max(1, window["gets"]),
        )
        if (
            window["mode"] in PROMISES
            and rule_of(window, window["mode"])["stale"]
            and mode != window["mode"]
        ):
            advice.danger = (
                f"in this run it was in mode {window['mode']}, which is not safe: {reasons[-1]}"
            )
        if window["gets"] == 0:
            advice.reasons = ["no rank read another rank's memory through it"]
        elif window["id"] in self.obstacles:
            advice.reasons = [f"it cannot be cached: {self.obstacles[window['id']]}"]
        else:
            mode, reasons = self.without_promise(window, mode, reasons)
            self.estimate(advice, window, mode)
            self.decide(advice, window, mode, reasons)
        return advice

    def estimate(self, advice: WindowAdvice, window: SafetyWindow, mode: str) -> None:
        """Estimate what is saved in this mode, by the default mode, and by one cache for the ranks
        of a node."""
        ranks = max(1, window["traced_ranks"])
        savings, scale = self.savings, self.times.scale
        if window["id"] in savings.coherent:
            row = savings.coherent[window["id"]]
            advice.coherent = CoherentAdvice(
                hits=hits_of(row),
                hits_kept=row["hits_kept"],
                validations=row["validations"],
                saved_seconds=1e-9 * scale * savings.coherent_ns(row, self.cost) / ranks,
            )
        if self.run.complete(window):
            advice.shared = self.sharing.advice(window, mode)
        advice.saved_seconds = max(0.0, 1e-9 * scale * savings.saved_ns(window, mode) / ranks)
        least = 1e-9 * savings.saved_ns(window, mode, savings.least) / ranks
        advice.saved_seconds_least = min(advice.saved_seconds, max(0.0, least))

    def decide(
        self, advice: WindowAdvice, window: SafetyWindow, mode: str, reasons: list[str]
    ) -> None:
        """Decide whether that is worthwhile, and what to set. pre: the advice has its estimates;
        `reasons` are those for `mode`."""
        against = self.against(advice, window, mode, reasons)
        shared = advice.shared
        if shared and (not self.known or not self.sharing.gains(advice, bool(against))):
            shared.helps = False
        if shared and shared.helps:
            mode = shared.mode
            advice.saved_seconds = shared.saved_seconds
            advice.saved_seconds_least = shared.saved_seconds_least
            reasons = [self.sharing.why(shared, against), *([] if against else reasons)]
        elif against:
            advice.reasons = against
            return
        advice.helps, advice.mode, advice.reasons = True, mode, reasons
        advice.apart = mode == "always" and window["writes_while_read"] != 0
        if mode == "user":
            advice.invalidations = window["user"]["invalidations"]
        self.add_storage(advice)

    def against(
        self, advice: WindowAdvice, window: SafetyWindow, mode: str, reasons: list[str]
    ) -> list[str]:
        """Return why a cache for each rank is not advised; nothing if it is."""
        few = self.too_few(window, mode, reasons)
        if few:
            return few
        if not self.known:
            advice.saved_seconds = advice.saved_seconds_least = 0.0
            advice.undecided = True
            return [
                "whether that is worthwhile depends on what a get costs, which was not measured",
                *reasons,
            ]
        worthwhile = is_worthwhile(
            advice.saved_seconds, advice.saved_seconds_least, self.times.wall
        )
        return [] if worthwhile else self.too_little(window, advice)

    def without_promise(
        self, window: SafetyWindow, mode: str, reasons: list[str]
    ) -> tuple[str, list[str]]:
        """Return the advised mode and the reasons for it: the default, unless a promise or
        `transparent` saves clearly more. pre: `mode` is safe."""
        saved = self.savings.saved_ns(window, DEFAULT)
        row = self.savings.coherent_row(window)
        best, why = DEFAULT, self.why_default(window)
        if row and self.savings.saved_ns(window, "transparent") > CLEARLY_MORE * max(saved, 0.0):
            saved = self.savings.saved_ns(window, "transparent")
            best = "transparent"
            why = [
                f"`transparent`, which needs no promise either, saves more than the default mode, `{DEFAULT}`, whose {row['validations']:,} reads "
                "of versions cost more than is saved by what they keep"
            ]
        if mode not in PROMISES:
            return best, [*why, *reasons]
        other = self.savings.saved_ns(window, mode)
        if 0 < saved and saved >= NO_PROMISE_SHARE * other:
            more = other / saved - 1
            would = f"{more:.0%} more" if more >= 0.01 else "no more"
            return best, [
                *why,
                f"`{mode}`, which needs a promise, would save {would}",
                *reasons,
            ]
        if 0 < saved < other:
            reasons = [
                *reasons,
                f"`{best}`, which needs no promise, would save {saved / other:.0%} of that (estimated, at best)",
            ]
        return mode, reasons

    def why_default(self, window: SafetyWindow) -> list[str]:
        """Return what the default serves in the window; empty if that is not known."""
        row = self.savings.coherent_row(window)
        if row and row["hits_kept"]:
            text = (
                f"`{DEFAULT}` keeps what nobody wrote across synchronisation, and needs no promise: {row['hits_kept']:,} hits on data "
                f"read before, for {row['validations']:,} reads of versions (estimated from the writes in the traces, at best)"
            )
            # This does not count against the mode: the trace itself may be the reason, since the
            # kernel can watch pages for the trace or for the mode, but not for both.
            held = self.incoherent.get(window["id"])
            return [
                text,
                *(
                    [
                        f"in this run, which recorded a trace, others kept nothing of it, or of some rank's part: {held}"
                    ]
                    if held
                    else []
                ),
            ]
        certain = hits_of(self.savings.transparent.get(window["id"]))
        if certain and certain >= 0.9 * hits_of(self.savings.default_row(window)):
            return [
                f"its gets repeat before others' writes must be visible, so the default mode, `{DEFAULT}`, needs no promise to serve them"
            ]
        if (
            not self.run.complete(window)
            or hits_of(self.savings.default_row(window)) < 0.01 * window["gets"]
        ):
            return []
        return [DEFAULT_DOES if window["writes_while_read"] == 0 else UNTIL_WRITTEN]

    def add_storage(self, advice: WindowAdvice) -> None:
        curve = self.savings.curves.get(advice.id)
        shares = advice.shared is not None and advice.shared.helps
        if curve is None or (advice.mode == "transparent" and not shares):
            return
        if advice.shared and shares:  # the curve is that of one cache per rank
            advice.storage_bytes = advice.shared.storage_bytes
            advice.index_entries = index_for(curve, advice.storage_bytes)
            return
        advice.storage_bytes = storage_for(curve)
        advice.index_entries = index_for(curve, advice.storage_bytes)
        if advice.mode == DEFAULT:
            if advice.storage_bytes <= DEFAULT_STORAGE and advice.index_entries <= DEFAULT_INDEX:
                advice.storage_bytes = advice.index_entries = 0
            return  # the curve is that of mode `always`: room for all that repeats
        # Granules make several points of a small window's curve coincide.
        advice.curve = list(
            {point["storage_bytes"]: point["cost_saved"] for point in curve["points"]}.items()
        )

    def too_few(self, window: SafetyWindow, mode: str, reasons: list[str]) -> list[str]:
        """Return why the counts alone rule out that a cache helps; empty if they do not."""
        if window["always"]["hits"] < 0.01 * window["gets"]:
            return [
                f"its gets rarely repeat: {window['always']['hits']:,} of {window['gets']:,} requested what the same rank had read before"
            ]
        row = (
            self.savings.default_row(window)
            if mode == DEFAULT
            else self.savings.transparent_row(window)
        )
        if mode not in PROMISES and hits_of(row) < 0.01 * window["gets"]:
            return [
                "gets repeat, but only after a synchronisation that must make others' writes visible",
                *reasons,
            ]
        return []

    def too_little(self, window: SafetyWindow, advice: WindowAdvice) -> list[str]:
        mean = window["bytes"] / window["gets"]
        get = cost_ns(self.savings.least, 1, mean)
        if get <= 2 * hit_ns(self.savings.hit, 1, mean):
            return [
                f"a get of {mean:,.0f} B costs {get:,.0f} ns here, hardly more than a hit (the targets are a memory copy away)"
            ]
        return [
            f"caching it would save only {advice.saved_seconds:.4f} s per rank of a {self.times.wall:.3f} s run"
        ]


def judge(evidence: Evidence) -> Advice:
    return Judge(evidence).advice()
