"""Runs OpenSHMEM programs of the build for tests, as launch.py does for MPI.

    launch_shmem.run(shmem, 2, "typed_calls", preload=True).check()

The build directory holds shmems.json (written by tests/CMakeLists.txt), bin/<tag>/<program> and lib/<tag>/libnearcache_shmem.so. PEs of
one machine talk through the loopback interface, as memory that is loads and stores away is not cached.
"""

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from nearcache import shmem as openshmem

from . import launch


@dataclass(frozen=True)
class Shmem:
    """One OpenSHMEM of the build."""

    tag: str  # oshmem-4.1.4
    wrapper: str  # its oshcc

    @property
    def oshrun(self):
        return str(Path(self.wrapper).parent / "oshrun")

    @property
    def preload(self):
        return launch.BUILD / "lib" / self.tag / "libnearcache_shmem.so"

    @property
    def archive(self):
        return launch.BUILD / "lib" / self.tag / "libnearcache_shmem.a"

    def binary(self, name):
        return launch.BUILD / "bin" / self.tag / name


def shmems():
    """Every OpenSHMEM of the build."""
    listing = launch.BUILD / "shmems.json"
    return [Shmem(**row) for row in json.loads(listing.read_text())] if listing.exists() else []


# For the launcher and the PEs. Open MPI 4's finalize crashes with its memory hook; root may run; nothing but tcp.
SURROUNDINGS = {
    "OMPI_MCA_memory": "^patcher",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
TCP = {"UCX_TLS": "tcp,self"}


def launcher(shmem, pes):
    command = [shmem.oshrun, "-n", str(pes)]
    return (
        command + ["--oversubscribe", "--bind-to", "none"]
        if shmem.tag.startswith("oshmem-")
        else command
    )


def surroundings(tcp=True, **more):
    """The environment of a launcher."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEARCACHE_", "LD_PRELOAD", "UCX_"))
    }
    return {**clean, **SURROUNDINGS, **(TCP if tcp else {}), **more}


for each in shmems():
    openshmem.fix_addresses(*each.tag.partition("-")[::2])


def started(run, said):
    """The result of run(), which starts a job; it is repeated while Open MPI fails in shmem_init, as a few jobs in a thousand do
    (docs/troubleshooting.md): 4.1.6 crashes even at fixed addresses, 5.0.7 may find no address for its heap."""
    for _ in range(4):
        result = run()
        told = said(result)
        if not ("mca_memheap_modex_recv_all" in told or "Failed to negotiate base segment" in told):
            break
    return result


def run(
    shmem,
    pes,
    program,
    *args,
    preload=True,
    above=(),
    below=(),
    env=None,
    tcp=True,
    timeout=120,
    cwd=None,
):
    """Runs a program (a name of the build, or a path) on `pes` PEs and waits for it.

    above, below: further objects to preload, before and after Nearcache's. env: for the PEs only.
    """
    path = Path(program)
    binary = path if path.is_absolute() else shmem.binary(program)
    objects = [*above, *([shmem.preload] if preload else []), *below, *launch.giving_way()]
    variables = {**({"LD_PRELOAD": " ".join(map(str, objects))} if objects else {}), **(env or {})}
    command = [
        *launcher(shmem, pes),
        "env",
        *[f"{name}={value}" for name, value in variables.items()],
        str(binary),
        *map(str, args),
    ]
    result = started(
        lambda: launch.execute(command, timeout, surroundings(tcp), cwd),
        lambda result: result.output,
    )
    # So that a failing test's command line can be pasted.
    shown = {**SURROUNDINGS, **(TCP if tcp else {})}
    result.command = [f"{name}={shlex.quote(value)}" for name, value in shown.items()] + command
    return result
