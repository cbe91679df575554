"""clang-tidy over src/, with a build folder of its own that says how each source is compiled.

Most of the time goes to headers, so sources are read several together, and for one MPI and one
OpenSHMEM: the others differ in a few lines.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from console import ROOT, build_words, configure, logged

FOLDER = ROOT / "build-lint"
# The object of a target: src/mpi/CMakeFiles/nearcache_mpi_static.openmpi-4.1.4.dir/...
TARGET = re.compile(
    r"CMakeFiles/(?P<name>[\w-]+?)(_static|_struct)?(\.(?P<tag>[^/]+))?\.dir/(?P<object>.*)$"
)
FINDING = re.compile(r"^\S+?:\d+:\d+: (?:error|warning): ", re.M)
SHMEM = ("oshmem", "sandia", "openshmem")  # families of OpenSHMEM, in tags


def compiler(*names):
    """The first of some compiler wrappers that is here, as CMake's setting."""
    return next((path for path in map(shutil.which, names) if path), "none")


def settings():
    """A build of src/ alone, for one MPI and one OpenSHMEM."""
    return {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": 16,  # so that two processors have as much to do
        "NEARCACHE_BUILD_TESTS": "OFF",
        "NEARCACHE_BUILD_APPS": "OFF",
        "NEARCACHE_BUILD_BENCH": "OFF",
        "NEARCACHE_PRECOMPILE": "OFF",  # which clang cannot read
        "NEARCACHE_MPICC": compiler("mpicc.openmpi", "mpicc"),
        "NEARCACHE_OSHCC": compiler("oshcc"),
    }


def sources():
    """What is compiled of src/, each once, and the tags of the libraries.

    Archives and shared objects, and the UPC runtime's two kinds of pointers, have the same sources.
    """
    found, tags = {}, set()
    for entry in json.loads((FOLDER / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        target = TARGET.search(words[words.index("-o") + 1])
        if target is None or (target["tag"] or "").startswith("simgrid"):
            continue
        tags.add(target["tag"])
        if Path(entry["file"]).suffix != ".S":
            found.setdefault((target["name"], target["object"]), entry["file"])
    return sorted(set(found.values())), sorted(filter(None, tags))


def prepare(log):
    """Configures, and makes the code that is generated; the sources."""
    FOLDER.mkdir(exist_ok=True)
    log.write_text("")
    configure(FOLDER, settings(), log)
    files, tags = sources()
    made = [
        f"nearcache_{'shmem_' if tag.startswith(SHMEM) else ''}entry_points.{tag}" for tag in tags
    ]
    if made:
        logged(build_words(FOLDER, made), log)
    return files


def ours(said):
    """Of what clang-tidy said, the findings in src/: also headers of others are named in some."""
    starts = [found.start() for found in FINDING.finditer(said)]
    each = [said[at:end] for at, end in zip(starts, [*starts[1:], len(said)])]
    return [text for text in each if text.startswith(f"{ROOT}/src/") or "diagnostic-error" in text]


def run(path, only=""):
    """Whether clang-tidy finds nothing in sources whose path has `only` in it, and what it finds."""
    files = [file for file in prepare(FOLDER / "log") if only in file]

    def one(file):
        done = subprocess.run(
            [path, "--quiet", "-p", FOLDER, file],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0 and not FINDING.search(done.stdout):
            return [done.stderr]  # it did not come to an end
        return ours(done.stdout)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = sorted({text for texts in pool.map(one, files) for text in texts})
    return not found, "".join(found).strip()
