"""OpenSHMEM programs: their build, their launcher, and runs with and without the cache in turn."""

import json
import os
import pathlib
import tempfile

from .build import Build, Failure
from .launch import Launch
from .numbers import median, summarise

# L ns and G ns/B of the network model, from the cache paper's Table I: the latency of 8 bytes and the time of a blocking get of 1,024.
ARIES, INFINIBAND = "1700,0.75", "2100,0.42"
# Name of a network: how PEs are connected, and Nearcache's options. The model only adds what the real network is faster by, so it
# stands on shared memory; it is Nearcache's, so the uncached side has the library too, with its cache off.
NETWORKS = {
    "tcp": ("tcp", {}),
    "Aries, modelled": ("shared memory", {"model": ARIES}),
    "InfiniBand, modelled": ("shared memory", {"model": INFINIBAND}),
}
PLAIN, CACHED = "plain", "cached"


class ShmemBuild(Build):
    """The build directory for the first OpenSHMEM that it knows."""

    def __init__(self, directory):
        super().__init__(directory, None)
        self.choose()

    def choose(self):
        self.tag = next(iter(self.wrappers()), None)

    def wrappers(self):
        known = self.directory / "bench" / "shmems.json"
        return json.loads(known.read_text()) if known.exists() else {}

    def configured(self):
        self.choose()
        if not self.tag:
            raise Failure(
                "no OpenSHMEM was found when the build was configured: install one (Debian: libopenmpi-dev), or name its "
                "compile wrapper with -DNEARCACHE_OSHCC=/path/oshcc"
            )

    def launcher(self):
        return pathlib.Path(self.wrappers()[self.tag]).with_name("oshrun")

    def preload(self):
        return self.directory / "lib" / self.tag / "libnearcache_shmem.so"


class ShmemLaunch(Launch):
    def command(self, program, arguments, cached, wrap=()):
        words = super().command(program, arguments, cached, wrap)
        crowded = self.ranks > len(os.sched_getaffinity(0))
        more = (
            ["--bind-to", "none", *(["--oversubscribe"] if crowded else [])]
            if self.family == "oshmem"
            else []
        )
        return [words[0], *more, *words[1:]]

    def said(self, program, arguments=(), **how):
        """The JSON that one of our programs prints; it must say that it is correct."""
        output = self.run(program, arguments, **how)
        lines = [line for line in output.splitlines() if line.startswith("{")]
        result = json.loads(lines[0]) if lines else {}
        if result.get("correct") is not True:
            raise Failure(
                f"{program} {' '.join(map(str, arguments))} has a wrong result:\n{output[-1000:]}"
            )
        return result

    def side(self, side, network, program, arguments=(), **options):
        """One run, plain or cached, on one of NETWORKS."""
        connected, modelled = NETWORKS[network]
        if side == PLAIN and not modelled:
            return self.said(program, arguments, network=connected, cached=False)
        switched = {"shmem": "off"} if side == PLAIN else options
        return self.said(program, arguments, network=connected, options={**modelled, **switched})

    def counted(self, program, arguments=(), **options):
        """Totals of Nearcache's report of one cached run over tcp."""
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            path = os.path.join(folder, "report.json")
            self.side(CACHED, "tcp", program, arguments, report=path, **options)
            with open(path, encoding="utf-8") as file:
                return json.load(file)["totals"]


def in_turn(runs, repetitions):
    """{name: [what the run gave, ...]} of functions that are called one after the other, `repetitions` times."""
    given = {name: [] for name in runs}
    for _ in range(repetitions):
        for name, run in runs.items():
            given[name].append(run())
    return given


def seconds(runs):
    return [run["seconds"] for run in runs]


def speedup(plain, cached):
    """Ratio of medians; its interval from the ratios of runs next to each other."""
    each = summarise([a / b for a, b in zip(seconds(plain), seconds(cached))])
    return {
        "median": median(seconds(plain)) / median(seconds(cached)),
        "ci95": each["ci95"],
        "repetitions": len(plain),
    }


def beside(launch, network, program, words, options, repetitions):
    """A row of a program that does the same in one run to what is cached and to what is not, in turn; and whether it was right."""
    runs = [
        launch.side(CACHED, network, program, [*words, "--beside"], **options)
        for _ in range(repetitions)
    ]
    return {
        "plain_s": summarise([run["uncached_seconds"] for run in runs]),
        "cached_s": summarise(seconds(runs)),
        "speedup": summarise([run["uncached_seconds"] / run["seconds"] for run in runs]),
    }, all(run["correct"] for run in runs)
