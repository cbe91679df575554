# SPDX-License-Identifier: BSD-3-Clause
"""The toolchain of upcc: the C compiler, one OpenSHMEM of this machine, and Nearcache's libraries
built for it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import home
from . import command
from .diagnostics import UpcError


@dataclass(frozen=True)
class Toolchain:
    cc: tuple[str, ...]  # words of the C compiler
    tag: str  # the OpenSHMEM's tag, such as oshmem-4.1.4
    libraries: Path  # folder of libnearcache_upc.a and libnearcache_shmem.so
    headers: Path  # folder of nearcache/upc_runtime.h
    includes: tuple[str, ...]  # include options of the OpenSHMEM
    defines: tuple[str, ...]
    link: tuple[str, ...]
    wrapper: str  # its oshcc

    @property
    def upc_headers(self) -> Path:
        return self.headers / "nearcache" / "upc"

    @property
    def oshrun(self) -> str:
        beside = Path(self.wrapper).parent / "oshrun"
        return str(beside) if beside.exists() else "oshrun"

    def shmem_words(self) -> list[str]:
        """Return words for every compilation: the user's program may also call OpenSHMEM."""
        return [word for folder in self.includes for word in ("-isystem", folder)] + [
            f"-D{define}" for define in self.defines
        ]

    def link_words(self, struct_pointers: bool) -> list[str]:
        """Return what follows the user's objects: the runtime, the cache (before the OpenSHMEM,
        whose calls it intercepts), the OpenSHMEM."""
        folder = str(self.libraries)
        archive = self.libraries / (
            "libnearcache_upc_struct.a" if struct_pointers else "libnearcache_upc.a"
        )
        if not archive.exists():
            raise UpcError(
                None, f"the UPC runtime {archive} is not there; build it: cmake --build build"
            )
        cache = [
            "-Wl,--no-as-needed",
            f"-L{folder}",
            f"-Wl,-rpath,{folder}",
            "-lnearcache_shmem",
            *self.link,
            "-Wl,--as-needed",
        ]
        return [str(archive), *cache, "-lm", "-lpthread", "-ldl"]


def compiler(given: str = "") -> tuple[str, ...]:
    """Return the words of the C compiler: --cc, $CC, or cc. `make CC=upcc` sets $CC for upcc as
    well; it is then ignored."""
    words = command.split(given or os.environ.get("CC") or "cc", "--cc" if given else "CC")
    if words and Path(words[0]).name == "upcc":
        if given:
            raise UpcError(None, f"--cc={given}: upcc needs a C compiler")
        words = ["cc"]
    return tuple(words)


def rows(where: home.Home) -> dict[str, dict[str, Any]]:
    """Return what the build recorded about each OpenSHMEM, by tag."""
    if not where.upc.exists():
        raise UpcError(
            None,
            f"there is no {where.upc}: this Nearcache was built without OpenSHMEM (is there an oshcc?)",
        )
    return json.loads(where.upc.read_text())["shmems"]


def find(cc: str = "", tag: str = "") -> Toolchain:
    """Return the Toolchain of this Nearcache, for its only or first OpenSHMEM if no tag is
    given."""
    where = home.find()
    known = rows(where)
    folders = {item.tag: item.path.parent for item in where.objects() if item.is_shmem}
    usable = [name for name in known if name in folders]
    if tag and tag not in usable:
        raise UpcError(
            None,
            f"--shmem={tag}: this Nearcache is built for {', '.join(usable) or 'no OpenSHMEM'}",
        )
    if not usable:
        raise UpcError(
            None,
            f"this Nearcache is built for no OpenSHMEM ({where.path}); upcc needs one: install it, build again",
        )
    tag = tag or usable[0]
    row = known[tag]
    return Toolchain(
        compiler(cc),
        tag,
        folders[tag],
        where.headers(),
        tuple(row["includes"]),
        tuple(row["defines"]),
        tuple(row["link"]),
        row["wrapper"],
    )
