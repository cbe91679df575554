# SPDX-License-Identifier: BSD-3-Clause
"""Determines which OpenSHMEM library a program uses, and how this machine's settings affect it."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping, Sequence

# Open MPI's, Sandia's, and any other, by the version of the specification
FAMILIES = ("oshmem", "sandia", "openshmem")

# Run in a process of its own, because loading such a library has side effects. These functions do
# not need shmem_init.
ASK_LIBRARY = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
try:
    text, length = ctypes.create_string_buffer(16384), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    print(text.value.decode(errors="replace"))
except AttributeError:
    pass
name, major, minor = ctypes.create_string_buffer(1024), ctypes.c_int(), ctypes.c_int()
library.shmem_info_get_name(name)
library.shmem_info_get_version(ctypes.byref(major), ctypes.byref(minor))
print("OpenSHMEM", f"{major.value}.{minor.value}", name.value.decode(errors="replace"))
"""


def is_shmem_name(name: str) -> bool:
    """Return whether a name is that of an OpenSHMEM library.

    These are liboshmem.so.40 (Open MPI), libsma.so.1 (Sandia, Cray), libosmpi.so, libshmem.so.
    """
    return re.match(r"lib(oshmem|sma|osmpi|shmem)\.so(\.|$)", name) is not None


def family_and_version(text: str | None, library: object) -> tuple[str, str]:
    """Return family and version from a library's answer to ASK_LIBRARY; by its name alone if it
    does not answer (text is None)."""
    name = os.path.basename(str(library))
    specification = re.search(r"^OpenSHMEM (\d+\.\d+) (.*)$", text or "", re.M)
    if name.startswith("liboshmem"):
        version = re.search(r"Open MPI\s*v?(\d+(?:\.\d+)+)", text or "")
        return "oshmem", version[1] if version else ""
    if specification:
        return "sandia" if "Sandia" in specification[2] else "openshmem", specification[1]
    return "openshmem", ""


def has_memory_hook(family: str, version: str) -> bool:
    """Return whether the library is Open MPI's, older than version 5."""
    return family == "oshmem" and not re.match(r"[5-9]|\d\d", version)


def fix_addresses(family: str, version: str) -> None:
    """Have the programs that this process starts from now on use the same addresses in each run, as
    `setarch -R` does, where that is permitted, if PEs of such a library start more surely then.

    Open MPI 4's shmem_init exchanges what memory each PE has mapped, and crashes now and then if
    PEs differ in that: in one of three runs with 4.1.6 on Ubuntu 24.04. Open MPI 5 wants an address
    that is free in all PEs, which a random one nearly always is: with 5.0.7 on Debian 13, 8 to 14
    of 60 runs at fixed addresses failed, and none of 330 otherwise.
    """
    if not has_memory_hook(family, version):
        return
    ask, no_randomisation = 0xFFFFFFFF, 0x0040000  # <sys/personality.h>
    personality = ctypes.CDLL(None).personality
    personality.argtypes = [ctypes.c_ulong]
    now = personality(ask)
    if now >= 0:
        personality(now | no_randomisation)


def memory_hook_pitfall(environment: Mapping[str, str], words: Sequence[str] = ()) -> str:
    """Return a warning if Open MPI 4's finalize would crash because its hook of the system's memory
    calls is in place; else ""."""
    at = [index for index, word in enumerate(words) if word.lstrip("-") in ("mca", "gmca", "omca")]
    given = [
        words[index + 2]
        for index in at
        if words[index + 1 : index + 2] == ["memory"] and index + 2 < len(words)
    ]
    setting = (given or [environment.get("OMPI_MCA_memory", "")])[-1]
    if setting.startswith("^") and "patcher" in setting[1:].split(","):
        return ""
    return (
        "Open MPI 4's shmem_finalize crashes (signal 11) unless its memory hook is off: "
        "export OMPI_MCA_memory=^patcher, or oshrun --mca memory ^patcher"
    )


def heap_pitfall(environment: Mapping[str, str]) -> str:
    """Return a warning if the specification's heap variable is set but not the one that Open MPI
    reads; else ""."""
    ours = [
        name
        for name in ("SMA_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE")
        if environment.get(name)
    ]
    if not environment.get("SHMEM_SYMMETRIC_SIZE") or ours:
        return ""
    return (
        "SHMEM_SYMMETRIC_SIZE is set, but Open MPI does not read it: the symmetric heap's size is SMA_SYMMETRIC_SIZE or "
        "SHMEM_SYMMETRIC_HEAP_SIZE (256 MB without either)"
    )
