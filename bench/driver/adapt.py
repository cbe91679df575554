# SPDX-License-Identifier: BSD-3-Clause
"""Completion time by the initial sizes of index and storage, fixed and adaptive (CLaMPI, Fig. 9 and
15), over tcp."""

from .numbers import median, summarise

INDICES = (200, 500, 1000, 1500, 3000, 8000)
KIB = 1024
# from far too few to far too many
STARTS = (64 * KIB, 1024 * KIB, 64 * 1024 * KIB, 512 * 1024 * KIB)
FIT = 24 * 1024 * KIB  # large enough for all that either sequence requests
TOO_LARGE = 64 * 1024 * KIB


def measure(launch, arguments):
    results, worst, details = [], {}, {}
    for gets in ("normal", "lcc"):
        rows = run(launch, gets, 7 if arguments.quick else 25)
        best = min(
            (row for row in rows if not row["adaptive"]), key=lambda row: median(row["elapsed_ns"])
        )
        judged = [result(gets, row, best) for row in rows]
        results += sorted(judged, key=lambda row: (row["strategy"], row["storage"], row["index"]))
        adaptive = [row for row in judged if row["strategy"] == "adaptive"]
        worst[gets] = max(adaptive, key=lambda row: row["over_best_fixed"]["median"])
        details[f"worst_{gets}"] = (
            "index {index}, storage {storage}: {misses} misses of {gets} gets".format(**worst[gets])
        )
        details[f"best_fixed_{gets}"] = (
            f"index {int(best['index'])}, storage {int(best['storage'])}: {int(misses(best))} misses"
        )
        details[f"worst_fixed_over_best_{gets}"] = max(
            r["over_best_fixed"]["median"] for r in judged if r["strategy"] == "fixed"
        )
    loaded = launch.build.preload().exists()
    over = max(row["over_best_fixed"]["median"] for row in worst.values())
    return results, {"worst_over_best_fixed": over if loaded else None}, details


def run(launch, gets, rounds):
    return launch.rows(
        "bench_adapt",
        flags(gets, rounds),
        cached=launch.build.preload().exists(),
        options={"max_storage": "1G"},
    )


def flags(gets, rounds, fixed=(FIT, TOO_LARGE), adaptive=STARTS):
    """Return the program's flags for all initial index sizes and these storages."""

    def words(values):
        return ",".join(map(str, values))

    return {
        "gets": gets,
        "rounds": rounds,
        "indices": words(INDICES),
        "fixed-storages": words(fixed),
        "adaptive-storages": words(adaptive),
    }


def misses(row):
    return row["gets"] - row["hits_full"] - row["hits_pending"]


def result(gets, row, best):
    """Return the result of a row.

    Ratios are taken within a round, so that a disturbance longer than a run affects both sides.
    """
    ratios = [a / b for a, b in zip(row["elapsed_ns"], best["elapsed_ns"])]
    return {
        "sequence": gets,
        "strategy": "adaptive" if row["adaptive"] else "fixed",
        "index": int(row["index"]),
        "storage": int(row["storage"]),
        "time_ms": summarise([t / 1e6 for t in row["elapsed_ns"]]),
        "over_best_fixed": summarise(ratios),
        "gets": int(row["gets"]),
        "distinct": int(row["distinct"]),
        "misses": int(misses(row)),
        "conflicting": int(row["conflicting"]),
        "adaptations": int(row["adaptations"]),
        "index_at_end": int(row["index_entries"]),
        "storage_at_end": int(row["storage_bytes"]),
    }
