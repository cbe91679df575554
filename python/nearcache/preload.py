# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the preload objects for a program's MPI and OpenSHMEM and inserts them into a command
line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from . import shmem
from .errors import Refused

if TYPE_CHECKING:
    from .command import Command
    from .home import PreloadObject
    from .mpi import Mpi


SEPARATORS = re.compile(r"[\s:]")  # of LD_PRELOAD: there is no way to quote them


def version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _distance(wanted: str, have: str) -> tuple[int, ...]:
    """Return a sort key for the distance of versions: first by the major number, then minor, then
    the others."""
    pairs = zip_longest(version_numbers(wanted), version_numbers(have), fillvalue=0)
    return tuple(abs(a - b) for a, b in pairs) or (0,)


@dataclass(frozen=True)
class Choice:
    object: PreloadObject
    note: str  # a note for the user, or ""


def choose(found: Mpi, objects: Sequence[PreloadObject]) -> Choice:
    """Return the object for an Mpi: of its family, of the nearest version. Raises Refused if there
    is none."""
    family = [item for item in objects if item.family == found.family]
    if not family:
        exist = ", ".join(sorted(item.tag for item in objects)) or "none"
        wrapper = "oshcc" if found.family in shmem.FAMILIES else "mpicc"
        raise Refused(
            f"the program uses {found.tag} ({found.found}), and there is no preload object of that family; "
            f"there are: {exist}. Build one: nearcache build --{wrapper} /path/{wrapper} "
            f"(in a checkout cmake --preset library -DNEARCACHE_{wrapper.upper()}=/path/{wrapper} "
            "&& cmake --build build)"
        )
    best = min(family, key=lambda item: _distance(found.version, item.version))
    note = ""
    if found.version and version_numbers(found.version) != version_numbers(best.version):
        note = f"no preload object for {found.tag}; using {best.tag}"
    return Choice(best, note)


def choose_all(found: Sequence[Mpi], objects: Sequence[PreloadObject]) -> list[Choice]:
    """Return a Choice for each library that a program uses.

    Only the first must have an object: many programs that communicate by OpenSHMEM also link the
    MPI below it.
    """
    choices = [choose(found[0], objects)]
    for other in found[1:]:
        try:
            choices.append(choose(other, objects))
        except Refused:
            choices[0] = Choice(
                choices[0].object,
                f"there is no preload object for {other.tag}: the program's MPI calls are not cached",
            )
    return choices


def by_tag(tag: str, objects: Sequence[PreloadObject]) -> Choice:
    """Return the object with the tag given by the user."""
    for item in objects:
        if item.tag == tag:
            return Choice(item, "")
    exist = ", ".join(sorted(item.tag for item in objects)) or "none"
    raise Refused(f"there is no preload object {tag}; there are: {exist}")


def preload_value(paths: Iterable[object], existing: str | None) -> str:
    """Return LD_PRELOAD with our objects before the existing ones."""
    names = [str(path) for path in paths]
    for path in names:
        if SEPARATORS.search(path):
            raise Refused(
                f"the loader separates preload objects by blanks and colons, so {path} cannot be preloaded; "
                "move Nearcache to a folder without them"
            )
    others = [item for item in SEPARATORS.split(existing or "") if item and item not in names]
    return ":".join([*names, *others])


def insert(
    command: Command,
    paths: Sequence[object],
    variables: Mapping[str, str],
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the words of `command` with `env LD_PRELOAD=... NEARCACHE_...=...` before each
    program.

    The launcher itself must not be preloaded, and variables set by `env` reach ranks on other hosts
    under every launcher.
    """
    environment = os.environ if environment is None else environment
    words, last = [], 0
    for program in command.programs:
        existing = program.assignments.get("LD_PRELOAD", environment.get("LD_PRELOAD"))
        given = {
            "LD_PRELOAD": preload_value(paths, existing),
            # An `env` directly before the program overrides our options.
            **{name: value for name, value in variables.items() if name not in program.assignments},
        }
        words += (
            command.words[last : program.at]
            + ["env"]
            + [f"{name}={value}" for name, value in given.items()]
            # `env` would take a program with = in its name for another variable.
            + (["sh", "-c", 'exec "$0" "$@"'] if "=" in command.words[program.at] else [])
            # `env` searches only PATH.
            + (["./" + command.words[program.at]] if program.bare else [])
        )
        last = program.at + program.bare
    return words + command.words[last:]
