"""Runs MPI programs of the build for tests: one way for every MPI, with or without the preload object.

    for mpi in launch.mpis(): launch.run(mpi, 2, "semantics", preload=True).check()

The build directory is $NEARCACHE_BUILD, or <root>/build. It holds mpis.json (written by tests/CMakeLists.txt),
bin/<tag>/<program> and lib/<tag>/libnearcache_mpi.so. Variables and LD_PRELOAD are given to the ranks only
(`mpiexec ... env NAME=VALUE program`), because launchers must not be preloaded.
"""

import functools
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NEARCACHE_BUILD", ROOT / "build")).resolve()
LONG = os.environ.get("NEARCACHE_TEST_LONG", "") not in ("", "0")
GIVE_WAY = BUILD / "bin" / "libgive_way.so"


@dataclass(frozen=True)
class Mpi:
    """One MPI of the build."""

    tag: str  # mpich-4.0.2, openmpi-5.0.11, abi-1.0, ...
    family: str  # mpich, openmpi or abi
    wrapper: str  # the compile wrapper
    mpiexec: str

    @property
    def version(self):
        return tuple(int(part) for part in self.tag.split("-")[1].split(".") if part.isdigit())

    @property
    def preload(self):
        return BUILD / "lib" / self.tag / "libnearcache_mpi.so"

    @property
    def python(self):
        """The interpreter beside the wrapper: it has mpi4py when the MPI came from a Python package."""
        return Path(self.wrapper).parent / "python3"

    def binary(self, name):
        return BUILD / "bin" / self.tag / name


@functools.cache
def starts_jobs(mpi):
    """Whether the MPI's launcher makes one job of the ranks. MPICH's cannot if the library knows PMIx only: that of Ubuntu 24.04."""
    program = mpi.binary("nearcache-selftest")
    if mpi.family != "mpich" or not program.exists():
        return True
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    if "libpmix" not in libraries:
        return True
    return "started with 1" not in execute([*launcher(mpi, 2), program], 60).output


def built_mpis():
    """Every MPI of the build."""
    listing = BUILD / "mpis.json"
    return [Mpi(**row) for row in json.loads(listing.read_text())] if listing.exists() else []


def mpis():
    """Every MPI of the build that can start a job; $NEARCACHE_TEST_MPIS (tags, separated by commas) restricts them."""
    found = [mpi for mpi in built_mpis() if starts_jobs(mpi)]
    wanted = [tag for tag in os.environ.get("NEARCACHE_TEST_MPIS", "").split(",") if tag]
    return [mpi for mpi in found if not wanted or mpi.tag in wanted]


def newest_of_each_family(mpis):
    """One MPICH and one Open MPI, in this order: enough for what does not depend on the MPI."""
    newest = {}
    for mpi in sorted(
        mpis,
        key=lambda mpi: [int(part) for part in mpi.tag.split("-")[-1].split(".") if part.isdigit()],
    ):
        newest[mpi.tag.split("-")[0]] = mpi
    return [mpi for family, mpi in sorted(newest.items()) if family != "abi" or len(newest) == 1]


@dataclass
class Result:
    command: list
    code: int  # exit code; None after a timeout
    output: str  # standard output and error of all ranks, mixed
    timed_out: bool

    def lines(self, word):
        """Lines that start with a word such as `ok` or `FAILED`."""
        return [line for line in self.output.splitlines() if line.startswith(word + " ")]

    def check(self, hint=""):
        """Fails the test unless the program ended well; says what failed first and how to run it again."""
        if self.code == 0 and not self.lines("FAILED"):
            return self
        what = "timed out" if self.timed_out else f"exit code {self.code}"
        failed = "\n".join(self.lines("FAILED")[:20]) or self.output[-3000:]
        if self.timed_out:
            failed += "\nlast lines:\n" + self.output[-1000:]
        raise AssertionError(
            f"{what}\n{failed}\n{hint}\nrun again: {' '.join(map(str, self.command))}"
        )


def launcher(mpi, ranks):
    """The start of the command line, up to the program."""
    command = [mpi.mpiexec, "-n", str(ranks)]
    if mpi.family == "openmpi":
        if mpi.version >= (5,):
            command += ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
        else:
            command += ["--oversubscribe", "--bind-to", "none"]
    return command


def giving_way():
    """What is preloaded into each rank below all else: who waits sleeps, instead of polling while others need the core."""
    return [GIVE_WAY] if GIVE_WAY.exists() else []


def tcp_variables(mpi):
    """Variables that make ranks of one host talk through the loopback interface instead of shared memory."""
    if mpi.family == "openmpi":
        return {
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "lo",
        }
    return {
        "MPIR_CVAR_NOLOCAL": "1",
        "MPIR_CVAR_CH4_NETMOD": "ofi",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "lo",
        "UCX_TLS": "tcp,self",
    }


def rank_environment(mpi, preload, below, above, env, tcp):
    variables = {}
    objects = [*above, *([mpi.preload] if preload else []), *below, *giving_way()]
    if objects:
        variables["LD_PRELOAD"] = " ".join(map(str, objects))
    if mpi.family == "openmpi":
        variables["OMPI_MCA_mpi_yield_when_idle"] = "1"  # there are more ranks than cores
        variables["OMPI_MCA_osc"] = "^ucx"  # complains where there is no network card
    if preload:
        # Over shared memory gets are cheap and would be bypassed: then nothing would be tested.
        variables["NEARCACHE_SKIP_CHEAP"] = "0"
    if tcp:
        variables.update(tcp_variables(mpi))
    variables.update(env or {})
    return [f"{name}={value}" for name, value in variables.items()]


# Open MPI, 4 and 5, lets root start programs.
ROOT_MAY_RUN = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def launcher_variables():
    """What launchers need here: they may be started by root, on fewer cores than ranks."""
    return {**ROOT_MAY_RUN, "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def run(
    mpi,
    ranks,
    program,
    *args,
    preload=True,
    below=(),
    above=(),
    env=None,
    tcp=False,
    timeout=120,
    extra=(),
    cwd=None,
):
    """Runs a program (a name of the build, or a path) on `ranks` ranks and waits for it.

    below, above: further objects to preload, after and before Nearcache's. extra: options for mpiexec.
    """
    path = Path(program)
    binary = path if path.is_absolute() else mpi.binary(program)
    command = [
        *launcher(mpi, ranks),
        *extra,
        "env",
        *rank_environment(mpi, preload, below, above, env, tcp),
        str(binary),
        *map(str, args),
    ]
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEARCACHE_", "LD_PRELOAD"))
    }
    surroundings.update(launcher_variables())
    return execute(command, timeout, surroundings, cwd)


def run_spawning(mpi, ranks, program, *args, preload=True, **options):
    """Like run(), for programs that spawn a job: again where it hangs, since starting one does so at times without the library too.

    Open MPI 5.0.11 alone hung in 7 of 40 runs, four at once on two cores.
    """
    for _ in range(4):
        result = run(mpi, ranks, program, *args, preload=preload, timeout=30, **options)
        if not result.timed_out:
            break
    return result


def begin(command, env, cwd=None, stdin=None, stderr=subprocess.STDOUT):
    """Starts a command as the leader of a session of its own. stdin: the text that outcome() will give it."""
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=stderr,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        text=True,
        errors="replace",
        env=env,
        cwd=cwd,
        start_new_session=True,
    )


def execute(command, timeout, env=None, cwd=None):
    """Runs a command in its own session, so that a timeout ends all of its processes and no other."""
    process = begin(command, env, cwd)
    output, _, timed_out = outcome(process, timeout)
    return Result(command, None if timed_out else process.returncode, output, timed_out)


def outcome(process, timeout, stdin=None):
    """(standard output, standard error, whether it was ended by the timeout) of a process that leads a session of its own."""
    try:
        return *process.communicate(stdin, timeout=timeout), False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # the launcher takes its ranks along
    try:
        return *process.communicate(timeout=5), True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return *process.communicate(), True
