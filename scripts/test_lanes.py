"""Runs pytest in lanes, several at a time, since tests of parallel programs mostly wait for a
launcher.

A lane is one pytest process over some files. Tests that poll for messages without a pause (MPICH)
are all in one lane, so that the processors are never used up by more than one program's ranks.
Computing tests come after that lane, or yield to it (at the lowest priority, as sanitizer builds
do): beside compilers, a rank waits for its turn while the other one keeps polling. Open MPI's ranks
yield while they wait, and its launchers sleep for most of a short run, so the same files with Open
MPI 4 and 5 are lanes beside it. When the sanitizers have nothing more to do, the polling lane alone
leaves a third of the processors' time unused: lanes of many kinds of tests then fill it. What a
test file prepares for all of its tests is prepared once.
"""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from console import ROOT

SHMEM = ("tests/shmem", "tests/apps/test_shmem_apps.py")
LANGUAGE = ("tests/upc/test_language.py", "tests/upc/test_random_c.py")
APPLICATIONS = ("tests/model", "tests/apps")
MPI = ("tests/mpi", *APPLICATIONS)
ADVICE = ("tests/cli/test_advise.py",)  # mostly waits for the programs that it advises on
PROTOCOLS = ("tests/protocol",)  # keeps a processor busy
# A browser, plots, checks of the sources: nearly no parallel programs.
PAGES = ("tests/cli/test_report_html.py", "tests/cli/test_figures.py", "tests/cli/test_lint.py")
# Builds, self-tests, small programs with every MPI: long waits for launchers and linkers.
OBJECTS = (
    "tests/cli/test_doctor.py",
    "tests/cli/test_install.py",
    "tests/cli/test_wheel.py",
    "tests/shmem/test_trace.py",  # which replays by a program that is built late
)
VISIBILITY = ("tests/visibility",)


@dataclass
class Lane:
    """Files for one pytest process, and its result."""

    name: str
    files: list
    selection: str = ""  # value of pytest's -k
    polls: bool = False  # needs the processors to itself, except for lanes that yield
    nice: int = 0
    junit: Path = None
    log: Path = None
    process: subprocess.Popen = field(default=None, repr=False)

    def start(self, options, env, folder, live=False):
        """Start pytest. `live`: show its output at once, not only when it is complete."""
        folder.mkdir(exist_ok=True)
        self.junit, self.log = (
            folder / f"{self.name}.xml",
            None if live else folder / f"{self.name}.log",
        )
        self.junit.unlink(missing_ok=True)
        words = [
            *(["nice", "-n", str(self.nice)] if self.nice else []),
            sys.executable,
            "-m",
            "pytest",
            "-q",
            f"--junitxml={self.junit}",
            "-p",
            "no:cacheprovider",
            *options,
            *(["-k", self.selection] if self.selection else []),
            *self.files,
        ]
        with open(self.log or os.devnull, "w") as log:
            self.process = subprocess.Popen(
                words,
                env=env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=None if live else log,
                stderr=None if live else subprocess.STDOUT,
            )

    def wait(self):
        """Wait for pytest, print its output, and return the exit code."""
        code = self.process.wait()
        if self.log:
            print(self.log.read_text(errors="replace"), flush=True)
        return code

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # lets pytest tear down its fixtures
            self.process.wait()


def test_files():
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))


def lanes():
    """Return (lanes that need only OpenSHMEM and UPC, the polling lane with those that may run
    beside it, those that fill what it leaves, those that come after it).

    Each test is in one lane; files not listed are in the last of those that fill.
    """
    files = test_files()

    def take(*prefixes):
        taken = [
            name
            for name in files
            if any(name == each or name.startswith(each + "/") for each in prefixes)
        ]
        files[:] = [name for name in files if name not in taken]
        return taken

    objects = take(*OBJECTS)  # before those of OpenSHMEM
    early = [
        Lane("language", take(*LANGUAGE)),
        Lane("shmem", take(*SHMEM)),
        Lane("upc", take("tests/upc")),
    ]
    mpi = take(*MPI)
    applications = [name for name in mpi if name.startswith(APPLICATIONS)]
    alone = [
        Lane("mpi", mpi, "not openmpi", polls=True),
        Lane("openmpi-5", [name for name in mpi if name not in applications], "openmpi-5"),
        Lane("openmpi-5-apps", applications, "openmpi-5"),
        Lane("openmpi", mpi, "openmpi and not openmpi-5"),
        Lane("protocols", take(*PROTOCOLS), nice=19),
        Lane("pages", take(*PAGES), nice=19),
    ]
    late = [Lane("advice", take(*ADVICE))]
    filling = [
        Lane("objects", objects, nice=10),
        Lane("visibility", take(*VISIBILITY), nice=10),
        Lane("commands", files, nice=10),
    ]
    return tuple(
        [lane for lane in group if lane.files]  # without files, pytest would run all
        for group in (early, alone, filling, late)
    )
