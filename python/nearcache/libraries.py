# SPDX-License-Identifier: BSD-3-Clause
"""Finds the libraries that a program would load by the loader's search (ld.so(8)), without running
it."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from . import elf, shmem
from .elf import PathLike

DEFAULT_FOLDERS = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]


class Used(NamedTuple):
    """The communication libraries that a program would load, and the names that were not found."""

    shmem: Path | None
    mpi: Path | None
    missing: list[str]


@functools.lru_cache(maxsize=1)
def loader_cache() -> dict[str, list[str]]:
    """Return soname -> paths, from ldconfig's cache."""
    found: dict[str, list[str]] = {}
    for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            text = subprocess.run(
                [program, "-p"], capture_output=True, text=True, check=True
            ).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        for name, path in re.findall(r"^\s+(\S+) \(.*\) => (\S+)$", text, re.M):
            found.setdefault(name, []).append(path)
        break
    return found


def _expanded(folder: str, origin: str) -> str:
    return folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)


def _folders(image: elf.Elf, ancestors: list[elf.Elf], library_path: list[str]) -> list[str]:
    """Return the folders searched for the libraries that `image` needs, in the loader's order."""
    origin = str(image.path.resolve().parent)
    folders = []
    if not image.runpath:  # DT_RPATH counts only without DT_RUNPATH, and is inherited
        for owner in [image, *ancestors]:
            folders += [
                _expanded(folder, str(owner.path.resolve().parent)) for folder in owner.rpath
            ]
    folders += library_path
    return folders + [_expanded(folder, origin) for folder in image.runpath]


def _find(
    name: str, image: elf.Elf, ancestors: list[elf.Elf], library_path: list[str]
) -> elf.Elf | None:
    if "/" in name:
        paths = [name]
    else:
        paths = [os.path.join(folder, name) for folder in _folders(image, ancestors, library_path)]
        paths += loader_cache().get(name, [])
        paths += [os.path.join(folder, name) for folder in DEFAULT_FOLDERS]
    for path in paths:
        if not elf.is_elf(path):
            continue
        found = elf.read(path)
        if (found.machine, found.bits) == (image.machine, image.bits):
            return found
    return None


def needed_by(
    path: PathLike, environment: Mapping[str, str] | None = None
) -> tuple[list[elf.Elf], list[str]]:
    """Return the images that a program (or library) would load, in the loader's breadth-first
    order, and the names not found."""
    environment = os.environ if environment is None else environment
    text = environment.get("LD_LIBRARY_PATH")
    library_path = [folder or "." for folder in re.split("[:;]", text)] if text else []
    start = elf.read(path)
    images, missing, seen = [], [], set()
    queue: list[tuple[elf.Elf, list[elf.Elf]]] = [(start, [])]
    while queue:
        image, ancestors = queue.pop(0)
        for name in image.needed:
            if name in seen:
                continue
            seen.add(name)
            found = _find(name, image, ancestors, library_path)
            if found is None:
                missing.append(name)
                continue
            images.append(found)
            queue.append((found, [image, *ancestors]))
    return images, missing


def mpi_library(
    path: PathLike, environment: Mapping[str, str] | None = None
) -> tuple[Path | None, list[str]]:
    """Return (path of the MPI library that a program would load or None, names of MPI libraries
    that were not found)."""
    images, missing = needed_by(path, environment)
    for image in images:
        if is_mpi_name(image.path.name):
            return Path(image.path), []
    return None, [name for name in missing if is_mpi_name(name)]


def used_by(path: PathLike, environment: Mapping[str, str] | None = None) -> Used:
    """Return the communication libraries that a program would load.

    An MPI used only by the OpenSHMEM library does not count, since the program does not call it.
    """
    images, missing = needed_by(path, environment)
    missing = [name for name in missing if is_mpi_name(name) or shmem.is_shmem_name(name)]
    below = next((image for image in images if shmem.is_shmem_name(image.path.name)), None)
    above = next((image for image in images if is_mpi_name(image.path.name)), None)
    if below and above:
        others = [
            elf.read(path),
            *(image for image in images if image is not below and not is_mpi_name(image.path.name)),
        ]
        if not any(is_mpi_name(name) for image in others for name in image.needed):
            above = None
    return Used(below.path if below else None, above.path if above else None, missing)


def is_mpi_name(name: str) -> bool:
    """Return whether a name is that of a C library of MPI: libmpi.so.*, libmpich.so.*,
    libmpi_abi.so.*, vendors' libmpi_cray.so.* and the like."""
    return (
        re.match(r"libmpi(ch|_abi|_cray|_gnu_\w+|_intel|_nvidia|_amd)?\.so(\.|$)", name) is not None
    )
