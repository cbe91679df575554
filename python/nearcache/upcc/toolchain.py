"""What upcc compiles and links with: the C compiler, one OpenSHMEM of this machine, and Nearcache's libraries built for it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from .. import home
from . import command
from .diagnostics import UpcError


@dataclass(frozen=True)
class Toolchain:
    cc: tuple[str, ...]  # words of the C compiler
    tag: str  # of the OpenSHMEM, oshmem-4.1.4
    libraries: Path  # the folder of libnearcache_upc.a and libnearcache_shmem.so
    headers: Path  # the folder that nearcache/upc_runtime.h is in
    includes: tuple[str, ...]  # of the OpenSHMEM
    defines: tuple[str, ...]
    link: tuple[str, ...]
    wrapper: str  # its oshcc

    @property
    def upc_headers(self):
        return self.headers / "nearcache" / "upc"

    @property
    def oshrun(self):
        beside = Path(self.wrapper).parent / "oshrun"
        return str(beside) if beside.exists() else "oshrun"

    def shmem_words(self):
        """For every compilation: the user's program may call OpenSHMEM as well."""
        return [word for folder in self.includes for word in ("-isystem", folder)] + [
            f"-D{define}" for define in self.defines
        ]

    def link_words(self, struct_pointers):
        """What follows the user's objects: the runtime, the cache before the OpenSHMEM whose calls it takes, the OpenSHMEM."""
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


def compiler(given=""):
    """The words of the C compiler: --cc, $CC, or cc. `make CC=upcc` sets $CC for upcc too, which is then no C compiler."""
    words = command.split(given or os.environ.get("CC") or "cc", "--cc" if given else "CC")
    if words and Path(words[0]).name == "upcc":
        if given:
            raise UpcError(None, f"--cc={given}: upcc needs a C compiler")
        words = ["cc"]
    return tuple(words)


def rows(where):
    """What the build recorded of each OpenSHMEM, by tag."""
    if not where.upc.exists():
        raise UpcError(
            None,
            f"there is no {where.upc}: this Nearcache was built without OpenSHMEM (is there an oshcc?)",
        )
    return json.loads(where.upc.read_text())["shmems"]


def find(cc="", tag=""):
    """The Toolchain of this Nearcache; of its only or first OpenSHMEM when no tag is given."""
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
