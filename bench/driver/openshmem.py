# SPDX-License-Identifier: BSD-3-Clause
"""OpenSHMEM programs: their build and launcher, and runs with and without the cache in turn."""

import contextlib
import functools
import json
import os
import pathlib
import subprocess
import tempfile

from .build import Build, Failure
from .launch import Launch
from .numbers import median, summarise

# L ns and G ns/B of the network model, from the cache paper's Table I: the latency of 8 bytes, and
# the time of a blocking get of 1,024 bytes.
ARIES, INFINIBAND = "1700,0.75", "2100,0.42"
# Name of a network: how PEs are connected, and Nearcache's options. The model can only add time to
# the real network, so it runs on shared memory. It is part of Nearcache, so the uncached side also
# loads the library, with its cache off.
NETWORKS = {
    "tcp": ("tcp", {}),
    "Aries, modelled": ("shared memory", {"model": ARIES}),
    "InfiniBand, modelled": ("shared memory", {"model": INFINIBAND}),
}
PLAIN, CACHED = "plain", "cached"


class ShmemBuild(Build):
    """The build directory, for the first OpenSHMEM in it."""

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


@functools.cache
def at_fixed_addresses(tag):
    """Return the words before a launcher, where they are permitted: Open MPI 4.1.6 crashes now and
    then in shmem_init if PEs have mapped their memory differently, and Open MPI 5 fails if they
    have not (docs/troubleshooting.md)."""
    if not tag.startswith("oshmem-4."):
        return []
    words = ["setarch", "-R"]
    with contextlib.suppress(OSError):
        if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            return words
    return []


class ShmemLaunch(Launch):
    def command(self, program, arguments, cached, wrap=()):
        words = super().command(program, arguments, cached, wrap)
        crowded = self.ranks > len(os.sched_getaffinity(0))
        more = (
            ["--bind-to", "none", *(["--oversubscribe"] if crowded else [])]
            if self.family == "oshmem"
            else []
        )
        return [*at_fixed_addresses(self.build.tag), words[0], *more, *words[1:]]

    def said(self, program, arguments=(), **how):
        """Return the JSON printed by one of our programs, which must report itself correct."""
        output = self.run(program, arguments, **how)
        lines = [line for line in output.splitlines() if line.startswith("{")]
        result = json.loads(lines[0]) if lines else {}
        if result.get("correct") is not True:
            raise Failure(
                f"{program} {' '.join(map(str, arguments))} has a wrong result:\n{output[-1000:]}"
            )
        return result

    def side(self, side, network, program, arguments=(), **options):
        """Run one side, plain or cached, on one of NETWORKS."""
        connected, modelled = NETWORKS[network]
        if side == PLAIN and not modelled:
            return self.said(program, arguments, network=connected, cached=False)
        switched = {"shmem": "off"} if side == PLAIN else options
        return self.said(program, arguments, network=connected, options={**modelled, **switched})

    def counted(self, program, arguments=(), **options):
        """Return the totals of Nearcache's report on one cached run over tcp."""
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            path = os.path.join(folder, "report.json")
            self.side(CACHED, "tcp", program, arguments, report=path, **options)
            with open(path, encoding="utf-8") as file:
                return json.load(file)["totals"]


def in_turn(runs, repetitions):
    """Call the functions in turn, `repetitions` times each; return {name: [results]}."""
    given = {name: [] for name in runs}
    for _ in range(repetitions):
        for name, run in runs.items():
            given[name].append(run())
    return given


def seconds(runs):
    return [run["seconds"] for run in runs]


def speedup(plain, cached):
    """Return the ratio of medians, with an interval from the ratios of neighbouring runs."""
    each = summarise([a / b for a, b in zip(seconds(plain), seconds(cached))])
    return {
        "median": median(seconds(plain)) / median(seconds(cached)),
        "ci95": each["ci95"],
        "repetitions": len(plain),
    }


def beside(launch, network, program, words, options, repetitions):
    """Return the row of a program that processes cached and uncached data in turn within one run,
    and whether its results were right."""
    runs = [
        launch.side(CACHED, network, program, [*words, "--beside"], **options)
        for _ in range(repetitions)
    ]
    return {
        "plain_s": summarise([run["uncached_seconds"] for run in runs]),
        "cached_s": summarise(seconds(runs)),
        "speedup": summarise([run["uncached_seconds"] / run["seconds"] for run in runs]),
    }, all(run["correct"] for run in runs)
