# SPDX-License-Identifier: BSD-3-Clause
"""Programs modelled on public codes (apps/clients), run as their users would, with no option set:
plain and with Nearcache in turn, over tcp and shared memory.

The time of a round is its median over the runs, so that a disturbance affects only one round of one
run.
"""

import json
import os
import tempfile

from .build import Failure
from .numbers import geometric_mean, median, summarise

# these read the same data again between two synchronisations
REPEATING = ("cg", "hash_map", "spmv_lock", "spmv_dynamic")
CLIENTS = (*REPEATING, "samples_fence", "samples_lock", "lu")
NETWORKS = ("tcp", "shared")
# A round over shared memory takes at most a tenth of the time.
ROUNDS, QUICK_ROUNDS = {"tcp": 10, "shared": 100}, {"tcp": 5, "shared": 50}
PAIRS, QUICK_PAIRS = {"tcp": 11, "shared": 21}, {"tcp": 3, "shared": 7}


def measure(launch, arguments):
    rounds, pairs = (QUICK_ROUNDS, QUICK_PAIRS) if arguments.quick else (ROUNDS, PAIRS)
    loaded = launch.build.preload().exists()
    results = [
        compared(launch, network, client, {"rounds": rounds[network]}, pairs[network], loaded)
        for network in NETWORKS
        for client in CLIENTS
    ]
    return results, figures(results) if loaded else {}, {}


def figures(results):
    ratios = {(row["network"], row["client"]): row["speedup"]["median"] for row in results}
    repeating = [ratios["tcp", client] for client in REPEATING]
    return {
        "clients_speedup_geomean": geometric_mean(repeating),
        "clients_speedup_least": min(repeating),
        "clients_worst": min(ratios.values()),
    }


def compared(launch, network, client, flags, pairs, loaded=True):
    runs = {False: [], True: []}
    for pair in range(pairs):
        for cached in (False, True) if pair % 2 else (True, False):
            runs[cached].append(one_run(launch, network, client, flags, cached and loaded))
    found = {run["checksum"] for each in runs.values() for run in each}
    if len(found) != 1:
        raise Failure(f"{client} over {network}: checksums {', '.join(sorted(found))}")
    plain, cached = ([run["seconds"] for run in runs[side]] for side in (False, True))
    return {
        "network": network,
        "client": client,
        "gets": runs[False][0]["gets"],
        "hit_share": hit_share(launch, network, client, flags) if loaded else None,
        "plain_s": undisturbed(plain),
        "cached_s": undisturbed(cached),
        "speedup": speedup(plain, cached),
    }


def undisturbed(runs):
    """Return the sum of the rounds' medians. It includes the first rounds, in which the cache
    learns."""
    return sum(median(each) for each in zip(*runs))


def speedup(plain, cached):
    """Return the speedup, with its interval from the ratios of neighbouring runs."""
    ratios = [sum(a) / sum(b) for a, b in zip(plain, cached)]
    return {**summarise(ratios), "median": undisturbed(plain) / undisturbed(cached)}


def one_run(launch, network, client, flags, cached, options=None):
    words = [client, *(word for key, value in flags.items() for word in (f"--{key}", value))]
    output = launch.run("clients", words, network=network, cached=cached, options=options)
    return json.loads(output[output.index("{") :])


def hit_share(launch, network, client, flags):
    """Return the share of hits in the gets inspected by the cache. This takes a run of its own, as
    a report is an option."""
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        report = os.path.join(folder, "report.json")
        one_run(launch, network, client, flags, True, {"report": report})
        with open(report, encoding="utf-8") as file:
            totals = json.load(file)["totals"]
    return (totals["hits_full"] + totals["hits_partial"] + totals["hits_pending"]) / max(
        1, totals["gets"]
    )
