# SPDX-License-Identifier: BSD-3-Clause
"""The means of a study: programs, networks, simulations, and progress messages."""

import contextlib
import pathlib
import tempfile
import traceback
from types import SimpleNamespace

from driver.build import ROOT, Failure, command
from driver.launch import Launch
from driver.openshmem import ShmemBuild, ShmemLaunch
from scale import simgrid

ARIES = "1900,0.17"  # L ns and G ns/B of a get in foMPI's paper (SC 2013, section 3)


class Modelled(Launch):
    """Launches over the network model, which runs on shared memory, the fastest network available,
    and waits for the remaining time.

    The model is part of Nearcache, so a run without a cache also loads it, and keeps every get out
    of the cache by its size.
    """

    def run(self, program, arguments=(), network="tcp", cached=True, options=None, wrap=()):
        del network
        options = {**(options or {}), "model": ARIES}
        if not cached:
            options["max_get"] = 0
        return super().run(program, arguments, "shared memory", True, options, wrap)


class Laboratory:
    def __init__(self, build, quick, say):
        self.build, self.quick, self.say = build, quick, say
        self.launch = Launch(build)
        self.failures = []  # messages about failed parts of a study
        self.arguments = SimpleNamespace(quick=quick, graph=None, scale=None)  # as in bench/run

    def use_openshmem(self):
        """Make further launches use the OpenSHMEM in the build directory."""
        build = ShmemBuild(self.build.directory)
        build.configured()
        self.launch = ShmemLaunch(build)

    def networks(self):
        """Return {name: launch} of the two networks of this machine."""
        return {"tcp": self.launch, "model": Modelled(self.build)}

    def attempt(self, part, measure):
        """Return the rows of one part of a study. If it fails, return none and note it in
        `failures`, since the other parts are still useful."""
        try:
            return measure()
        except Exception as error:
            detail = (
                str(error)
                if isinstance(error, Failure)
                else "".join(traceback.format_exception(error))
            )
            self.failures.append(f"{part}: {detail}")
            return []

    def simulator(self):
        """Return the folder of the programs that run in SimGrid."""
        found = sorted((self.build.directory / "bin").glob("simgrid-*"))
        if not simgrid.available() or not found:
            raise Failure("SimGrid is not installed (Debian: libsimgrid-dev)")
        return found[-1]

    @contextlib.contextmanager
    def folder(self):
        with tempfile.TemporaryDirectory(prefix="nearcache-figures-") as name:
            yield pathlib.Path(name)


def prepare(build, studies):
    """Build what the studies run. Without SimGrid, the simulated programs are left out, so only its
    figures fail."""
    command([ROOT / "scripts" / "setup.sh", "figures"], "setting up (scripts/setup.sh figures)")
    if any(study.openshmem for study in studies):
        prepare_openshmem(build, alone=all(study.openshmem for study in studies))
    if not all(study.openshmem for study in studies):
        prepare_mpi(build)


def prepare_openshmem(build, alone):
    """Prepare for OpenSHMEM. Without one, only its own studies fail."""
    try:
        ShmemBuild(build.directory).make()
    except Failure:
        if alone:
            raise


def prepare_mpi(build):
    build.make()
    if simgrid.available():
        command(
            ["cmake", "--build", build.directory, "--target", "bench-scale"], "building for SimGrid"
        )
