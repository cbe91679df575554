# SPDX-License-Identifier: BSD-3-Clause
"""Configures the project and builds what the measurements need."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import console  # noqa: E402

DEFAULT_MPI = "mpich-5.0.2"


class Failure(Exception):
    """An error whose message the driver prints before it exits with 1."""


def command(words, what):
    print(f"bench: {what}", file=sys.stderr, flush=True)
    done = subprocess.run(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise Failure(f"{what} failed ({' '.join(map(str, words))}):\n{done.stdout[-4000:]}")


class Build:
    """The build directory and the paths in it for one MPI."""

    def __init__(self, directory, tag):
        self.directory = pathlib.Path(directory).resolve()
        self.tag = tag

    def make(self):
        setup = ROOT / "scripts" / "setup.sh"
        if setup.exists():
            command([setup, "demo"], "setting up (scripts/setup.sh demo)")
        if not console.configured(self.directory) or self.tag not in self.wrappers():
            command(["cmake", "-S", ROOT, "-B", self.directory], f"configuring {self.directory}")
        self.configured()
        jobs = str(len(os.sched_getaffinity(0)))
        command(
            ["cmake", "--build", self.directory, "-j", jobs, "--target", f"bench-{self.tag}"],
            f"building for {self.tag}",
        )

    def configured(self):
        """Raise a Failure if the configured build cannot do what was requested."""
        if self.tag not in self.wrappers():
            raise Failure(
                f"--mpi {self.tag}: this build knows {', '.join(self.wrappers()) or 'no MPI'}"
            )

    def wrappers(self):
        """Return {tag: compile wrapper} as found by CMake."""
        known = self.directory / "bench" / "mpis.json"
        return json.loads(known.read_text()) if known.exists() else {}

    def launcher(self):
        """Return the mpiexec beside the compile wrapper: mpicc -> mpiexec, mpicc.mpich ->
        mpiexec.mpich."""
        wrapper = pathlib.Path(self.wrappers()[self.tag])
        name = wrapper.name.replace("mpicc_abi", "mpicc").replace("mpicc", "mpiexec")
        return wrapper.with_name(name)

    def program(self, name):
        return self.directory / "bin" / self.tag / name

    def preload(self):
        return self.directory / "lib" / self.tag / "libnearcache_mpi.so"
