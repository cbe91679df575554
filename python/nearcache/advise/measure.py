# SPDX-License-Identifier: BSD-3-Clause
"""Gathers the evidence for advice: traces of a run, and what nearcache-simulate derives from
them."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

from .. import report_file, run, simulate, tables
from ..ended import run_to_its_end
from ..errors import NearcacheError, Refused
from ..files import check_folder
from ..report_file import Report
from ..values import MOST_STORAGE
from .answers import Curve, Replay, Safety, Summary

T = TypeVar("T")
# suffixes of the traces' prefix
REPORT = ".report.json"  # of the run; for OpenSHMEM of the second, with shmem_check
UNCACHED_REPORT = ".uncached.report.json"  # of the run that an OpenSHMEM program's traces are of
# Storage tried for a node's cache, as a share of what its ranks request. The smallest that saves as
# much as the best is advised; the first has room to spare.
SHARED_STORAGES = (1.0, 0.5, 0.25, 0.125)
LEAST_ROOM = 64 << 10  # bytes of a storage
AROUND_A_GET = 1024  # bytes: the longest line of a small get, and one that is read ahead of it


@dataclass
class Evidence:
    """The answers of nearcache-simulate to its three questions, and the simulated results of modes
    `transparent` and `coherent`."""

    safety: Safety
    summary: Summary
    curve: Curve  # under mode `always`
    transparent: Replay  # a simulation with room for everything
    obstacles: Mapping[int, str]  # by window: why it cannot be cached
    left_alone: list[str]  # why other windows were not touched at all
    # like `transparent`, but with quiet phases, as far as the traces of all ranks show writes
    quiet: Replay | None = None
    coherent: Replay | None = None  # like `quiet`, but under mode `coherent`
    # by window, for a run in that mode: why its memory, or some rank's part, was not kept across
    # acquires
    incoherent: Mapping[int, str] | None = None
    # by mode: as if the ranks of each host shared one cache; empty if no host has a second rank
    shared: Mapping[str, Replay] | None = None
    # from MPI_Init to MPI_Finalize; 0 if there is no report. Traces begin with the first window.
    run_seconds: float = 0.0


class NotJudged(NearcacheError):
    """Traces could not be judged: they are kept, as the run that wrote them may have been long."""

    def __init__(self, reason: NearcacheError | OSError, prefix: str) -> None:
        again = shlex.join(["nearcache", "advise", "--from", prefix])
        said = reason.message if isinstance(reason, NearcacheError) else str(reason)
        super().__init__(f"{said}; the traces are kept, to be judged by: {again}")


def forget_earlier_run(prefix: str) -> None:
    """Remove the files of an earlier run, since traces of additional ranks would seem to belong to
    this run."""
    try:
        reports = (prefix + REPORT, prefix + UNCACHED_REPORT)
        for path in (*simulate.traces_of_ranks(prefix), *reports):
            if os.path.exists(path):
                os.unlink(path)
    except OSError as error:
        raise NearcacheError(f"--keep: cannot replace {error.filename}: {error.strerror}") from None


@contextmanager
def folder_for(keep: str | None) -> Iterator[str]:
    """Yield the prefix of the traces: the user's, which is kept, or one in a temporary folder.

    All ranks must reach the folder, so it is not in /tmp.
    """
    if keep:
        prefix = os.path.abspath(keep)
        check_folder("--keep", prefix)
        forget_earlier_run(prefix)
        yield prefix
        return
    try:
        folder = tempfile.mkdtemp(prefix="nearcache-advise-", dir=".")
    except OSError as error:
        raise NearcacheError(
            f"cannot write traces here ({error.strerror}); name a place with --keep"
        ) from None
    kept = False
    try:
        yield os.path.join(os.path.abspath(folder), "trace")
    except NotJudged:
        kept = True
        raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def check_traces(prefix: str) -> None:
    """Raise an error if a run that succeeded has written no trace."""
    if not simulate.traces_of_ranks(prefix):
        raise NearcacheError(
            "the program wrote no trace: it did not initialise MPI or OpenSHMEM, or Nearcache was not loaded into its ranks "
            "(nearcache run --dry-run, nearcache doctor), or they cannot write to this folder (--keep names another)"
        )


def settings(options: Mapping[str, str]) -> list[tuple[tables.Option, str]]:
    """Turn option names and values into what `nearcache run` takes."""
    table = tables.load()
    return [(option, options[option.name]) for option in table.options if option.name in options]


def run_traced(
    words: Sequence[str],
    prefix: str,
    tag: str | None,
    values: Sequence[tuple[tables.Option, str]],
) -> tuple[int, str]:
    """Run the command with a trace; return its exit code, and a note for the user."""
    prefix = prefix.replace("%", "%%")
    # This overrides the environment's setting for recording own writes: without them, no promise
    # can be vouched for.
    traced = settings({"trace": prefix, "trace_writes": "true", "report": prefix + REPORT})
    return run_with(words, tag, [*values, *traced])


def run_with(
    words: Sequence[str], tag: str | None, values: Sequence[tuple[tables.Option, str]]
) -> tuple[int, str]:
    """Run the command with options; return its exit code, and a note for the user."""
    started, choices = run.prepare(words, values, tag)
    note = "; ".join(choice.note for choice in choices if choice.note)
    try:
        return run_to_its_end(started), note
    except OSError as error:
        raise Refused(f"cannot start {started[0]}: {error.strerror}") from None


def communicates_by_openshmem(words: Sequence[str], tag: str | None) -> bool:
    return run.prepare(words, [], tag)[1][0].object.is_shmem


def evidence_of(names: Iterable[str], model: str | None = None) -> Evidence:
    """Run nearcache-simulate on the traces. `names` are traces, or their prefix; `model` is the
    cost of a get, as "L,G"."""
    obstacles: dict[int, str] = {}
    incoherent: dict[int, str] = {}
    seconds = 0.0

    def read(report: Report) -> None:
        nonlocal seconds
        seconds = max(seconds, mean_seconds(report))
        obstacles.update(reasons(report, "bypass"))
        incoherent.update(reasons(report, "incoherent"))

    for name in names:
        from_report(name + REPORT, read)
    names = simulate.traces(names)
    given = ["--model", model] if model else []
    curve = simulate.ask(names, "--curve", "--mode", "always", *given)
    room = room_for_all(curve)
    whole = ("--storage", room, "--no-bounds", *given)
    transparent = ("--mode", "transparent", *whole)
    safety = simulate.ask(names, "--safety", *given)
    return Evidence(
        safety=safety,
        summary=simulate.ask(names, "--summary"),
        curve=curve,
        transparent=simulate.ask(names, "--strict-flush", *transparent),
        quiet=simulate.ask(names, *transparent),
        coherent=simulate.ask(names, "--mode", "coherent", *whole),
        obstacles=obstacles,
        incoherent=incoherent,
        left_alone=[reason for window, reason in obstacles.items() if window < 0],
        run_seconds=seconds,
        shared=shared_replays(names, given, curve) if ranks_of_a_host(safety) > 1 else {},
    )


def room_for_all(curve: Curve) -> str:
    """Return a storage size per rank and window at which nothing is ever evicted: room for the
    bytes read, the lines around them, and read-ahead."""
    most = max(
        (
            2 * window["stored_bytes"] + AROUND_A_GET * window["distinct_keys"]
            for window in curve["windows"]
        ),
        default=0,
    )
    return str(min(most + LEAST_ROOM, MOST_STORAGE))


def stored_share(curve: Curve) -> float:
    """Return the ratio of the distinct bytes' size in storage, which has granules, to their own
    size."""
    return max(
        (window["stored_bytes"] / max(1, window["distinct_bytes"]) for window in curve["windows"]),
        default=1.0,
    )


def ranks_of_a_host(safety: Safety) -> int:
    """Return the number of ranks on the host that has the most."""
    return max(Counter(trace["host"] for trace in safety["traces"]).values(), default=0)


def shared_replays(names: Sequence[str], given: Sequence[str], curve: Curve) -> dict[str, Replay]:
    room, factor = room_for_all(curve), stored_share(curve)
    storages = ",".join([room, *(f"{share * factor:.1%}" for share in SHARED_STORAGES[1:])])
    of_hosts = ("--by-host", "--no-bounds", *given)
    replays = {
        mode: simulate.ask(names, "--mode", mode, "--storage", room, *of_hosts)
        for mode in ("transparent", "coherent")
    }
    replays["always"] = simulate.ask(names, "--mode", "always", "--storage", storages, *of_hosts)
    return replays


def from_report(path: str, read: Callable[[Report], T]) -> T | None:
    """Return what `read` makes of a run's report; None if there is none."""
    if not os.path.exists(path):
        return None
    report = report_file.load(path)
    try:
        return read(report)
    except report_file.DAMAGE as error:
        raise report_file.damaged(error, path) from None


def mean_seconds(report: Report) -> float:
    """Return how long a run took, mean over its ranks."""
    return float(report["wall_seconds"]["mean"])


def seconds_of(path: str) -> float:
    """Return how long a run took, mean over its ranks, from its report; 0 if there is none."""
    return from_report(path, mean_seconds) or 0.0


def reasons(report: Report, what: Literal["bypass", "incoherent"]) -> dict[int, str]:
    """Return, by window, why it was not cached (`bypass`) or not coherent (`incoherent`)."""
    return {
        int(window["id"]): str(window[what]) for window in report["windows"] if window.get(what)
    }


def span_seconds(summary: Summary) -> float:
    """Return the time from the first record of the traces to the last."""
    span = summary["span"]
    return 1e-9 * (span["last_ns"] - span["first_ns"]) if span else 0.0
