# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a hit compared with a plain load, also for two threads at once, and the overhead per call
of the library when it is switched off."""

from .numbers import median, paired_difference, summarise

THREADS = 2


def measure(launch, arguments):
    words = ["--blocks", 300 if arguments.quick else 2000]
    processes = (
        3 if arguments.quick else 9
    )  # code and data have other addresses in every process, which is worth a nanosecond
    in_turn = [
        (
            launch.said("bench_shmem_hit", words),
            launch.said("bench_shmem_hit", [*words, "--threads", THREADS]),
        )
        for _ in range(processes)
    ]
    hits = together([single for single, _ in in_turn])
    results = [compared("hit", hits["hit_ns"], "plain load", hits["load_ns"])]
    shared = summarise([median(two["hit_ns"]) / median(one["hit_ns"]) for one, two in in_turn])
    for cached, name in ((True, "library switched off"), (False, "no library")):
        off = together(
            [
                launch.said("bench_shmem_hit", words, cached=cached, options={"shmem": "off"})
                for _ in range(processes)
            ]
        )
        results += [
            compared(
                f"own PE, {call}, {name}", off[f"{call}_ns"], "pshmem_", off[f"{call}_below_ns"]
            )
            for call in ("get", "put")
        ]
    added = [row["difference_ns"]["median"] for row in results[1:3]]
    return (
        results,
        {
            "hit_over_load_ns": results[0]["difference_ns"]["median"],
            "hit_of_two_threads_over_one": shared["median"],
            "off_added_ns": max(added),
        },
        {"hit_of_two_threads_over_one": shared},
    )


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
