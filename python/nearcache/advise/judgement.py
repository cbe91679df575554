# SPDX-License-Identifier: BSD-3-Clause
"""Turns traces into advice: which mode is safe, what it would save, how much storage it takes, or
why caching is not worth it.

judge(evidence) -> Advice
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .advice import (
    DEFAULT,
    PROMISES,
    Advice,
    CoherentAdvice,
    SharedAdvice,
    WindowAdvice,
    settings_of,
)
from .answers import Cost, Example, Price, Replay, ReplayedWindow, Rule, SafetyWindow
from .estimates import (
    ENOUGH,
    SHARED_HIT_NS,
    cost_ns,
    gain_ns,
    hit_ns,
    hits_of,
    index_for,
    storage_for,
    storage_of,
)
from .measure import SHARED_STORAGES, ranks_of_a_host, span_seconds

if TYPE_CHECKING:
    from .measure import Evidence

LEAST_SHARE = 0.01  # of the run: less cannot be told from noise
LEAST_SECONDS = 0.001  # a rank
VERSIONS_BYTES = 1024  # what a validation of mode `coherent` reads of a target
DEFAULT_STORAGE, DEFAULT_INDEX = 1 << 20, 4096  # what a window starts with; it adapts from there
NO_PROMISE_SHARE = 0.85  # of what a promise saves: then the default is advised in its place
CLEARLY_MORE = 1.2  # times what the default saves, before `transparent` takes its place
SERVED = ("full", "pending")  # outcomes of gets that were not issued
# Why a promise is not needed where quiet phases do as much.
DEFAULT_DOES = (
    f"the default mode, `{DEFAULT}`, which needs no promise, saves just as much in this run, because "
    "nobody wrote between repeated gets"
)
UNTIL_WRITTEN = f"the default mode, `{DEFAULT}`, which needs no promise, serves what repeats until somebody writes"


def safe_mode(window: SafetyWindow, complete: bool) -> tuple[str, list[str]]:
    """Return the strongest promise that this run shows to be safe, else the default, and the
    reasons against a stronger one."""
    always, user = window["always"], window["user"]
    if not complete:
        return DEFAULT, [
            "traces of some ranks are missing or incomplete, so no mode that needs a promise can be recommended"
        ]
    if window["writes_while_read"] == 0:
        return "always", [
            "nobody wrote to it from the first get to the last"
            if window["puts"] + window["stores"]
            else "it was never written to"
        ]
    if always["stale"] == 0:
        return "always", [
            "it was written during the period in which it was read, but no rank read again what had been written: `always` is safe for runs like this one, "
            "`user` for all that keep their phases apart"
        ]
    why = f"with `always`, {always['stale']:,} gets would have returned old data" + (
        f": rank {always['example']['reader']} read {always['example']['bytes']} B at {always['example']['displacement']} of rank "
        f"{always['example']['target']}, and {writer(always['example'])} wrote there in the meantime"
        if always["example"]
        else ""
    )
    if user["stale"] == 0:
        return "user", ["writing and reading phases alternate", why]
    return DEFAULT, ["it was written during the period in which it was read", why]


def writer(example: Example) -> str:
    return (
        f"its owner, rank {example['writer']},"
        if example["stored_by_owner"]
        else f"rank {example['writer']}, by a put,"
    )


def shared_rows(replay: Replay) -> dict[int, list[tuple[float, ReplayedWindow]]]:
    """Return, by window, the tried shares of the requested bytes that fit into the cache, each with
    its replay."""
    rows = replay["rows"]
    found: dict[int, list[tuple[float, ReplayedWindow]]] = {}
    for share, row in zip(SHARED_STORAGES, rows):
        for window in row.get("windows", []):
            found.setdefault(window["id"], []).append((share, window))
    return found


def rule_of(window: SafetyWindow, mode: str) -> Rule:
    """Return the rule of a mode. pre: `mode` is one of PROMISES."""
    return window["always"] if mode == "always" else window["user"]


class Judge:
    """Makes the advice for the windows of one set of traces."""

    def __init__(self, evidence: Evidence) -> None:
        self.safety, self.summary = evidence.safety, evidence.summary
        self.cost, self.hit = evidence.safety["cost"], evidence.safety["cost"]["hit"]
        self.known = self.cost["from"] != "assumed"
        # Other load on the machine prolongs most gets and the run, but not the quickest gets. What
        # pays off by these pays off on an idle machine, too.
        self.least: Cost | Price = (
            self.cost["least"] if self.cost["from"] == "trace" and self.cost["least"] else self.cost
        )
        self.obstacles, self.left_alone = evidence.obstacles, evidence.left_alone
        self.incoherent: Mapping[int, str] = evidence.incoherent or {}
        self.curves = {window["id"]: window for window in evidence.curve["windows"]}
        self.transparent = {
            window["id"]: window for window in evidence.transparent["rows"][0].get("windows", [])
        }  # absent if no window was traced
        self.quiet, self.coherent = (
            {window["id"]: window for window in (run["rows"][0].get("windows", []) if run else [])}
            for run in (evidence.quiet, evidence.coherent)
        )
        self.shared = {
            mode: shared_rows(replay) for mode, replay in (evidence.shared or {}).items()
        }
        traces = evidence.safety["traces"]
        self.of_a_host = ranks_of_a_host(evidence.safety)
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
        self.span = span_seconds(evidence.summary)
        self.wall = self.ran = max(self.span, evidence.run_seconds)
        # by window: share of its gets that the cache has served in the run
        self.served = {
            row["id"]: sum(row["outcomes"].get(name, 0) for name in SERVED) / max(1, row["gets"])
            for row in evidence.summary["windows"]
        }

    def advice(self) -> Advice:
        complete = self.all_there()
        get_seconds = self.settle_times()
        gets = self.safety["windows"]
        windows = [self.window(window) for window in gets]
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
            wall_seconds=self.wall,
            get_seconds=get_seconds,
            run_seconds=self.ran,
            served=sum(self.share_served(window) * window["gets"] for window in gets)
            / max(1, sum(window["gets"] for window in gets)),
            cost=self.cost,
            complete=complete,
            program=self.program,
            ranks=self.ranks,
            modelled=self.modelled,
            windows=windows,
            left_alone=self.left_alone,
            settings=settings_of(windows),
            notes=self.notes(complete),
        )

    def of_all(self, window: WindowAdvice, seconds: float) -> float:
        """Return a mean over the ranks of a window as one over all ranks."""
        return seconds * window.ranks / max(1, self.traced)

    def all_there(self) -> bool:
        return self.whole and self.of_one_run and self.traced == self.ranks

    def complete(self, window: SafetyWindow) -> bool:
        return self.all_there() and window["traced_ranks"] == window["ranks"]

    def share_served(self, window: SafetyWindow) -> float:
        return self.served.get(window["id"], 0.0)

    def settle_times(self) -> float:
        """Return the seconds that all gets take per rank if none is cached, and make the time of
        the run that of such a run.

        In the run, some were served by its cache, and the others took what was measured.
        """

        def a_rank(of: Callable[[SafetyWindow], float]) -> float:
            return 1e-9 * sum(map(of, self.safety["windows"])) / max(1, self.traced)

        def all_of(cost: Cost | Price, window: SafetyWindow) -> float:
            return cost_ns(cost, window["gets"], window["bytes"])

        self.scale, measured, took = 1.0, self.cost["measured"], 0.0
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
            lambda each: self.share_served(each) * hit_ns(self.hit, each["gets"], each["bytes"])
        )
        self.wall += gets - took - min(hits, self.ran - took)
        return gets

    def notes(self, complete: bool) -> list[str]:
        notes = []
        if not complete:
            missing = self.ranks - self.traced
            notes.append(
                "the traces are not those of one run: a rank has several, or runs had other numbers of ranks"
                if not self.of_one_run
                else f"traces of {missing} of {self.ranks} ranks are missing"
                if missing > 0
                else "a trace is incomplete (records were dropped, or the program did not reach MPI_Finalize)"
            )
        if self.cost["from"] == "model":
            notes.append(
                "the cost of a get was given: times are for a run in which everything else takes as long as in this one"
            )
        if self.scale < 0.95:
            notes.append(
                f"gets cannot have taken longer than the run, so their measured cost, too high as on a busy machine, counts {self.scale:.0%}"
            )
        if self.modelled:
            notes.append(f"the network was modelled: {self.modelled}")
        if len(self.safety["traces"]) and not any(
            window["gets"] for window in self.safety["windows"]
        ):
            notes.append("gets of a rank's own memory and shared-memory accesses are not remote")
        return notes

    def window(self, window: SafetyWindow) -> WindowAdvice:
        """Return the advice for one window: the safe mode that saves most, if it saves enough to
        matter."""
        complete = self.complete(window)
        mode, reasons = safe_mode(window, complete)
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
        if window["id"] in self.coherent:
            row = self.coherent[window["id"]]
            advice.coherent = CoherentAdvice(
                hits=hits_of(row),
                hits_kept=row["hits_kept"],
                validations=row["validations"],
                saved_seconds=1e-9 * self.scale * self.coherent_ns(row, self.cost) / ranks,
            )
        if self.complete(window):
            advice.shared = self.share_of(window, mode)
        advice.saved_seconds = max(0.0, 1e-9 * self.scale * self.saved_ns(window, mode) / ranks)
        advice.saved_seconds_least = min(
            advice.saved_seconds, max(0.0, 1e-9 * self.saved_ns(window, mode, self.least) / ranks)
        )

    def decide(
        self, advice: WindowAdvice, window: SafetyWindow, mode: str, reasons: list[str]
    ) -> None:
        """Decide whether that is worthwhile, and what to set. pre: the advice has its estimates;
        `reasons` are those for `mode`."""
        against = self.against(advice, window, mode, reasons)
        shared = advice.shared
        if shared and (not self.known or not self.gains(advice, bool(against))):
            shared.helps = False
        if shared and shared.helps:
            mode = shared.mode
            advice.saved_seconds = shared.saved_seconds
            advice.saved_seconds_least = shared.saved_seconds_least
            reasons = [self.why_shared(shared, against), *([] if against else reasons)]
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
        return [] if self.worth(advice) else self.too_little(window, advice)

    def without_promise(
        self, window: SafetyWindow, mode: str, reasons: list[str]
    ) -> tuple[str, list[str]]:
        """Return the advised mode and the reasons for it: the default, unless a promise or
        `transparent` saves clearly more. pre: `mode` is safe."""
        saved = self.saved_ns(window, DEFAULT)
        row = self.coherent_row(window)
        best, why = DEFAULT, self.why_default(window)
        if row and self.saved_ns(window, "transparent") > CLEARLY_MORE * max(saved, 0.0):
            saved = self.saved_ns(window, "transparent")
            best = "transparent"
            why = [
                f"`transparent`, which needs no promise either, saves more than the default mode, `{DEFAULT}`, whose {row['validations']:,} reads "
                "of versions cost more than is saved by what they keep"
            ]
        if mode not in PROMISES:
            return best, [*why, *reasons]
        other = self.saved_ns(window, mode)
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
        row = self.coherent_row(window)
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
        certain = hits_of(self.transparent.get(window["id"]))
        if certain and certain >= 0.9 * hits_of(self.default_row(window)):
            return [
                f"its gets repeat before others' writes must be visible, so the default mode, `{DEFAULT}`, needs no promise to serve them"
            ]
        if not self.complete(window) or hits_of(self.default_row(window)) < 0.01 * window["gets"]:
            return []
        return [DEFAULT_DOES if window["writes_while_read"] == 0 else UNTIL_WRITTEN]

    def share_of(self, window: SafetyWindow, mode: str) -> SharedAdvice | None:
        """Return the advice on one cache for the ranks of a host, in the advised mode or in the
        strongest safe mode if that saves clearly more."""
        safest, _ = safe_mode(window, True)
        tried = [
            self.shared_in(window, each)
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

    def shared_in(self, window: SafetyWindow, mode: str) -> SharedAdvice | None:
        rows = self.shared.get("always" if mode == "user" else mode, {}).get(window["id"])
        if not rows:
            return None
        part = 1.0
        if mode == "user":  # of these hits, mode user keeps those that survive its invalidations
            part = window["user"]["hits"] / max(1, window["always"]["hits"])
        ranks = max(1, window["traced_ranks"])
        cost = self.cost

        def saved(row: ReplayedWindow, cost: Cost | Price) -> float:
            looks = row["validations"] if mode == "coherent" else 0
            return (
                part * (self.saved_by(row, cost) - SHARED_HIT_NS * hits_of(row))
                - cost_ns(cost, looks, looks * VERSIONS_BYTES)
            ) / ranks

        most = max(saved(row, cost) for _, row in rows)
        share, row = min(
            (each for each in rows if saved(each[1], cost) >= ENOUGH * most),
            key=lambda each: each[0],
            default=rows[0],
        )
        curve = self.curves.get(window["id"])
        whole = curve["stored_bytes"] / max(1, curve["ranks"]) if curve else 0
        seconds = max(0.0, 1e-9 * self.scale * saved(row, cost))
        return SharedAdvice(
            mode=mode,
            ranks=self.of_a_host,
            helps=True,
            hits=hits_of(row),
            hits_of_others=row["hits_of_others"],
            saved_seconds=seconds,
            saved_seconds_least=min(seconds, max(0.0, 1e-9 * saved(row, self.least))),
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
        if advice.id in self.quiet:
            row, a_rank = self.quiet[advice.id], 1e-9 / max(1, advice.ranks)
            alone = max(alone, a_rank * self.scale * self.saved_by(row))
            alone_least = max(alone_least, min(alone, a_rank * self.saved_by(row, self.least)))
        # Both estimates assume room for everything, so any additional saving comes from data
        # fetched by others.
        part = shared.hits_of_others / max(1, shared.hits)
        more = min(shared.saved_seconds - alone, part * shared.saved_seconds)
        more_least = min(
            shared.saved_seconds_least - alone_least, part * shared.saved_seconds_least
        )
        return more_least >= LEAST_SECONDS and more >= LEAST_SHARE * self.wall

    def why_shared(self, shared: SharedAdvice, alone: list[str]) -> str:
        of_others = shared.hits_of_others / max(1, shared.hits)
        text = (
            f"one cache for the ranks of a node (`share=node`): {of_others:.0%} of {shared.hits:,} hits are on data read by another of up to "
            f"{shared.ranks} ranks"
        )
        return f"{text}; with a cache for each rank, {alone[0]}" if alone else text

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
        return self.coherent.get(window["id"]) if self.complete(window) else None

    def default_row(self, window: SafetyWindow) -> ReplayedWindow | None:
        return self.coherent_row(window) or self.transparent_row(window)

    def worth(self, advice: WindowAdvice) -> bool:
        """Return whether the saving is worth having.

        Load on the machine prolongs the run, and the mean get in proportion, but not the quickest
        get.
        """
        return (
            advice.saved_seconds_least >= LEAST_SECONDS
            and advice.saved_seconds >= LEAST_SHARE * self.wall
        )

    def add_storage(self, advice: WindowAdvice) -> None:
        curve = self.curves.get(advice.id)
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
        row = self.default_row(window) if mode == DEFAULT else self.transparent_row(window)
        if mode not in PROMISES and hits_of(row) < 0.01 * window["gets"]:
            return [
                "gets repeat, but only after a synchronisation that must make others' writes visible",
                *reasons,
            ]
        return []

    def too_little(self, window: SafetyWindow, advice: WindowAdvice) -> list[str]:
        mean = window["bytes"] / window["gets"]
        get = cost_ns(self.least, 1, mean)
        if get <= 2 * hit_ns(self.hit, 1, mean):
            return [
                f"a get of {mean:,.0f} B costs {get:,.0f} ns here, hardly more than a hit (the targets are a memory copy away)"
            ]
        return [
            f"caching it would save only {advice.saved_seconds:.4f} s per rank of a {self.wall:.3f} s run"
        ]


def judge(evidence: Evidence) -> Advice:
    return Judge(evidence).advice()
