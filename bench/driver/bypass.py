# SPDX-License-Identifier: BSD-3-Clause
"""Nearcache's overhead per call when it has nothing to do."""

from .numbers import paired_difference, summarise


def measure(launch, arguments):
    flags = {"blocks": 1000 if arguments.quick else 5000}
    loaded = launch.build.preload().exists()
    rows = launch.rows("bench_bypass", flags, network="shared", cached=loaded)
    rows += launch.rows(
        "bench_bypass",
        {**flags, "environment": "off-by-environment"},
        network="shared",
        cached=loaded,
        options={"mode": "off"},
    )
    results = [result_row(row) for row in rows]
    # The rows of MPI_Test are shown, but the figures come from the pairs.
    pairs = [r for r in results if r["case"] != "test"]
    added = [r["added_per_call_ns"]["median"] for r in pairs]
    ratios = [
        r["ratio"]["median"]
        for r in pairs
        if r["mode"] == "default" and "environment" not in r["case"]
    ]
    return (
        results,
        {
            "bypass_added_ns": max(added) if loaded else None,
            "bypass_ratio_max": max(ratios) if loaded else None,
        },
        {},
    )


def result_row(row):
    gets = max(1, row["gets"])
    return {
        "case": row["case"],
        "mode": row["mode"],
        "size": int(row["size"]),
        "calls": int(row["calls"]),
        "with_ns": summarise(row["with_ns"]),
        "without_ns": summarise(row["without_ns"]),
        "added_per_call_ns": paired_difference(row["with_ns"], row["without_ns"]),
        # The ratio is taken over neighbouring blocks, because the processor's speed changes over
        # time.
        "ratio": summarise([a / b for a, b in zip(row["with_ns"], row["without_ns"])]),
        "hit_share": row["hits_full"] / gets,
    }
