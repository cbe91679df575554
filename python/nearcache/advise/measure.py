"""Gathers what advice is built on: traces of a run, and what nearcache-simulate makes of them."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Optional

from .. import report_file, run, simulate, tables
from ..ended import run_to_its_end
from ..errors import NearcacheError, Refused

REPORT = ".report.json"  # behind the traces' prefix


@dataclass
class Evidence:
    """The answers of nearcache-simulate to its three questions, and what modes `transparent` and `coherent` would have done."""

    safety: dict
    summary: dict
    curve: dict  # under mode `always`
    transparent: dict  # a simulation with room for everything
    obstacles: dict  # by window: why it cannot be cached
    left_alone: list  # reasons why other windows were not touched at all
    quiet: Optional[dict] = (
        None  # as `transparent`, with quiet phases, as far as the traces of all ranks tell of writes
    )
    coherent: Optional[dict] = None  # as `quiet`, under mode `coherent`
    incoherent: Optional[dict] = (
        None  # by window of a run in that mode: why it, or some rank's memory, was not kept across acquires
    )


@contextmanager
def folder_for(keep):
    """The prefix of the traces: the user's, which stays, or one in a folder that goes. All ranks must reach it, so it is not in /tmp."""
    if keep:
        yield os.path.abspath(keep)
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


def run_traced(words, prefix, tag, values):
    """Runs the command with a trace; returns its exit code, and what the user should know."""
    prefix, options = prefix.replace("%", "%%"), tables.load()
    values = [
        *values,
        (options.option("trace"), prefix),
        (options.option("report"), prefix + REPORT),
    ]
    return run_with(words, tag, values)


def run_with(words, tag, values):
    """Runs the command with options; returns its exit code, and what the user should know."""
    started, choices = run.prepare(words, values, tag)
    note = "; ".join(choice.note for choice in choices if choice.note)
    try:
        return run_to_its_end(started), note
    except OSError as error:
        raise Refused(f"cannot start {started[0]}: {error.strerror}") from None


def communicates_by_openshmem(words, tag):
    return run.prepare(words, [], tag)[1][0].object.is_shmem


def evidence_of(names, model=None):
    """Asks nearcache-simulate. `names` are traces, or their prefix; `model` is what a get costs: L,G."""
    obstacles, incoherent = {}, {}
    for name in names:
        obstacles.update(reasons_of(name + REPORT, "bypass"))
        incoherent.update(reasons_of(name + REPORT, "incoherent"))
    names = simulate.traces(names)
    given = ["--model", model] if model else []
    whole = ("--storage", "100%", "--no-bounds", *given)
    transparent = ("--mode", "transparent", *whole)
    return Evidence(
        safety=simulate.ask(names, "--safety", *given),
        summary=simulate.ask(names, "--summary"),
        curve=simulate.ask(names, "--curve", "--mode", "always", *given),
        transparent=simulate.ask(names, "--strict-flush", *transparent),
        quiet=simulate.ask(names, *transparent),
        coherent=simulate.ask(names, "--mode", "coherent", *whole),
        obstacles=obstacles,
        incoherent=incoherent,
        left_alone=[reason for window, reason in obstacles.items() if window < 0],
    )


def reasons_of(path, what):
    """Why windows were not cached (`bypass`), or not coherent (`incoherent`), by the report of the run; nothing where there is none."""
    if not os.path.exists(path):
        return {}
    return {
        window["id"]: window[what]
        for window in report_file.load(path)["windows"]
        if window.get(what)
    }
