# SPDX-License-Identifier: BSD-3-Clause
"""The share of a get's time available for computing, by size and access type (CLaMPI, Fig. 8): tcp
and network model."""

from .numbers import median, summarise

SIZES = (8, 64, 512, 4096, 16384, 65536)
JUDGED = 65536
TYPES = ("direct", "capacity", "failing")
STORED = ("direct", "capacity")  # access types whose bytes are copied before the flush returns
# plain gets after which the program copies the bytes: the bound, latency over latency and copy
COPIED = "copied"
ARIES = "1900,0.17"  # L ns and G ns/B of a get in foMPI's paper
# Name of the network: how ranks are connected, and Nearcache's options. The model can only add time
# to the real network, so it runs on shared memory, the fastest one.
NETWORKS = {"tcp": ("tcp", {}), "model": ("shared memory", {"model": ARIES})}


def measure(launch, arguments):
    results, details = [], {}
    loaded = launch.build.preload().exists()
    for name, (network, options) in NETWORKS.items():
        if name == "model" and not loaded:
            continue
        rows = launch.rows(
            "bench_overlap",
            {"sizes": ",".join(map(str, SIZES)), "repetitions": 200 if arguments.quick else 1000},
            network=network,
            cached=loaded,
            options={"max_storage": "1G", **options},
        )
        of_network = judged(name, rows)
        results += of_network
        for row in of_network:
            if row["size"] == JUDGED and row["access"] not in ("plain", COPIED):
                details[f"{name}_{row['access']}_64k"] = row["ratio"]
                details[f"{name}_{row['access']}_64k_added_us"] = row["added_us"]
    ratios = [
        row["ratio"]
        for row in results
        if (row["network"], row["size"]) == ("tcp", JUDGED) and row["access"] in TYPES
    ]
    copied = [
        row["ratio"]
        for row in results
        if (row["network"], row["size"], row["access"]) == ("tcp", JUDGED, COPIED)
    ]
    details["bound_64k"] = copied[0]
    stored = [
        row["ratio"]
        for row in results
        if (row["network"], row["size"]) == ("tcp", JUDGED) and row["access"] in STORED
    ]
    return (
        results,
        {
            "overlap_ratio_64k": min(ratios) if loaded else None,
            "overlap_of_bound_64k": min(stored) / copied[0] if loaded and copied[0] else None,
        },
        details,
    )


def judged(network, rows):
    plain = {row["size"]: row for row in rows if row["access"] == "plain"}
    return [result(network, row, plain[row["size"]]) for row in rows]


def result(network, row, plain):
    """Return the result of a row.

    `overlap` is the hidden share of the access' own latency. `hidden_of_plain` is stricter: the
    time that the plain get hides, less all that the cache adds, as a share of it.
    """
    hidden = median(plain["latency_ns"]) - median(plain["exposed_ns"])
    added = median(row["exposed_ns"]) - median(plain["exposed_ns"])
    wanted = row["access"] if row["access"] in TYPES else "direct"
    return {
        "network": network,
        "size": int(row["size"]),
        "access": row["access"],
        "latency_us": summarise([t / 1000 for t in row["latency_ns"]]),
        "exposed_us": summarise([t / 1000 for t in row["exposed_ns"]]),
        "compute_us": row["compute_ns"] / 1000,
        "overlap": overlap(row),
        "ratio": overlap(row) / overlap(plain) if overlap(plain) > 0 else None,
        "added_us": added / 1000,
        "hidden_of_plain": (hidden - added) / hidden if hidden > 0 else None,
        "of_this_type": None
        if row["access"] in ("plain", COPIED)
        else row[wanted] / max(1, row["gets"]),
    }


def overlap(row):
    return 1 - median(row["exposed_ns"]) / median(row["latency_ns"])
