# SPDX-License-Identifier: BSD-3-Clause
"""Answers from the micro-benchmarks, the engine's simulations and the policies' table (Fig. 2 to
11)."""

from driver.report import GOALS

from .answer import at_least, at_most, column, each, given, holds, one, percent, times
from .table import values, where

NETWORKS = {"tcp": "tcp", "model": "network model"}
PAPERS = ("Full", "Temporal", "Positional")
DEFAULT = "Nearcache (rate)"


def most_repeats(data):
    return given(f"up to {max(column(data['2'], 'to_times')):,} times")


def sizes(data):
    rows = data["3"]
    gets, total = sum(column(rows, "gets")), sum(column(rows, "bytes"))
    below = {
        limit: sum(row["gets"] for row in rows if row["up_to_bytes"] <= limit) / gets
        for limit in (4096, 8192)
    }
    return given(
        f"{percent(below[4096])} up to 4 KiB, {percent(below[8192])} up to 8 KiB; mean {total / gets:,.0f} B (ids of 4 bytes)"
    )


def hit(data, size, paper):
    faster = {
        name: 1
        / one(data["7"], "of_plain", network=name, policy="rate", access="hit_full", size=size)
        for name in NETWORKS
    }
    # The model has the paper's network.
    return at_least(
        paper,
        faster["model"],
        each({NETWORKS[name]: times(value) for name, value in faster.items()}),
    )


def miss_overhead(data):
    added = {
        name: max(column(data["7"], "of_plain", network=name, policy="rate", access="direct")) - 1
        for name in NETWORKS
    }
    return at_most(
        0.25,
        max(added.values()),
        "most that a direct access adds, of all sizes - "
        + each({NETWORKS[n]: percent(v) for n, v in added.items()}),
    )


def overlaps(data, network, access):
    """Return the overlap at 64 KiB. Raises LookupError if most of the series' gets were of another
    type."""
    if (
        access != "plain"
        and one(data["8"], "of_this_type", network=network, access=access, size=65536) < 0.5
    ):
        raise LookupError(f"{access} over {network}")
    return one(data["8"], "overlap", network=network, access=access, size=65536)


def plain_overlap(data):
    return given(
        "the plain get overlaps "
        + each({text: percent(overlaps(data, name, "plain")) for name, text in NETWORKS.items()})
    )


def lost_overlap(data):
    ratios = {
        name: {
            access: overlaps(data, name, access) / overlaps(data, name, "plain")
            for access in ("direct", "capacity", "failing")
        }
        for name in NETWORKS
    }
    texts = {
        NETWORKS[name]: ", ".join(f"{access} {percent(share)}" for access, share in found.items())
        for name, found in ratios.items()
    }
    return at_least(
        0.95,
        min(min(found.values()) for found in ratios.values()),
        "of the plain get's overlap - " + each(texts),
    )


def failing_overlap(data):
    pairs = {
        name: (overlaps(data, name, "failing"), overlaps(data, name, "direct")) for name in NETWORKS
    }
    text = each(
        {
            NETWORKS[name]: f"failing {percent(a)}, direct {percent(b)}"
            for name, (a, b) in pairs.items()
        }
    )
    return given(text)


def by_network(data, measure):
    return {
        network: measure(where(data["9"], network=network))
        for network in values(data["9"], "network")
    }


def fixed_index(data):
    worst = by_network(data, lambda rows: max(column(rows, "over_best_fixed", strategy="fixed")))
    return given(
        "slowest over best fixed index - "
        + each({NETWORKS.get(name, "SimGrid"): times(value) for name, value in worst.items()})
    )


def adaptive_index(data):
    worst = by_network(data, lambda rows: max(column(rows, "over_best_fixed", strategy="adaptive")))
    text = each({NETWORKS.get(name, "SimGrid"): times(value) for name, value in worst.items()})
    return at_most(1.10, max(worst.values()), f"slowest adaptive over best fixed - {text}")


def mean(numbers):
    return sum(numbers) / len(numbers)


def occupied(data):
    means = {
        scheme: mean(column(data["10"], "occupied", scheme=scheme))
        for scheme in values(data["10"], "scheme")
    }
    return at_least(
        0.90,
        means[DEFAULT],
        "in the mean - " + each({scheme: percent(value) for scheme, value in means.items()}),
    )


def temporal_falls(data):
    found = column(data["10"], "occupied", scheme="Temporal")
    quarter = len(found) // 4
    return given(
        f"first quarter {percent(mean(found[:quarter]))}, last quarter {percent(mean(found[-quarter:]))}"
    )


def hits_by_index(data, scheme):
    return {row["index"]: row["hit_ratio"] for row in where(data["11"], scheme=scheme)}


def full_is_best(data):
    schemes = {scheme: hits_by_index(data, scheme) for scheme in PAPERS}
    best = [max(PAPERS, key=lambda scheme: schemes[scheme][index]) for index in schemes["Full"]]
    ratios = each(
        {scheme: percent(mean(list(found.values()))) for scheme, found in schemes.items()}
    )
    return given(
        f"Full is the best at {best.count('Full')} of {len(best)} sizes; mean hit ratio - {ratios}"
    )


def default_over_full(data):
    full, ours = hits_by_index(data, "Full"), hits_by_index(data, DEFAULT)
    better = sum(ours[index] >= full[index] for index in full)
    return holds(
        better == len(full),
        f"our default has more hits at {better} of {len(full)} sizes: mean hit ratio {percent(mean(list(ours.values())))} "
        f"against {percent(mean(list(full.values())))}",
    )


def temporal_free(data):
    free = {
        scheme: mean(column(data["11"], "free", scheme=scheme))
        for scheme in values(data["11"], "scheme")
    }
    return given(
        "free in the mean - " + each({scheme: percent(value) for scheme, value in free.items()})
    )


def visited(data):
    rows = sorted(where(data["11"], scheme="Full"), key=lambda row: row["index"])
    ends = (rows[0], rows[-1])
    return given(
        each(
            {
                f"index {row['index']:,}": f"{row['visited']:.1f} slots, {row['visited_entries']:.1f} with an entry"
                for row in ends
            }
        )
    )


def peers_share(data):
    shares = column(data["peers"], "share")
    text = f"least {percent(min(shares))}, mean {percent(mean(shares))} of the lower of best fixed set and clairvoyant"
    least, in_mean = GOALS["share_of_reference_min"][1], GOALS["share_of_reference_mean"][1]
    return holds(min(shares) >= least and mean(shares) >= in_mean, text)


def peers_behind(data):
    worst = max(data["peers"], key=lambda row: row["behind_peers"])
    return at_most(
        GOALS["worst_behind_peers_points"][1],
        worst["behind_peers"],
        f"{worst['behind_peers']:.1f} points at worst ({worst['trace']}, {worst['storage']})",
    )
