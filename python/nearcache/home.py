# SPDX-License-Identifier: BSD-3-Clause
"""Locates Nearcache's own files: preload objects, tables, self-test programs.

A home is either an installation prefix (lib/nearcache/<tag>/, share/nearcache/) or a build
directory (lib/<tag>/, bin/<tag>/, share/nearcache/).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from . import __version__, shmem
from .errors import NearcacheError

# Preload object and self-test of each front end.
OBJECTS = {
    "libnearcache_mpi.so": "nearcache-selftest",
    "libnearcache_shmem.so": "nearcache-shmem-selftest",
}
# Locations in an installation: the name of the `lib` folder depends on the system.
INSTALLED = ("lib/nearcache", "lib64/nearcache", "lib/*-linux-*/nearcache")
PACKAGE = Path(__file__).resolve().parent
# tables, nearcache-simulate and the sources, in a package installed by pip
WHEEL = PACKAGE / "wheel"


@dataclass(frozen=True)
class PreloadObject:
    """A preload object and the MPI or OpenSHMEM it was built for."""

    tag: str
    path: Path
    selftest: Path  # may not exist

    @property
    def family(self) -> str:
        return self.tag.partition("-")[0]

    @property
    def version(self) -> str:
        return self.tag.partition("-")[2]

    @property
    def is_shmem(self) -> bool:
        return self.family in shmem.FAMILIES

    @property
    def kind(self) -> str:
        return "OpenSHMEM" if self.is_shmem else "MPI"


class Home:
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.tables = self.path / "share" / "nearcache" / "tables.json"
        # data that upcc needs for each OpenSHMEM
        self.upc = self.path / "share" / "nearcache" / "upc.json"

    def folder(self, name: str) -> Path:
        """Return an installation's `lib`, `libexec` or `include`, by the GNUInstallDirs names that
        CMake recorded."""
        return self.path / self.told("folders.json").get(name, name)

    def told(self, file: str) -> dict[str, str]:
        """Return what the build or installation recorded in a file; {} if there is no such file."""
        path = self.path / "share" / "nearcache" / file
        if not path.exists():
            return {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise NearcacheError(f"{path} is damaged: {error}") from None
        if not isinstance(found, dict):
            raise NearcacheError(f"{path} is damaged: it is not a JSON object")
        return {key: value for key, value in found.items() if isinstance(value, str)}

    def objects(self) -> list[PreloadObject]:
        """Return the preload objects."""
        found: dict[str, PreloadObject] = {}  # by file: lib64 may be a link to lib
        installed = [folder for pattern in INSTALLED for folder in sorted(self.path.glob(pattern))]
        own = self.folder("lib") / "nearcache"
        if own.is_dir() and own not in installed:
            installed.insert(0, own)
        for folder, programs in (
            *((folder, folder) for folder in installed),
            (self.path / "lib", self.path / "bin"),
        ):
            paths = [path for name in OBJECTS for path in sorted(folder.glob(f"*/{name}"))]
            for path in paths:
                tag = path.parent.name
                found.setdefault(
                    os.path.realpath(path),
                    PreloadObject(tag, path, programs / tag / OBJECTS[path.name]),
                )
        return list(found.values())

    def headers(self) -> Path:
        """Return the folder for -I: of the installation, or of the source tree of the command or
        the build."""
        places = [self.folder("include"), PACKAGE.parents[1] / "include"]
        if self.upc.exists():
            places.insert(1, Path(self.told(self.upc.name).get("headers", "/nowhere")))
        return next((place for place in places if (place / "nearcache").is_dir()), places[0])

    def upc_headers(self) -> Path:
        """Return the folder of upc.h and the other UPC headers."""
        return self.headers() / "nearcache" / "upc"


def built() -> Path | None:
    """Return where `nearcache build` of this version puts its objects by default; None for a user
    without a home folder."""
    data = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # such a value is to be ignored, says its specification
        data = os.path.expanduser("~/.local/share")
    return Path(data) / "nearcache" / __version__ if os.path.isabs(data) else None


def candidates() -> list[Path]:
    """Return the homes in the order in which they are tried.

    These are: the environment's, the source tree's build, the installation, the objects built for a
    wheel, and the wheel itself.
    """
    if os.environ.get("NEARCACHE_HOME"):
        # Absolute, as ranks may run in another folder than this command.
        return [Path(os.path.abspath(os.path.expanduser(os.environ["NEARCACHE_HOME"])))]
    found = []
    if (PACKAGE.parents[1] / "CMakeLists.txt").exists():
        found.append(PACKAGE.parents[1] / "build")  # <root>/python/nearcache
    # <prefix>/share/nearcache/python/nearcache. A checkout may be called nearcache, too, and lie in
    # <prefix>/src.
    if PACKAGE.parts[-4:-1] == ("share", "nearcache", "python"):
        found.append(PACKAGE.parents[3])
    if WHEEL.exists():
        found += [*filter(None, [built()]), WHEEL]
    return found


def find() -> Home:
    tried = candidates()
    for path in tried:
        home = Home(path)
        if home.tables.exists() or home.objects():
            return home
    places = (
        ", ".join(str(path) for path in tried)
        or "nowhere: this package is neither installed by CMake nor in a source tree"
    )
    raise NearcacheError(
        f"Nearcache's libraries were not found (looked in {places}). "
        "Build them (cmake --build build) or name a build or installation with NEARCACHE_HOME."
    )
