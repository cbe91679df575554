# SPDX-License-Identifier: BSD-3-Clause
"""The life of a window that is created, read a few times and freed, over shared memory and tcp,
with and without Nearcache in turn."""

from .numbers import median, ratio_of_medians, summarise

NETWORKS = ("shared", "tcp")


def measure(launch, arguments):
    rounds = 3 if arguments.quick else 9
    sides = (False, True) if launch.build.preload().exists() else (False,)
    found = {}  # (network, memory, gets, cached): median us of each round
    for turn in range(rounds):
        for network in NETWORKS:
            for memory in ("created", "allocated"):
                for cached in sides[:: 1 if turn % 2 else -1]:
                    for row in launch.rows(
                        "bench_windows", {"memory": memory}, network=network, cached=cached
                    ):
                        key = (network, memory, int(row["gets"]), cached)
                        found.setdefault(key, []).append(median(row["us"]))
    results = [
        {
            "network": network,
            "memory": memory,
            "gets": gets,
            "plain_us": summarise(plain),
            **compared(found.get((network, memory, gets, True)), plain),
        }
        for (network, memory, gets, cached), plain in sorted(found.items())
        if not cached
    ]
    few = [row["added_us"] for row in results if row["network"] == "shared" and row["gets"] <= 10]
    return results, {"window_added_us": max(few) if True in sides else None}, {}


def compared(cached, plain):
    if cached is None:
        return {"cached_us": "-", "added_us": "-", "ratio": "-"}
    return {
        "cached_us": summarise(cached),
        "added_us": median(cached) - median(plain),
        "ratio": ratio_of_medians(cached, plain),
    }
