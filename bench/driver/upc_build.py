# SPDX-License-Identifier: BSD-3-Clause
"""Compiles UPC programs with upcc and runs them; the library is linked into them, so the uncached
side switches it off."""

import os
import pathlib
import subprocess
import sys

from .build import ROOT, Failure
from .openshmem import ShmemLaunch

SOURCES = ["bench/programs/bench_upc.upc", "bench/programs/bench_upc_raw.c"]


def python():
    """Return a Python that has pycparser: that of scripts/setup.sh, or the current one."""
    for candidate in (ROOT / ".deps" / "tools" / "bin" / "python", pathlib.Path(sys.executable)):
        if (
            candidate.exists()
            and not subprocess.run(
                [candidate, "-c", "import pycparser"], capture_output=True, check=False
            ).returncode
        ):
            return candidate
    raise Failure("upcc needs the Python package pycparser: scripts/setup.sh tools installs it")


class UpcLaunch(ShmemLaunch):
    def __init__(self, build, ranks=2, timeout=600):
        super().__init__(build, timeout=timeout, ranks=ranks)
        self.folder = build.directory / "bench" / "upc"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.compiled = set()

    def of(self, ranks):
        """Return the same with another number of threads."""
        other = UpcLaunch(self.build, ranks, self.timeout)
        other.compiled = self.compiled
        return other

    def upcc(self, words, what):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "NEARCACHE_HOME": str(self.build.directory),
        }
        done = subprocess.run(
            [str(word) for word in [python(), "-m", "nearcache.upcc", *words]],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failure(f"{what} by upcc failed:\n{done.stdout[-4000:]}")
        return done.stdout

    def environment(self, network, cached, options):
        values = super().environment(network, True, options)
        # With more threads than cores, waiting threads must let the others run.
        values["OMPI_MCA_mpi_yield_when_idle"] = "1"
        return values

    def command(self, program, arguments, cached, wrap=()):
        return super().command(
            program if pathlib.Path(program).is_absolute() else self.path(program),
            arguments,
            False,
            wrap,
        )

    def path(self, program):
        made = self.folder / program
        if program not in self.compiled:
            print(f"bench: compiling {program} by upcc", file=sys.stderr, flush=True)
            self.upcc(["-O3", *SOURCES, "-o", made, "-lm"], f"compiling {program}")
            self.compiled.add(program)
        return made

    def side(self, side, network, program, arguments=(), **options):
        """Run once over tcp, with the cache or with it switched off."""
        switched = {"shmem": "off"} if side == "plain" else options
        return self.said(program, arguments, network=network, options=switched)
