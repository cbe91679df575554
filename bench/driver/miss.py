# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a miss compared with the plain get, pair by pair over tcp."""

from .numbers import geometric_mean, ratio_of_medians, summarise

SMALL = 4096  # bytes: largest size in miss_ratio_small
LARGE = (16384, 65536)  # bytes: sizes in miss_ratio_large
FIRST = 1000  # gets until the cache has seen enough of a class to judge it


def measure(launch, arguments):
    flags = {"operations": 4000 if arguments.quick else 20000}
    loaded = launch.build.preload().exists()
    results = [result_row(row) for row in launch.rows("bench_miss", flags, cached=loaded)]
    flags["operations"] = 2000 if arguments.quick else 5000
    control = launch.rows("bench_miss", flags, cached=False)
    for result, row in zip(results, control):
        result["plain_get_ns"] = summarise(row["get_ns"])
        result["control_ratio"] = ratio_of_medians(row["miss_ns"], row["get_ns"])
    ratios = {r["size"]: r["ratio"]["median"] for r in results}
    small = [ratio for size, ratio in ratios.items() if size <= SMALL]
    large = [ratio for size, ratio in ratios.items() if size in LARGE]
    summary = {
        "miss_ratio_small": geometric_mean(small) if loaded else None,
        "miss_ratio_large": geometric_mean(large) if loaded else None,
    }
    details = {
        "miss_ratio_small_max": max(small),
        "miss_ratio_large_max": max(large),
        "control_ratio_small": geometric_mean(
            [r["control_ratio"]["median"] for r in results if r["size"] <= SMALL]
        ),
    }
    return results, summary, details


def result_row(row):
    miss, get = row["miss_ns"], row["get_ns"]
    return {
        "size": int(row["size"]),
        "miss_ns": summarise(miss),
        "get_ns": summarise(get),
        "ratio": ratio_of_medians(miss, get),
        "ratio_first_1000": ratio_of_medians(miss[:FIRST], get[:FIRST]),
        "cached_share": (row["direct"] + row["capacity"] + row["conflicting"])
        / max(1, row["gets"]),
    }
