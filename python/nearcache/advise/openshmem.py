# SPDX-License-Identifier: BSD-3-Clause
"""Advice for OpenSHMEM and UPC programs: whether the page cache helps, at what size, and whether
the program keeps its contract.

Such a program is run twice: first uncached with a trace, whose replay shows what the cache would
save, then cached with `shmem_check`, which compares every hit with the remote data
(docs/semantics-openshmem.md).
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import simulate
from ..command import UPCRUN
from ..ended import run_to_its_end
from ..errors import Refused
from ..plain import plain
from ..report_counts import api, how_many
from ..report_file import Report
from . import text
from .answers import PageCost, PageRow, PageStudy
from .estimates import ENOUGH, LEAST_SECONDS, LEAST_SHARE
from .measure import REPORT, UNCACHED_REPORT, from_report, seconds_of, span_seconds

# of a context's cache, in bytes
SIZES = (64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
DEFAULT_SIZE = 1 << 20


@dataclass
class Contract:
    """What shmem_check found, in numbers of calls."""

    hits_checked: int
    hits_old: int

    @property
    def kept(self) -> bool:
        return self.hits_old == 0


@dataclass
class PageAdvice:
    program: str
    pes: int
    modelled: str
    # helps, no, or unknown (depends on the cost of operations, which was not measured)
    verdict: str
    helps: bool
    # Per PE, mean; negative if time is lost. Two figures, as on a busy machine the slowest operations
    # may take most of the time: the larger one, and the smaller one, by which the verdict is made.
    saved_seconds: float
    saved_seconds_least: float
    wall_seconds: float  # of the uncached run
    # per PE, in the uncached run, by the costs of its operations: of all, and without the slowest
    # fiftieth
    communication_seconds: float
    communication_seconds_least: float
    hits: float  # share of the gets that would be served
    joined_puts: float  # share of the puts that would need no transfer of their own
    gets: int
    puts: int
    storage_bytes: int  # recommended size of a context's cache
    cost: PageCost
    contract: Contract | None  # None if it was not checked
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {"format": "nearcache-advice", "version": 1, "api": "OpenSHMEM", **asdict(self)}


def started_by_upcrun(words: Sequence[str]) -> bool:
    return bool(words) and Path(words[0]).name == UPCRUN  # options in the environment are enough


def upc_command(words: Sequence[str], options: dict[str, str]) -> list[str]:
    return [
        "env",
        *(f"NEARCACHE_{name.upper()}={value}" for name, value in options.items()),
        *words,
    ]


def traced(prefix: str) -> dict[str, str]:
    name = prefix.replace("%", "%%")
    return {"shmem": "false", "trace": name, "report": name + UNCACHED_REPORT}


def checked(prefix: str) -> dict[str, str]:
    return {"shmem": "true", "shmem_check": "true", "report": prefix.replace("%", "%%") + REPORT}


def run_upc(words: Sequence[str], options: dict[str, str]) -> int:
    try:
        return int(run_to_its_end(upc_command(words, options)))
    except OSError as error:
        raise Refused(f"cannot start {words[0]}: {error.strerror}") from None


def contract_of(prefix: str) -> Contract | None:
    """Return what the report beside the traces says of the contract; None if no hit was
    compared."""

    def read(report: Report) -> Contract | None:
        checked_by_it = (
            api(report) == "OpenSHMEM" and report["options"].get("shmem_check") == "true"
        )
        found = Contract(
            int(report["totals"].get("hits_checked", 0)), int(report["totals"].get("hits_old", 0))
        )
        return found if checked_by_it and found.hits_checked > 0 else None

    return from_report(prefix + REPORT, read)


def is_of_openshmem(names: Iterable[str]) -> bool:
    """Return whether the first of these traces is of an OpenSHMEM program: its header then has
    version 2."""
    with open(simulate.traces(names)[0], "rb") as file:
        head = file.read(12)
    return head[:8] == b"NCTRACE\n" and int.from_bytes(head[8:12], "little") == 2


def judge(names: Sequence[str], model: str | None = None) -> PageAdvice:
    """Return the advice for traces. `names` are the traces, or their prefix; `model` is the cost of
    a get, as "L,G"."""
    given = ["--model", model] if model else []
    sizes = ("--storage", ",".join(map(str, SIZES)))
    study, summary = simulate.ask(names, *sizes, *given), simulate.ask(names, "--summary")
    contract = next((found for name in names if (found := contract_of(name)) is not None), None)
    # A trace begins with the first access.
    wall = max(span_seconds(summary), *(seconds_of(name + UNCACHED_REPORT) for name in names))
    return advice_of(study, wall, contract)


def within(communication: float, wall: float) -> float:
    """Return the factor by which times are scaled down: samples from a busy machine may suggest that
    operations took longer than the run."""
    return min(1.0, wall / communication) if communication > 0 else 1.0


def advice_of(study: PageStudy, wall: float, contract: Contract | None) -> PageAdvice:
    traces, pes = study["traces"], max(1, len(study["traces"]))

    def saved(row: PageRow) -> float:
        return 1e-9 * float(study["uncached_ns"] - row["ns"]) / pes

    def saved_with_slowest(row: PageRow) -> float:
        return 1e-9 * (study["uncached_ns_with_slowest"] - row["ns_with_slowest"]) / pes

    best = max(map(saved, study["rows"]))
    known = study["cost"]["from"] != "assumed"
    enough = (
        [row for row in study["rows"] if saved(row) >= ENOUGH * best] if known and best > 0 else []
    )
    default = next(row for row in study["rows"] if row["storage_bytes"] == DEFAULT_SIZE)
    # Keep the default size unless another one is clearly better.
    row = default if default in enough or not enough else enough[0]
    communication = 1e-9 * study["uncached_ns"] / pes
    with_slowest = 1e-9 * study["uncached_ns_with_slowest"] / pes
    if study["cost"]["from"] == "model":
        wall = max(wall, communication)
    gains = sorted(
        (
            within(communication, wall) * saved(row),
            within(with_slowest, wall) * saved_with_slowest(row),
        )
        if known
        else (0.0, 0.0)
    )
    serves = row["hits"] > 0 or row["joined_puts"] > 0
    helps = gains[0] > LEAST_SECONDS and gains[0] > LEAST_SHARE * wall
    notes = []
    if any(trace["dropped"] or trace["cut_short"] for trace in traces) or pes < traces[0]["ranks"]:
        notes.append("traces are missing or incomplete")
    return PageAdvice(
        program=traces[0]["program"],
        pes=traces[0]["ranks"],
        modelled=traces[0]["modelled"],
        verdict="helps" if helps else "unknown" if serves and not known else "no",
        helps=helps,
        saved_seconds=gains[1],
        saved_seconds_least=gains[0],
        wall_seconds=wall,
        communication_seconds=min(with_slowest, wall) if known else 0.0,
        communication_seconds_least=min(communication, wall) if known else 0.0,
        hits=row["hits"] / max(1, study["gets"]),
        joined_puts=row["joined_puts"] / max(1, study["puts"]),
        gets=study["gets"],
        puts=study["puts"],
        storage_bytes=row["storage_bytes"],
        cost=study["cost"],
        contract=contract,
        notes=notes,
    )


def headline(advice: PageAdvice) -> str:
    if not advice.gets and not advice.puts:
        return "Caching would not make this run faster: no PE read or wrote another PE's memory over the network."
    if advice.verdict == "unknown":
        return (
            "No verdict: this run did not measure what gets and puts cost. State what a get costs where the program is to run with "
            "--model L,G (ns and ns per byte), or run longer."
        )
    if not advice.helps:
        loss = f" It would cost {text.range_text(-advice.saved_seconds, -advice.saved_seconds_least)} per PE."
        lost = advice.saved_seconds < -LEAST_SECONDS
        return "Caching would not make this run faster." + (loss if lost else "")
    share = 100 * advice.saved_seconds / advice.wall_seconds if advice.wall_seconds else 0.0
    saved = text.range_text(advice.saved_seconds_least, advice.saved_seconds)
    would = f"save {saved} of {text.seconds(advice.wall_seconds)} per PE ({share:.0f}%)"
    if advice.contract is not None and not advice.contract.kept:
        return f"Do not cache this program as it is: it would {would}, but read stale data."
    return f"Caching would help: it would {would}."


def contract_line(advice: PageAdvice) -> str:
    found = advice.contract
    if found is None:
        return (
            "Whether the program keeps the cache's contract was not checked, as no hit was fetched again: run it with "
            "NEARCACHE_SHMEM_CHECK=1 (docs/semantics-openshmem.md)."
        )
    if found.kept:
        return (
            f"The contract was kept in this run: {found.hits_checked:,} hits were fetched again, and none was stale. "
            "It must be kept in others, too (docs/semantics-openshmem.md)."
        )
    return (
        f"The program breaks the cache's contract: {found.hits_old:,} of {found.hits_checked:,} hits were stale. The messages above "
        "name the objects, and the calls that should have been acquires (docs/semantics-openshmem.md)."
    )


def lines_of(advice: PageAdvice, words: Sequence[str], tag: str | None) -> Iterable[str]:
    cost = advice.cost
    yield headline(advice)
    pes = how_many(advice.pes, ("PE", "PEs"))
    about = f"{advice.program}, {pes}, {text.seconds(advice.wall_seconds)}"
    if cost["from"] != "assumed":
        least, most = advice.communication_seconds_least, advice.communication_seconds
        slowest = "" if least >= 0.8 * most else " without the slowest fiftieth"
        about += (
            f"; a get costs {cost['latency_ns']:,.0f} ns + "
            f"{cost['ns_per_byte']:.2f} ns/B, a put {cost['put_ns']:,.0f} ns, a quiet {cost['quiet_ns']:,.0f} ns "
            f"({'measured' if cost['from'] == 'trace' else 'given'}{slowest}), all of them "
            f"{text.range_text(least, most)} per PE uncached"
        )
    yield about + "."
    if advice.gets or advice.puts:
        yield (
            f"A cache of {text.size(advice.storage_bytes)} would serve {advice.hits:.0%} of {advice.gets:,} gets, and "
            f"{advice.joined_puts:.0%} of {advice.puts:,} puts would be combined with others."
        )
        yield contract_line(advice)
    if advice.helps and (advice.contract is None or advice.contract.kept):
        yield "Command:  " + command_for(advice, words, tag)
    yield from (f"Note: {note}." for note in advice.notes)


def command_for(advice: PageAdvice, words: Sequence[str], tag: str | None) -> str:
    size = text.size(advice.storage_bytes)
    other = advice.storage_bytes != DEFAULT_SIZE
    if started_by_upcrun(words):
        return shlex.join([*(["env", f"NEARCACHE_SHMEM_SIZE={size}"] if other else []), *words])
    given = [*(["--mpi", tag] if tag else []), *(["--shmem-size", size] if other else [])]
    return shlex.join(
        ["nearcache", "run", *given, "--", *(words or ["oshrun", "...", "./program"])]
    )


def render(
    advice: PageAdvice, words: Sequence[str] | None, width: int, tag: str | None = None
) -> str:
    def wrapped(line: str) -> str:
        if line.startswith("Command:"):
            return line  # to be copied
        return textwrap.fill(plain(line), width, break_on_hyphens=False, break_long_words=False)

    return "\n\n".join(wrapped(line) for line in lines_of(advice, words or [], tag)) + "\n"
