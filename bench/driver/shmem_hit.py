# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a hit compared with a plain load, also for two threads at once, and the overhead per call
of the library where it has nothing to do: over shared memory, and when it is switched off."""

from .numbers import median, paired_difference, summarise

THREADS = 2
NEAR = ("get", "put", "fetch", "quiet")
OWN = ("get", "put")


def measure(launch, arguments):
    words = ["--blocks", 300 if arguments.quick else 2000]
    # code and data have other addresses in every process, which is worth a nanosecond
    processes = 3 if arguments.quick else 9
    in_turn = [
        (
            launch.said("bench_shmem_hit", words),
            launch.said("bench_shmem_hit", [*words, "--threads", THREADS]),
        )
        for _ in range(processes)
    ]
    hits = together([single for single, _ in in_turn])
    hit = compared("hit", hits["hit_ns"], "plain load", hits["load_ns"])
    shared = summarise([median(two["hit_ns"]) / median(one["hit_ns"]) for one, two in in_turn])

    def beside_library(what, calls, *more, **how):
        runs = [launch.said("bench_shmem_hit", [*words, *more], **how) for _ in range(processes)]
        times = together(runs)
        return [
            compared(f"{what}, {call}", times[f"{call}_ns"], "pshmem_", times[f"{call}_below_ns"])
            for call in calls
        ]

    near = beside_library("near PE", NEAR, "--near", network="shared")
    off, none = (
        beside_library(f"own PE, {name}", OWN, cached=cached, options={"shmem": "off"})
        for cached, name in ((True, "library switched off"), (False, "no library"))
    )
    return (
        [hit, *near, *off, *none],
        {
            "hit_over_load_ns": hit["difference_ns"]["median"],
            "hit_of_two_threads_over_one": shared["median"],
            "near_added_ns": most_added(near),
            "off_added_ns": most_added(off),
        },
        {"hit_of_two_threads_over_one": shared},
    )


def most_added(rows):
    return max(row["difference_ns"]["median"] for row in rows)


def together(runs):
    return {
        key: [value for run in runs for value in run[key]]
        for key in runs[0]
        if isinstance(runs[0][key], list)
    }


def compared(what, above, beside, below):
    return {
        "case": what,
        "ns": summarise(above),
        "beside": beside,
        "beside_ns": summarise(below),
        "difference_ns": paired_difference(above, below),
    }
