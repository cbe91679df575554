# SPDX-License-Identifier: BSD-3-Clause
"""Finds launchers, and the one that starts the programs of an object's MPI."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .. import home, mpi, preload
from .finding import Finding

if TYPE_CHECKING:
    from ..home import PreloadObject
    from ..mpi import Mpi

LAUNCHER_NAMES = re.compile(r"(mpiexec|mpirun)(\.(mpich|openmpi|hydra))?")
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
ROOT_VARIABLES_5 = ("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")


def folders(home_path: Path) -> list[Path]:
    """Return the folders that may hold launchers: PATH, well-known prefixes, the venvs of a source
    tree."""
    found = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    found += [
        Path(os.environ[name]) / "bin"
        for name in ("MPI_HOME", "I_MPI_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX")
        if os.environ.get(name)
    ]
    found += sorted(Path("/opt").glob("*/bin")) + sorted(Path("/usr/lib64").glob("*mpi*/bin"))
    for root in (home.PACKAGE.parents[1], home_path.parent):
        found += sorted((root / ".deps").glob("*/bin"))
    return list(dict.fromkeys(found))


def launchers(places: Iterable[Path]) -> dict[str, Mpi]:
    """Return {path: Mpi} of the launchers in some folders, with one path for each file."""
    found: dict[str, Mpi] = {}
    seen = set()
    for folder in places:
        try:
            names = sorted(
                (name for name in os.listdir(folder) if LAUNCHER_NAMES.fullmatch(name)),
                key=lambda name: (len(name), name),
            )
        except OSError:
            continue
        for name in names:
            path = folder / name
            # Open MPI's launchers are one program that looks at its own name, so links to it are
            # distinguished by folder.
            same = (os.path.realpath(path), os.path.realpath(folder))
            if same in seen or not os.access(path, os.X_OK):
                continue
            seen.add(same)
            owner = mpi.of_launcher(str(path))
            known = {
                (item.tag, os.path.realpath(Path(item.found).parent)) for item in found.values()
            }
            if owner and (owner.tag, same[1]) not in known:
                found[str(path)] = owner
    return found


def folder_beside(library: Path) -> Path:
    """Return the folder of the launchers of the installation that a library belongs to."""
    return library.parent.parent / "bin"


def launcher_for(
    item: PreloadObject, found: Mapping[str, Mpi], library: Path | None = None
) -> str | None:
    """Return the launcher of a preload object's MPI or OpenSHMEM, preferably the one beside the
    library that the self-test loads."""
    if item.is_shmem:
        own = shutil.which("oshrun", path=str(folder_beside(library))) if library else None
        return own or shutil.which("oshrun")
    family = {"abi": "mpich"}.get(item.family, item.family)
    mates = [
        path
        for path, owner in found.items()
        if owner.family == family
        and (
            item.family == "abi"
            or preload.version_numbers(owner.version) == preload.version_numbers(item.version)
        )
    ]
    if library:
        beside = [path for path in mates if Path(path).parent.parent == Path(library).parent.parent]
        mates = beside or mates
    return mates[0] if mates else None


def major_version(owner: Mpi | PreloadObject) -> int:
    return (preload.version_numbers(owner.version) or (4,))[0]


def launch_words(launcher: str, owner: Mpi | PreloadObject) -> list[str]:
    words = [launcher, "-n", "2"]
    if owner.family == "openmpi":
        words += (
            ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
            if major_version(owner) >= 5
            else ["--oversubscribe", "--bind-to", "none"]
        )
    return words


def root_findings(owner: Mpi | PreloadObject) -> list[Finding]:
    """Return what Open MPI requires of root and is not set."""
    if owner.family != "openmpi" or os.geteuid() != 0:
        return []
    wanted = ROOT_VARIABLES + (ROOT_VARIABLES_5 if major_version(owner) >= 5 else ())
    missing = [name for name in wanted if os.environ.get(name) != "1"]
    if not missing:
        return []
    return [
        Finding(
            "note",
            f"Open MPI refuses to run as root unless you export {' '.join(name + '=1' for name in missing)} "
            "(set for this self-test)",
        )
    ]
