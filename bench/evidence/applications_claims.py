# SPDX-License-Identifier: BSD-3-Clause
"""Answers from Barnes-Hut and LCC (Fig. 12 to 18)."""

from .answer import at_least, at_most, column, each, given, holds, one, percent, times
from .table import values, where

NETWORKS = {"tcp": "tcp", "model": "network model", "simgrid": "SimGrid"}


def by_network(rows, measure):
    return {network: measure(where(rows, network=network)) for network in values(rows, "network")}


def texts(found, text=times):
    return each({NETWORKS[name]: text(value) for name, value in found.items()})


def native_speedup(data):
    def of(rows):
        return {
            storage: one(rows, "speedup", fetch="native", storage_mb=storage) for storage in (1, 4)
        }

    found = by_network(data["12"], of)
    return given(
        texts(found, lambda value: f"{times(value[1])} with 1 MB, {times(value[4])} with 4 MB")
    )


def adaptive_is_best(data):
    def of(rows):
        cases = where(rows, fetch="adaptive")

        def rivals(case):
            same = [
                row
                for row in where(rows, storage_mb=case["storage_mb"])
                if row["index_k"] in (None, case["index_k"])
            ]
            return [row["us_per_body"] for row in same if row["fetch"] != "adaptive"]

        # Differences of less than a twentieth count as equal: there are few runs.
        best = sum(case["us_per_body"] <= 1.05 * min(rivals(case)) for case in cases)
        return best, len(cases)

    found = by_network(data["12"], of)
    text = texts(found, lambda pair: f"{pair[0]} of {pair[1]} cases")
    return holds(
        all(best == count for best, count in found.values()), "best, or within 5% of it - " + text
    )


def barnes_hut_speedup(data):
    found = by_network(data["12"], lambda rows: max(column(rows, "speedup", fetch="adaptive")))
    return at_least(5, min(found.values()), texts(found))


def barnes_hut_conflicts(data):
    def of(rows):
        return {
            row["index_k"]: row["conflicting"] for row in where(rows, fetch="fixed", storage_mb=1)
        }

    found = by_network(data["13"], of)
    return given(
        "of all gets - "
        + texts(
            found,
            lambda shares: ", ".join(
                f"{percent(share)} with {index:g}K" for index, share in shares.items()
            ),
        )
    )


def scaling_over_plain(data):
    found = {row["ranks"]: row["speedup"] for row in where(data["14"], case="adaptive")}
    return at_least(
        5,
        max(found.values()),
        each({f"{ranks} processes": times(value) for ranks, value in found.items()}),
    )


def scaling_over_native(data):
    native = {row["ranks"]: row["per_unit_us"] for row in where(data["14"], case="native")}
    found = {
        row["ranks"]: native[row["ranks"]] / row["per_unit_us"]
        for row in where(data["14"], case="adaptive")
    }
    return at_least(
        3,
        max(found.values()),
        each({f"{ranks} processes": times(value) for ranks, value in found.items()}),
    )


def scaling_adjustments(data):
    found = {
        row["ranks"]: row["adaptations"] / row["ranks"]
        for row in where(data["14"], case="adaptive")
    }
    return given(
        "changes of a size a process - "
        + each({f"{ranks} processes": f"{value:.1f}" for ranks, value in found.items()})
    )


def lcc_speedup(data):
    def of(rows):
        return {
            strategy: one(rows, "speedup", strategy=strategy, storage_mb=128, index_k=256)
            for strategy in ("fixed", "adaptive")
        }

    found = by_network(data["15"], of)
    # SimGrid has the paper's number of processes.
    return at_least(
        5,
        found["simgrid"]["fixed"],
        texts(
            found,
            lambda value: f"fixed {times(value['fixed'])}, adaptive {times(value['adaptive'])}",
        ),
    )


def lcc_adaptive(data):
    def of(rows):
        return max(column(rows, "communication_s", strategy="adaptive")) / min(
            column(rows, "communication_s", strategy="fixed")
        )

    found = by_network(data["15"], of)
    return at_most(1.10, max(found.values()), "slowest adaptive over best fixed - " + texts(found))


def lcc_turned_away(data):
    def of(rows):
        return max(
            row["capacity"] + row["failing"] for row in where(rows, strategy="fixed", storage_mb=64)
        )

    return given(texts(by_network(data["16"], of), percent))


def lcc_hits(data):
    def of(rows):
        return min(column(rows, "hits", strategy="adaptive", storage_mb=64))

    found = by_network(data["16"], of)
    return at_least(0.60, min(found.values()), "least of all starts - " + texts(found, percent))


def lcc_scaling(data):
    found = {
        case: {row["ranks"]: row["speedup"] for row in where(data["17"], case=case)}
        for case in ("fixed", "adaptive")
    }
    lowest = min(min(speedups.values()) for speedups in found.values())
    return at_least(
        1.0,
        lowest,
        each(
            {
                case: ", ".join(f"{times(value)} ({ranks})" for ranks, value in speedups.items())
                for case, speedups in found.items()
            }
        ),
    )


def lcc_gap(data):
    def of(ranks):
        return one(data["17"], "communication_s", ranks=ranks, case="fixed") / one(
            data["17"], "communication_s", ranks=ranks, case="adaptive"
        )

    found = {ranks: of(ranks) for ranks in sorted(values(data["17"], "ranks"))}
    return given(
        "fixed over adaptive - "
        + each({f"{ranks} processes": times(value) for ranks, value in found.items()})
    )


def lcc_other_misses(data):
    found = {
        row["ranks"]: row["conflicting"] + row["capacity"] + row["failing"]
        for row in where(data["18"], case="adaptive")
    }
    return at_most(
        0.08,
        max(found.values()),
        each({f"{ranks} processes": percent(value) for ranks, value in found.items()}),
    )
