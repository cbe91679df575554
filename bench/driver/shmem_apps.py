# SPDX-License-Identifier: BSD-3-Clause
"""The programs of apps/shmem, plain and cached in turn, with equal results."""

import math

from .numbers import summarise
from .openshmem import CACHED, NETWORKS, PLAIN, beside, in_turn, seconds, speedup

# Name of a row: program, arguments, arguments of --quick, Nearcache's options. Rows with options
# are shown, but the figure is that of the defaults; if there are two such rows, the worse one.
PROGRAMS = {
    "ptrans": ("ptrans", [], ["--repetitions", 1], {}),
    "minimd": ("minimd", [], ["--steps", 1], {}),
    "hydro": ("hydro", [], ["--steps", 2], {}),
    "ssca2": ("ssca2", [], ["--sources", 8], {}),
    "ssca2, relaxed atomics": ("ssca2", [], ["--sources", 8], {"shmem_relaxed_atomics": "true"}),
    "gups, atomic adds": ("gups", [], ["--updates", 50000], {}),
    "gups, get and put": ("gups", ["--xor"], ["--xor", "--updates", 50000], {}),
    "indexgather": ("indexgather", [], ["--requests", 50000], {}),
}

# Both sides take the same time to within a percent or two, and runs differ by much more. These
# programs therefore run both sides, alternating by blocks of updates, with one table excluded from
# the cache.
BESIDE = ("gups, atomic adds", "gups, get and put")


def measure(launch, arguments, networks=None):
    results, summary, details = [], {}, {"results_equal": True}
    for network in networks or (["tcp"] if arguments.quick else NETWORKS):
        for name, (program, words, quick_words, options) in PROGRAMS.items():
            measured = beside if name in BESIDE else compared
            row, equal = measured(
                launch,
                network,
                program,
                quick_words if arguments.quick else words,
                options,
                3 if arguments.quick else 5,
            )
            results.append({"network": network, "program": name, **row})
            details["results_equal"] = details["results_equal"] and equal
            if network == "tcp" and not options:
                key = f"{program}_speedup"
                summary[key] = min(row["speedup"]["median"], summary.get(key, math.inf))
    return results, summary, details


def compared(launch, network, program, words, options, repetitions):
    runs = in_turn(
        {
            PLAIN: lambda: launch.side(PLAIN, network, program, words),
            CACHED: lambda: launch.side(CACHED, network, program, words, **options),
        },
        repetitions,
    )
    # Both sides add in the same order, except for atomic additions by PEs, which are of whole
    # numbers.
    sums = {
        run.get("checksum", run.get("total_energy", run.get("potential_energy")))
        for each in runs.values()
        for run in each
    }
    return {
        "plain_s": summarise(seconds(runs[PLAIN])),
        "cached_s": summarise(seconds(runs[CACHED])),
        "speedup": speedup(runs[PLAIN], runs[CACHED]),
    }, len(sums) == 1
