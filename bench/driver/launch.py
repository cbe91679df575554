# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program over tcp or shared memory, with or without Nearcache preloaded, by default on two
ranks."""

import json
import os
import signal
import subprocess
import tempfile

from .build import Failure

TCP = {
    # Sets MPICH's network layer to tcp, also between ranks of one machine, whichever of the two
    # layers it was built with.
    "mpich": {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "UCX_TLS": "tcp,self",
    },
    "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_osc": "^ucx"},
}
TCP["abi"] = TCP["mpich"]  # the standard ABI's library used here is MPICH's
TCP["oshmem"] = {"UCX_TLS": "tcp,self"}  # Open MPI's OpenSHMEM

# Open MPI refuses to run as root, or more ranks than cores, unless told otherwise.
ALWAYS = {
    "openmpi": {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    },
    # Open MPI 4 crashes in shmem_finalize if its hook of the system's memory calls is active.
    "oshmem": {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_memory": "^patcher",
        "OMPI_MCA_btl_base_warn_component_unused": "0",
        "SMA_SYMMETRIC_SIZE": "256M",
    },
}


# How long a launcher may take to end its ranks, in seconds.
GRACE = 10


class DidNotEnd(Failure):
    """A launcher's run exceeded its time limit."""


def end(process):
    """End a launcher and its ranks.

    Some launchers pass the signal on and wait for their ranks, which may not heed it.
    """
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def launched(program, words, timeout, **how):
    """Return the standard output of a launcher's run; if the run is interrupted, its ranks are
    ended, too."""
    words = [str(word) for word in words]
    process = subprocess.Popen(
        words,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **how,
    )
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException as reason:
        end(process)
        if isinstance(reason, subprocess.TimeoutExpired):
            raise DidNotEnd(
                f"{program} did not end within {timeout} s: {' '.join(words)}"
            ) from None
        raise
    if process.returncode:
        raise Failure(
            f"{program} ended with {process.returncode}: {' '.join(words)}\n{output[-1000:]}{errors[-2000:]}"
        )
    return output


class Launch:
    def __init__(self, build, timeout=1800, ranks=2):
        self.build, self.ranks = build, ranks
        self.family = build.tag.split("-")[0]
        self.timeout = timeout

    def environment(self, network, cached, options):
        # Settings for Nearcache in the user's shell must not affect measurements.
        values = {k: v for k, v in os.environ.items() if not k.startswith("NEARCACHE_")}
        values.update(ALWAYS.get(self.family, {}))
        if network == "tcp":
            values.update(TCP[self.family])
        if cached:
            values.update({f"NEARCACHE_{k.upper()}": str(v) for k, v in options.items()})
        return values

    def command(self, program, arguments, cached, wrap=()):
        # `env` preloads the object into the ranks only, not into mpiexec.
        preload = ["env", f"LD_PRELOAD={self.build.preload()}"] if cached else []
        return [
            str(w)
            for w in [
                self.build.launcher(),
                "-n",
                self.ranks,
                *preload,
                *wrap,
                self.build.program(program),
                *arguments,
            ]
        ]

    def run(self, program, arguments=(), network="tcp", cached=True, options=None, wrap=()):
        """Return the program's standard output. `options` are Nearcache's, by name."""
        words = self.command(program, arguments, cached, wrap)
        return launched(
            program, words, self.timeout, env=self.environment(network, cached, options or {})
        )

    def rows(self, program, flags, **how):
        """Return the rows that one of our own programs writes to --out. `flags` is {name:
        value}."""
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            out = os.path.join(folder, "rows.json")
            arguments = [
                word for key, value in {**flags, "out": out}.items() for word in (f"--{key}", value)
            ]
            self.run(program, arguments, **how)
            with open(out, encoding="utf-8") as file:
                return json.load(file)
