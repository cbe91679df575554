# SPDX-License-Identifier: BSD-3-Clause
"""Known defects of MPI and OpenSHMEM libraries themselves: the rows of
src/mpi/process/host_defects.def."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "oshmem": "Open MPI's OpenSHMEM"}


def _numbers(version: str) -> list[int]:
    found = [int(number) for number in re.findall(r"\d+", version)[:3]]
    return found + [0] * (3 - len(found))


@dataclass(frozen=True)
class HostDefect:
    name: str
    library: str  # mpich, openmpi or oshmem
    first: str
    last: str  # empty: no release is known to be free of it
    what: str
    answer: str

    def concerns(self, library: str, version: str) -> bool:
        """Return whether the defect concerns a version of a library.

        An unnumbered library derived from MPICH has every defect that no release is known to be
        free of.
        """
        if library != self.library:
            return False
        if not version:
            return not self.last
        return _numbers(version) >= _numbers(self.first) and (
            not self.last or _numbers(version) <= _numbers(self.last)
        )


def of(library: str, version: str, rows: Iterable[HostDefect]) -> list[HostDefect]:
    """Return those of the `rows` that concern a version of a library (mpich, openmpi or oshmem)."""
    return [row for row in rows if row.concerns(library, version)]
