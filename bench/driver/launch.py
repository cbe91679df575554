"""Runs a program, on two ranks unless told otherwise, over tcp or shared memory, with Nearcache preloaded or without."""

import json
import os
import signal
import subprocess
import tempfile

from .build import Failure

TCP = {
    # Whichever of the two network layers the MPICH was built with, it takes tcp, between ranks of one machine too.
    "mpich": {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "UCX_TLS": "tcp,self",
    },
    "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_osc": "^ucx"},
}
TCP["abi"] = TCP["mpich"]  # the standard ABI's library here is MPICH's
TCP["oshmem"] = {"UCX_TLS": "tcp,self"}  # Open MPI's OpenSHMEM

# Open MPI refuses root and more ranks than cores unless told.
ALWAYS = {
    "openmpi": {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    },
    # With its hook of the system's memory calls Open MPI 4 crashes in shmem_finalize.
    "oshmem": {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_memory": "^patcher",
        "OMPI_MCA_btl_base_warn_component_unused": "0",
        "SMA_SYMMETRIC_SIZE": "256M",
    },
}


class DidNotEnd(Failure):
    """A launcher's run took longer than it may."""


def launched(program, words, timeout, **how):
    """Standard output of a launcher's run; what ends it early ends the ranks, too."""
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
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
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
        # What the user's shell sets for Nearcache must not change what is measured.
        values = {k: v for k, v in os.environ.items() if not k.startswith("NEARCACHE_")}
        values.update(ALWAYS.get(self.family, {}))
        if network == "tcp":
            values.update(TCP[self.family])
        if cached:
            values.update({f"NEARCACHE_{k.upper()}": str(v) for k, v in options.items()})
        return values

    def command(self, program, arguments, cached, wrap=()):
        # The object is preloaded by `env` into the ranks only, not into mpiexec.
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
        """The program's standard output. `options` are Nearcache's, by name."""
        words = self.command(program, arguments, cached, wrap)
        return launched(
            program, words, self.timeout, env=self.environment(network, cached, options or {})
        )

    def rows(self, program, flags, **how):
        """The rows that one of our own programs writes to --out. `flags` is {name: value}."""
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            out = os.path.join(folder, "rows.json")
            arguments = [
                word for key, value in {**flags, "out": out}.items() for word in (f"--{key}", value)
            ]
            self.run(program, arguments, **how)
            with open(out, encoding="utf-8") as file:
                return json.load(file)
