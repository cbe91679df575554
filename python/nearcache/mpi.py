# SPDX-License-Identifier: BSD-3-Clause
"""Determines to which MPI or OpenSHMEM a library, a program, an interpreter or a launcher belongs:
Mpi(family, version, found)."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import command, elf, libraries, shmem
from .elf import PathLike
from .errors import Refused

# MPI libraries with MPICH's C interface (the MPICH ABI Compatibility Initiative): an object for
# MPICH serves them.
MPICH_ALIKE = re.compile(r"MPICH|Intel\(R\) MPI|MVAPICH|ParaStation", re.I)


@dataclass(frozen=True)
class Mpi:
    family: str  # mpich, openmpi or abi; for an OpenSHMEM: oshmem, sandia or openshmem
    version: str  # 4.0.2; "" if unknown
    found: str  # where it was seen: a library, a launcher

    @property
    def tag(self) -> str:
        return f"{self.family}-{self.version or 'unknown'}"


# What to do about a program that is not the one with MPI: a container, an unknown launcher.
BEHIND = "if it starts a program that uses MPI, put nearcache run before that one"

# Run in a process of its own, because loading an MPI library has side effects.
# MPI_Get_library_version may be called before MPI_Init (MPI-4.0, section 9.1.1).
_ASK_LIBRARY = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
text, length = ctypes.create_string_buffer(16384), ctypes.c_int()
library.MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
major, minor = ctypes.c_int(), ctypes.c_int()
try:
    library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor))
    print("ABI", f"{major.value}.{minor.value}")
except AttributeError:
    pass
"""

# mpi4py chooses its MPI while it is imported; without initialisation, nothing is started.
_ASK_MPI4PY = """
import mpi4py, re
mpi4py.rc.initialize = False
from mpi4py import MPI
for line in open("/proc/self/maps"):
    path = line.split(maxsplit=5)[-1].strip()
    if re.match(r"libmpi(ch|_abi|_cray|_intel)?\\.so", path.rpartition("/")[2]):
        print("LIBRARY", path)
        break
"""


def _output(
    words: Sequence[str], timeout: float = 30, environment: Mapping[str, str] | None = None
) -> str | None:
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _version(text: str, pattern: str) -> str:
    found = re.search(pattern + r"\s*v?(\d+(?:\.\d+)+)", text)
    return found[1] if found else ""


# `python -c` would rather import what lies in the working directory.
_OWN_MODULES = """
import sys
sys.path = [folder for folder in sys.path if folder]
"""


def _answer(
    interpreter: str, question: str, *words: str, environment: Mapping[str, str] | None = None
) -> str | None:
    """Return what Python code prints in a process of its own."""
    return _output(
        [interpreter, "-c", _OWN_MODULES + question, *words], timeout=60, environment=environment
    )


def of_library_text(text: str, library: PathLike) -> Mpi | None:
    """Return the Mpi described by a library's version text; None if its family is unknown."""
    name = Path(library).name
    if name.startswith("libmpi_abi"):
        return Mpi("abi", _version(text, r"(?m)^ABI") or "1.0", str(library))
    family, version = implementation(text)
    return Mpi(family, version, str(library)) if family else None


def implementation(text: str) -> tuple[str, str]:
    """Return (mpich or openmpi, version) from a library's version text, also for a library behind
    the standard ABI; ("", "") if it is neither."""
    if "Open MPI" in text or "Spectrum MPI" in text:
        return "openmpi", _version(text, r"(?:Open|Spectrum) MPI")
    if MPICH_ALIKE.search(text):
        return "mpich", _version(text, r"MPICH Version:")
    return "", ""


@functools.cache
def library_text(library: str) -> str | None:
    """Return what an MPI library says about its version; None if it does not answer."""
    return _answer(sys.executable, _ASK_LIBRARY, str(library))


def of_library(library: PathLike) -> Mpi | None:
    """Return the Mpi of a library file by asking the library, or else by its name."""
    text = library_text(str(library))
    if text is not None:
        return of_library_text(text, library)
    name = Path(library).name
    for pattern, family in (
        ("libmpi_abi", "abi"),
        ("libmpich", "mpich"),
        (r"libmpi\.so\.12", "mpich"),
        (r"libmpi\.so\.(20|40|80)", "openmpi"),
    ):
        if re.match(pattern, name):
            return Mpi(family, "", str(library))
    return None


@functools.cache
def of_launcher(launcher: str) -> Mpi | None:
    """Return the Mpi of mpiexec, by its --version; None for a launcher that belongs to no MPI, such
    as srun."""
    text = _output([launcher, "--version"]) or ""
    if "HYDRA" in text:
        return Mpi("mpich", _version(text, r"Version:"), launcher)
    if re.search(r"Open MPI|OpenRTE|PRRTE|prterun", text):
        return Mpi(
            "openmpi", _version(text, r"(?:\(Open MPI\)|\(OpenRTE\)|Open MPI|OpenRTE)"), launcher
        )
    return of_library_text(text, launcher) if MPICH_ALIKE.search(text) else None


def interpreter_of(path: str) -> list[str]:
    """Return the words of a script's `#!` line, with `env` resolved; [] if there is none."""
    try:
        with open(path, "rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    if not line.startswith(b"#!"):
        return []
    words = line[2:].decode(errors="replace").split()  # the kernel knows no quotes
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        words[:1] = [command.locate(words[0]) or words[0]] if words else []
    return words


def is_python(path: str) -> bool:
    return re.fullmatch(r"(python|pypy)\d*(\.\d+)*(d|t)?", os.path.basename(path)) is not None


def of_python(interpreter: str, launcher: str, environment: Mapping[str, str] | None = None) -> Mpi:
    """Return the Mpi that mpi4py loads in an interpreter; else the launcher's, as another binding
    may be in use."""
    text = _answer(interpreter, _ASK_MPI4PY, environment=environment)
    found = re.search(r"^LIBRARY (.*)$", text or "", re.M)
    if found:
        return of_library(found[1]) or _unknown(found[1])
    return _by_launcher(launcher, f"{interpreter} imports no mpi4py")


def of_shmem_library(library: PathLike) -> Mpi:
    """Return the OpenSHMEM of a library file by asking the library, or else by its name."""
    text = _answer(sys.executable, shmem.ASK_LIBRARY, str(library))
    return Mpi(*shmem.family_and_version(text, library), str(library))


def _by_launcher(launcher: str, reason: str) -> Mpi:
    path = command.locate(launcher) if launcher else None
    found = of_launcher(path) if path else None
    if (
        path
        and found
        and found.family == "openmpi"
        and os.path.basename(path).startswith(("oshrun", "shmemrun"))
    ):
        return Mpi("oshmem", found.version, launcher)
    if found is None:
        seen = (
            f"the MPI of launcher {launcher} cannot be determined"
            if launcher
            else "there is no launcher from which its MPI could be determined"
        )
        raise Refused(f"{reason}, and {seen}. Specify it by --mpi TAG")
    return found


def _unknown(library: PathLike) -> NoReturn:
    raise Refused(
        f"{library} is an MPI library of no family that Nearcache knows (MPICH and its ABI, Open MPI, the standard ABI)"
    )


def of_program(
    word: str, launcher: str, folder: str = "", variables: Mapping[str, str] | None = None
) -> list[Mpi]:
    """Return the libraries, OpenSHMEM first, of the program that a word of a command line starts in
    `folder`; raise Refused with the reason if there are none.

    `variables` are those that the command line sets for it.
    """
    path = (command.locate_in_launcher if launcher else command.locate)(word, folder=folder)
    if not path:
        # Without a launcher, a name in PATH has nothing to do with the working directory's files.
        beside = launcher or "/" in word or not word
        raise Refused(
            command.why_not_located(word, folder) if beside else f"there is no program {word}"
        )
    environment = {**os.environ, **(variables or {})}
    if is_python(path):  # also a wrapper script of that name, such as pyenv's
        return [of_python(path, launcher, environment)]
    if not elf.is_elf(path):
        interpreter = interpreter_of(path)
        if interpreter and is_python(interpreter[0]):
            return [of_python(interpreter[0], launcher, environment)]
        return [_by_launcher(launcher, f"{path} is a script")]
    check_preload(path)
    return of_binary(path, environment)


def check_preload(path: str) -> None:
    """Raise Refused if the loader would ignore preloads for a binary."""
    reason = elf.ignores_preload(path)
    if reason:
        raise Refused(
            f"{path} cannot be preloaded: {reason}, so the loader ignores LD_PRELOAD; {BEHIND}"
        )
    try:
        static = not elf.read(path).interpreter
    except ValueError as error:
        raise Refused(str(error)) from None
    if static:
        raise Refused(
            f"{path} is statically linked: nothing can be preloaded. Link it with libnearcache_mpi.a "
            f"(OpenSHMEM: libnearcache_shmem.a) instead; {BEHIND}"
        )


def of_binary(path: str, environment: Mapping[str, str] | None = None) -> list[Mpi]:
    """Return the libraries of a program file, like of_program()."""
    try:
        shmem_library, mpi_library, missing = libraries.used_by(path, environment)
    except ValueError as error:
        raise Refused(str(error)) from None
    found = [of_shmem_library(shmem_library)] if shmem_library else []
    if mpi_library:
        found.append(of_library(mpi_library) or _unknown(mpi_library))
    if not found and missing:
        raise Refused(
            f"{path} needs {', '.join(missing)}, which the loader would not find (LD_LIBRARY_PATH?)"
        )
    if not found:
        raise Refused(
            f"{path} uses no MPI: none of the libraries it loads is an MPI or an OpenSHMEM. "
            f"If it loads one while it runs, name it by --mpi TAG; {BEHIND}"
        )
    return found
