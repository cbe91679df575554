# SPDX-License-Identifier: BSD-3-Clause
"""Reads the parts of an ELF file that the loader uses: interpreter, needed libraries, run paths.
Nothing is executed."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from .errors import NearcacheError

PathLike = Union[str, "os.PathLike[str]"]


@dataclass
class Elf:
    path: Path
    machine: object = None
    bits: int = 64
    interpreter: str = ""
    needed: list[str] = field(default_factory=list)
    soname: str = ""
    rpath: list[str] = field(default_factory=list)
    runpath: list[str] = field(default_factory=list)
    dynamic: bool = False


def is_elf(path: PathLike) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def ignores_preload(path: PathLike) -> str | None:
    """Return why the loader would ignore LD_PRELOAD for this program, whatever it links; else
    None."""
    mode = os.stat(path).st_mode
    if mode & (stat.S_ISUID | stat.S_ISGID):
        return "it is setuid or setgid"
    try:
        if os.getxattr(path, "security.capability"):
            return "it has file capabilities"
    except (OSError, AttributeError):
        pass
    return None


def read(path: PathLike) -> Elf:
    """Return the Elf of a file. Raises ValueError if it is not an ELF file."""
    try:  # imported here because commands that read no program need not have it
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise NearcacheError(
            "the Python package pyelftools is missing (pip install pyelftools, or Debian's python3-pyelftools)"
        ) from None
    if not is_elf(path):
        Path(path).open("rb").close()  # raises the error that says what is wrong with the file
        raise ValueError(f"{path} is not an ELF file")
    with open(path, "rb") as file:
        try:
            return _read(Path(path), ELFFile(file))
        except OSError:
            raise
        # errors of pyelftools, and whatever else reading a malformed file raises
        except Exception as error:
            raise ValueError(f"{path} is a damaged ELF file: {error}") from None


def _read(path: Path, file: Any) -> Elf:
    elf = Elf(path, file["e_machine"], file.elfclass)
    for segment in file.iter_segments():
        kind = segment["p_type"]
        if kind == "PT_INTERP":
            elf.interpreter = segment.get_interp_name()
        elif kind == "PT_DYNAMIC":
            elf.dynamic = True
            _read_dynamic(elf, segment)
    return elf


def _read_dynamic(elf: Elf, segment: Any) -> None:
    for tag in segment.iter_tags():
        if tag.entry.d_tag == "DT_NEEDED":
            elf.needed.append(tag.needed)
        elif tag.entry.d_tag == "DT_SONAME":
            elf.soname = tag.soname
        elif tag.entry.d_tag == "DT_RPATH":
            elf.rpath += filter(None, tag.rpath.split(":"))
        elif tag.entry.d_tag == "DT_RUNPATH":
            elf.runpath += filter(None, tag.runpath.split(":"))
