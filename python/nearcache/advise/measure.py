"""Gathers what advice is built on: traces of a run, and what nearcache-simulate makes of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .. import report_file, run, simulate, tables
from ..ended import run_to_its_end
from ..errors import NearcacheError, Refused
from ..files import check_folder
from ..values import MOST_STORAGE
from .answers import Curve, Replay, Safety, Summary

REPORT = ".report.json"  # behind the traces' prefix
# Of what each rank asks for, that a cache for a node is tried with: the least that saves as much is advised. The first has room to spare.
SHARED_STORAGES = (1.0, 0.5, 0.25, 0.125)
LEAST_ROOM = 64 << 10  # bytes of a storage
AROUND_A_GET = 1024  # bytes: the longest line of a small get, and one that is read ahead of it


@dataclass
class Evidence:
    """The answers of nearcache-simulate to its three questions, and what modes `transparent` and `coherent` would have done."""

    safety: Safety
    summary: Summary
    curve: Curve  # under mode `always`
    transparent: Replay  # a simulation with room for everything
    obstacles: Mapping[int, str]  # by window: why it cannot be cached
    left_alone: list[str]  # reasons why other windows were not touched at all
    # as `transparent`, with quiet phases, as far as the traces of all ranks tell of writes
    quiet: Replay | None = None
    coherent: Replay | None = None  # as `quiet`, under mode `coherent`
    # by window of a run in that mode: why it, or some rank's memory, was not kept across acquires
    incoherent: Mapping[int, str] | None = None
    # by mode: as if the ranks of each host had one cache together; empty where none has a second one
    shared: Mapping[str, Replay] | None = None


def forget_earlier_run(prefix: str) -> None:
    """One of more ranks would leave traces that seem to be of this run."""
    try:
        for path in (*simulate.traces_of_ranks(prefix), prefix + REPORT):
            if os.path.exists(path):
                os.unlink(path)
    except OSError as error:
        raise NearcacheError(f"--keep: cannot replace {error.filename}: {error.strerror}") from None


@contextmanager
def folder_for(keep: str | None) -> Iterator[str]:
    """The prefix of the traces: the user's, which stays, or one in a folder that goes. All ranks must reach it, so it is not in /tmp."""
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
    try:
        yield os.path.join(os.path.abspath(folder), "trace")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def settings(options: Mapping[str, str]) -> list[tuple[tables.Option, str]]:
    """Of option names, what `nearcache run` takes."""
    table = tables.load()
    return [(option, options[option.name]) for option in table.options if option.name in options]


def run_traced(
    words: Sequence[str],
    prefix: str,
    tag: str | None,
    values: Sequence[tuple[tables.Option, str]],
) -> tuple[int, str]:
    """Runs the command with a trace; returns its exit code, and what the user should know."""
    prefix = prefix.replace("%", "%%")
    # What the environment says of own writes is not asked: without them no promise can be vouched for.
    traced = settings({"trace": prefix, "trace_writes": "true", "report": prefix + REPORT})
    return run_with(words, tag, [*values, *traced])


def run_with(
    words: Sequence[str], tag: str | None, values: Sequence[tuple[tables.Option, str]]
) -> tuple[int, str]:
    """Runs the command with options; returns its exit code, and what the user should know."""
    started, choices = run.prepare(words, values, tag)
    note = "; ".join(choice.note for choice in choices if choice.note)
    try:
        return run_to_its_end(started), note
    except OSError as error:
        raise Refused(f"cannot start {started[0]}: {error.strerror}") from None


def communicates_by_openshmem(words: Sequence[str], tag: str | None) -> bool:
    return run.prepare(words, [], tag)[1][0].object.is_shmem


def evidence_of(names: Iterable[str], model: str | None = None) -> Evidence:
    """Asks nearcache-simulate. `names` are traces, or their prefix; `model` is what a get costs: L,G."""
    obstacles: dict[int, str] = {}
    incoherent: dict[int, str] = {}
    for name in names:
        obstacles.update(reasons_of(name + REPORT, "bypass"))
        incoherent.update(reasons_of(name + REPORT, "incoherent"))
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
        shared=shared_replays(names, given, curve) if ranks_of_a_host(safety) > 1 else {},
    )


def room_for_all(curve: Curve) -> str:
    """Storage of a rank's window in which nothing is ever evicted: what is read, with the lines around it and what is read ahead."""
    most = max(
        (
            2 * window["stored_bytes"] + AROUND_A_GET * window["distinct_keys"]
            for window in curve["windows"]
        ),
        default=0,
    )
    return str(min(most + LEAST_ROOM, MOST_STORAGE))


def stored_share(curve: Curve) -> float:
    """What distinct bytes take in storage, which has granules, over what they are."""
    return max(
        (window["stored_bytes"] / max(1, window["distinct_bytes"]) for window in curve["windows"]),
        default=1.0,
    )


def ranks_of_a_host(safety: Safety) -> int:
    """Of the host that has the most."""
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


def reasons_of(path: str, what: str) -> dict[int, str]:
    """Why windows were not cached (`bypass`), or not coherent (`incoherent`), by the report of the run; nothing where there is none."""
    if not os.path.exists(path):
        return {}
    try:
        return {
            int(window["id"]): str(window[what])
            for window in report_file.load(path)["windows"]
            if window.get(what)
        }
    except report_file.DAMAGE as error:
        raise report_file.damaged(error, path) from None
