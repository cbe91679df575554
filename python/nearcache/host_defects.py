"""What MPI and OpenSHMEM libraries are known to do wrong by themselves: the rows of src/mpi/process/host_defects.def."""

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
    last: str  # empty: no release without it is known
    what: str
    answer: str

    def concerns(self, library: str, version: str) -> bool:
        """A library without a number of its own, being derived from MPICH, has what no release is known to be without."""
        if library != self.library:
            return False
        if not version:
            return not self.last
        return _numbers(version) >= _numbers(self.first) and (
            not self.last or _numbers(version) <= _numbers(self.last)
        )


def of(library: str, version: str, rows: Iterable[HostDefect]) -> list[HostDefect]:
    """Those of the `rows` that concern a library (mpich, openmpi or oshmem) of a version."""
    return [row for row in rows if row.concerns(library, version)]
