"""Runs clang-tidy over src/, with a build folder of its own that records how each source is
compiled.

Headers take most of the time, so several sources are read together, and only for one MPI and one
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
# A target's object: src/mpi/CMakeFiles/nearcache_mpi_static.openmpi-4.1.4.dir/...
TARGET = re.compile(
    r"CMakeFiles/(?P<name>[\w-]+?)(_static|_struct)?(\.(?P<tag>[^/]+))?\.dir/(?P<object>.*)$"
)
FINDING = re.compile(r"^\S+?:\d+:\d+: (?:error|warning): ", re.M)
SHMEM = ("oshmem", "sandia", "openshmem")  # families of OpenSHMEM, as used in tags


def compiler(*names):
    """Return CMake's setting for the first compiler wrapper that is installed."""
    return next((path for path in map(shutil.which, names) if path), "none")


def settings():
    """Return the settings of a build of src/ alone, for one MPI and one OpenSHMEM."""
    return {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": 16,  # keeps two processors equally busy
        "NEARCACHE_BUILD_TESTS": "OFF",
        "NEARCACHE_BUILD_APPS": "OFF",
        "NEARCACHE_BUILD_BENCH": "OFF",
        "NEARCACHE_PRECOMPILE": "OFF",  # clang cannot read precompiled headers of GCC
        "NEARCACHE_MPICC": compiler("mpicc.openmpi", "mpicc"),
        "NEARCACHE_OSHCC": compiler("oshcc"),
    }


def sources():
    """Return the compiled sources of src/, each once, and the tags of the libraries.

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
    """Configure, and generate code; return the sources."""
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
    """Return clang-tidy's findings in src/; some also name other headers."""
    starts = [found.start() for found in FINDING.finditer(said)]
    each = [said[at:end] for at, end in zip(starts, [*starts[1:], len(said)])]
    return [text for text in each if text.startswith(f"{ROOT}/src/") or "diagnostic-error" in text]


def run(path, only=""):
    """Return whether clang-tidy finds nothing in sources whose path contains `only`, and its
    findings."""
    files = [file for file in prepare(FOLDER / "log") if only in file]

    def one(file):
        done = subprocess.run(
            [path, "--quiet", "-p", FOLDER, file],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0 and not FINDING.search(done.stdout):
            return [done.stderr]  # it did not run to completion
        return ours(done.stdout)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = sorted({text for texts in pool.map(one, files) for text in texts})
    return not found, "".join(found).strip()
