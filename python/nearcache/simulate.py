# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache simulate`: replays traces (NEARCACHE_TRACE) through the library's own cache, by
policy, storage and index.

nearcache-simulate of the build or installation does the work; this module finds its traces and
describes its options.

traces(["run"])                      the files of all ranks of run.<rank>.nctrace
ask(["run"], "--summary")            the answer of nearcache-simulate, as a dictionary
"""

from __future__ import annotations

import glob
import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from . import home
from .ended import replace, told
from .errors import Command, NearcacheError

PROGRAM = "nearcache-simulate"
SUFFIX = ".nctrace"
said: set[str] = set()  # notes on traces already shown, which several questions would repeat


def executable() -> Path:
    """Return the program's path: in a build (bin/), installed (libexec/nearcache/), or in the
    wheel."""
    folder = home.find().path
    for path in (
        folder / "bin" / PROGRAM,
        home.Home(folder).folder("libexec") / "nearcache" / PROGRAM,
        folder / "libexec" / "nearcache" / PROGRAM,
        home.WHEEL / "libexec" / "nearcache" / PROGRAM,
    ):
        if os.access(path, os.X_OK):
            return path
    raise NearcacheError(
        f"{PROGRAM} is not in {folder}: a build leaves it out if CLI11 or fmt is missing. "
        "Install both, then configure and build Nearcache again"
    )


def _rank_of(path: str) -> int:
    found = re.search(r"\.(\d+)" + re.escape(SUFFIX) + "$", path)
    return int(found[1]) if found else -1


def traces_of_ranks(prefix: str) -> list[str]:
    """Return the traces written with NEARCACHE_TRACE=prefix."""
    found = glob.glob(glob.escape(prefix) + ".*" + SUFFIX)
    return sorted((path for path in found if _rank_of(path) >= 0), key=_rank_of)


def traces(names: Iterable[object]) -> list[str]:
    """Return files as they are; a prefix (the value of NEARCACHE_TRACE) stands for the files of all
    its ranks."""
    files = []
    for name in map(str, names):
        if os.path.isfile(name):
            files.append(name)
            continue
        ranks = traces_of_ranks(name)
        if not ranks:
            raise NearcacheError(
                f"{name}: there is no such trace, nor {name}.<rank>{SUFFIX} "
                f"(a run with NEARCACHE_TRACE={name} writes them)"
            )
        files += ranks
    return list(dict.fromkeys(files))


def command(names: Iterable[object], *flags: object) -> list[str]:
    return [str(executable()), *map(str, flags), "--", *traces(names)]


def ask(names: Iterable[object], *flags: object) -> Any:
    """Return the JSON answer to --summary, --curve, --safety or a simulation. Notes on damaged
    traces go to standard error, once."""
    asks = {"--summary", "--curve", "--safety"} & set(flags)
    more = () if asks else ("--json", "-")
    done = subprocess.run(
        command(names, *flags, *more),
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",  # it prints the traces' names, which may hold any bytes
    )
    if done.returncode:
        raise NearcacheError(
            done.stderr.strip().removeprefix(PROGRAM + ": ") or f"{PROGRAM} {told(done.returncode)}"
        )
    if done.stderr and done.stderr not in said:
        said.add(done.stderr)
        click.echo(done.stderr, err=True, nl=False)
    return json.loads(done.stdout)


def _flags(given: Mapping[str, Any]) -> list[str]:
    """Return the program's flags for click's values."""
    flags = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif isinstance(value, tuple):
            for each in value:
                flags += [flag, str(each)]
        elif value not in (None, False):
            flags += [flag, str(value)]
    return flags


def _windows(
    _context: click.Context, _parameter: click.Parameter, labels: tuple[str, ...]
) -> tuple[str, ...]:
    for label in labels:
        if not re.fullmatch(r"\d+(:\d+)?", label):
            raise click.BadParameter(f"'{label}' is neither a window's number nor RANK:NUMBER")
    return labels


@click.command(cls=Command, short_help="Replay traces through the cache, by policy and storage")
@click.argument("names", nargs=-1, required=True, metavar="TRACE...")
@click.option("--policy", metavar="NAMES", help="Policies, separated by commas  [default: rate]")
@click.option(
    "--storage",
    metavar="SIZES",
    help="Storage of a window: bytes (1M), or a share of the distinct bytes (25%)  [default: 25%]",
)
@click.option(
    "--index",
    metavar="ENTRIES",
    help="Entries of the index, or auto: 1.5 times the distinct keys  [default: auto]",
)
@click.option(
    "--mode",
    type=click.Choice(["as-traced", "transparent", "coherent", "always", "user"]),
    help="The rule by which cached data is valid  [default: as-traced]",
)
@click.option(
    "--strict-flush",
    is_flag=True,
    help="Mode transparent: every completion is an acquire (option strict_flush)",
)
@click.option(
    "--window",
    multiple=True,
    callback=_windows,
    metavar="ID",
    help="Only this window, as reports name it; may be repeated",
)
@click.option(
    "--adaptive", is_flag=True, help="Let index and storage adapt, starting from the given sizes"
)
@click.option(
    "--ranks-per-node",
    type=click.IntRange(1, 1024),
    help="This many ranks share one cache of a window (option share)  [default: 1]",
)
@click.option(
    "--by-host",
    is_flag=True,
    help="The same for the ranks whose traces name the same host, however many there are",
)
@click.option(
    "--model",
    metavar="L,G",
    help="A get of n bytes costs L + G*n ns, instead of what the trace measured",
)
@click.option(
    "--set",
    "set",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another option of the library; may be repeated",
)
@click.option(
    "--no-bounds",
    is_flag=True,
    help="Leave out the infinite cache, the best fixed set and the clairvoyant schedule",
)
@click.option("--csv", metavar="FILE", help="Write the table as CSV")
@click.option("--json", metavar="FILE", help="Write the result as JSON; - is standard output")
@click.option("--curve", is_flag=True, help="Print the savings by storage size, as JSON")
@click.option(
    "--points", type=click.IntRange(2, 1000), help="With --curve: number of storages  [default: 22]"
)
@click.option("--summary", is_flag=True, help="Print a summary of the traces, as JSON")
@click.option(
    "--safety",
    is_flag=True,
    help="Print in which mode gets would have been served old data, as JSON",
)
@click.option(
    "--progress", is_flag=True, help="Show progress even if standard error is not a terminal"
)
def simulate(names: tuple[str, ...], **given: Any) -> None:
    """Replay traces through the cache: what would it save, by policy, storage and index?

    TRACE is a file, or the value that NEARCACHE_TRACE had, for the traces of all ranks.
    """
    words = command(names, *_flags(given))
    try:
        replace(words)
    except OSError as error:
        raise NearcacheError(f"cannot start {words[0]}: {error.strerror}") from None


__all__ = ["ask", "command", "executable", "simulate", "traces"]
