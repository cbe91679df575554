# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache build`: builds the preload objects for the user's own MPIs from the sources in the
wheel.

An object fits one MPI, so the wheel cannot contain any. They are installed under a prefix; the
commands search the default one themselves.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from . import ended, home, preload
from .errors import Command, NearcacheError

SHOWN = 30  # number of lines shown of the log of a failed step


def source() -> Path:
    """Return the folder of the sources."""
    if not home.WHEEL.exists():
        raise NearcacheError(
            "this Nearcache was not installed from a wheel: build its objects with CMake (docs/quickstart.md)"
        )
    return home.WHEEL / "source"


def wrapper(name: str, kind: str) -> str:
    """Return the path of a compile wrapper given by the user."""
    found = shutil.which(name)
    if not found:
        raise NearcacheError(f"--{kind}: there is no program {name}")
    return os.path.abspath(found)


def settings(mpicc: Sequence[str], oshcc: Sequence[str], prefix: Path) -> list[str]:
    """Return CMake's settings; without wrappers, it uses every MPI and OpenSHMEM that it finds."""
    named = bool(mpicc or oshcc)
    lists = {
        kind.upper(): ";".join(wrapper(name, kind) for name in names)
        for kind, names in (("mpicc", mpicc), ("oshcc", oshcc))
    }
    words = [
        f"-DNEARCACHE_{kind}={value or ('none' if named else '')}" for kind, value in lists.items()
    ]
    if named:
        words.append("-DNEARCACHE_SMPICC=OFF")  # SimGrid, which no wrapper names
    return [
        *words,
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_UNITY_BUILD=ON",
        f"-DCMAKE_INSTALL_PREFIX={prefix}",
        "-DNEARCACHE_BUILD_SIMULATE=OFF",
        *(f"-DNEARCACHE_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "BENCH")),
        *(["-G", "Ninja"] if shutil.which("ninja") else []),
        f"-DPython3_EXECUTABLE={sys.executable}",
    ]


def place_for(prefix: Path | None) -> Path:
    """Return the folder for the objects, from which it must be possible to preload them."""
    chosen = prefix or home.built()
    if not chosen:
        raise NearcacheError("this user has no home folder: name another one with --prefix")
    place = chosen.absolute()
    if preload.SEPARATORS.search(str(place)):
        raise NearcacheError(
            f"the loader separates preload objects by blanks and colons, so none in {place} can be preloaded; "
            "name another folder with --prefix"
        )
    for name in ("lib", "share", "include"):
        folder = next(each for each in (place / name, *(place / name).parents) if each.exists())
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            why = "it is no folder" if not folder.is_dir() else "it cannot be written"
            raise NearcacheError(
                f"cannot install in {place} ({folder}: {why}); name another folder with --prefix"
            )
    return place


def step(words: Sequence[object], log: Path) -> None:
    """Run one command with its output in the log; lines that count steps also go to a terminal."""
    live = sys.stderr.isatty()

    def copy(process: subprocess.Popen[str]) -> int:
        with log.open("a", errors="replace") as file:
            for line in process.stdout or ():
                file.write(line)
                if live and re.match(r"\[\s*\d+(/\d+|%)\]", line):
                    click.echo(f"\r\033[K{line.strip()[:100]}", err=True, nl=False)
        return process.wait()

    def end(process: subprocess.Popen[str]) -> None:  # also the compilers started by cmake
        ended.kill_group(process, signal.SIGTERM)
        process.wait()

    code = ended.run(
        list(map(str, words)),
        copy,
        end,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    if live:
        click.echo("\r\033[K", err=True, nl=False)
    if code:
        tail = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-SHOWN:])
        raise NearcacheError(
            f"{' '.join(map(str, words[:2]))} failed; the end of its output:\n{tail.rstrip()}"
        )


def make(mpicc: Sequence[str], oshcc: Sequence[str], prefix: Path, jobs: int) -> list[str]:
    """Build in a temporary folder; return the tags of the objects that the prefix has
    afterwards."""
    if not shutil.which("cmake"):
        raise NearcacheError("there is no cmake: pip install cmake, or your system's package")
    with tempfile.TemporaryDirectory(prefix="nearcache-build-") as folder:
        log = Path(folder) / "log"
        step(["cmake", "-S", source(), "-B", folder, *settings(mpicc, oshcc, prefix)], log)
        step(["cmake", "--build", folder, "-j", jobs], log)
        for component in ("runtime", "development"):
            step(["cmake", "--install", folder, "--component", component], log)
    return [item.tag for item in home.Home(prefix).objects()]


@click.command(cls=Command, short_help="Build the objects for your MPIs and OpenSHMEMs")
@click.option(
    "--mpicc",
    multiple=True,
    metavar="WRAPPER",
    help="Build for the MPI of this compile wrapper; may be repeated",
)
@click.option(
    "--oshcc",
    multiple=True,
    metavar="WRAPPER",
    help="Build for the OpenSHMEM of this compile wrapper; may be repeated",
)
@click.option(
    "--prefix",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Install there; NEARCACHE_HOME must then name it  [default: ~/.local/share/nearcache/VERSION]",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: len(os.sched_getaffinity(0)),
    help="Parallel compilations  [default: one per core]",
)
def build(mpicc: tuple[str, ...], oshcc: tuple[str, ...], prefix: str | None, jobs: int) -> None:
    """Build the objects for your MPIs and OpenSHMEMs, by default for all that are found.

    Needs CMake and a C++20 compiler. The prefix has the headers and the CMake package of the last build, and keeps the objects
    of earlier ones.
    """
    place = place_for(Path(prefix) if prefix else None)
    with ended.signals_as_exceptions():
        tags = make(mpicc, oshcc, place, jobs)
    click.echo(f"{place}: {', '.join(tags)}")
    if prefix:
        click.echo(f"export NEARCACHE_HOME={shlex.quote(str(place))}")


__all__ = ["build"]
