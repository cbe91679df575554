# SPDX-License-Identifier: BSD-3-Clause
"""The context of a measurement: what must be known to compare it with another."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

from .build import ROOT
from .launch import TCP


def first_line(words):
    try:
        done = subprocess.run(
            [str(w) for w in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
        )
        return done.stdout.strip().splitlines()[0] if done.stdout.strip() else ""
    except (OSError, subprocess.TimeoutExpired):
        return ""


def file_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def processor():
    found = re.search(r"^model name\s*:\s*(.*)$", file_text("/proc/cpuinfo"), re.MULTILINE)
    return found.group(1) if found else platform.processor()


def caches():
    """Return {"L1d": "32K", ...} for the first core."""
    result = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = {"Data": "d", "Instruction": "i"}.get(file_text(index / "type"), "")
        result[f"L{file_text(index / 'level')}{kind}"] = file_text(index / "size")
    return result


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def nearcache_version():
    text = file_text(ROOT / "python" / "nearcache" / "__init__.py")
    found = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    commit = first_line(["git", "-C", ROOT, "describe", "--always", "--dirty"])
    return f"{found.group(1) if found else 'unknown'} ({commit})"


def gather(launch):
    build = launch.build
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "host": platform.node(),
        "processor": processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "caches": caches(),
        "memory_bytes": memory_bytes(),
        "governor": file_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "unknown",
        "kernel": platform.release(),
        "compiler": compiler(build),
        "mpi": build.tag,
        "mpi_version": mpi_version(build),
        "tcp_environment": TCP[launch.family],
        "nearcache": nearcache_version(),
        "load": list(os.getloadavg()),
    }


def compiler(build):
    found = re.search(
        r"^CMAKE_CXX_COMPILER:\w+=(.*)$",
        file_text(build.directory / "CMakeCache.txt"),
        re.MULTILINE,
    )
    kind = re.search(
        r"^CMAKE_BUILD_TYPE:\w+=(.*)$", file_text(build.directory / "CMakeCache.txt"), re.MULTILINE
    )
    return f"{first_line([found.group(1), '--version']) if found else 'unknown'} {kind.group(1) if kind else ''}".strip()


def mpi_version(build):
    if build.tag.startswith("oshmem-"):
        return f"OpenSHMEM of Open MPI {build.tag.removeprefix('oshmem-')}"
    words = first_line([build.launcher(), "--version"])
    if "HYDRA" in words:  # MPICH's launcher prints its version in the second line
        done = subprocess.run(
            [str(build.launcher()), "--version"], stdout=subprocess.PIPE, text=True, check=False
        )
        found = re.search(r"Version:\s*(\S+)", done.stdout)
        return f"MPICH {found.group(1)}" if found else words
    return words
