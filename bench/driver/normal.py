# SPDX-License-Identifier: BSD-3-Clause
"""CLaMPI's micro-benchmark (section IV.A): hit ratio, cost saved, fill, and time compared with no
cache, over tcp."""

from .numbers import fit_cost, median, summarise

# L ns and G ns/B of the published systems' network, the weights of cost_saved
ARIES = (1900.0, 0.17)
PERCENTS = (25, 50, 100)


def measure(launch, arguments):
    loaded = launch.build.preload().exists()
    network = fit_cost(
        {
            row["size"]: median(row["get_ns"])
            for row in launch.rows("bench_normal", {"fit": 1}, cached=False)
        }
    )
    results = []
    for samples in (20000, 100000):
        for percent in PERCENTS:
            results.append(observed(launch, samples, percent, network, loaded))
            if not arguments.quick or percent == 100 and samples == 20000:
                results[-1].update(
                    timed(launch, samples, percent, loaded, 3 if arguments.quick else 5)
                )
    by_case = {(r["samples"], r["percent"]): r for r in results}
    judged = by_case[20000 if arguments.quick else 100000, 100]
    summary = {
        "cost_saved_25": by_case[100000, 25]["cost_saved"] if loaded else None,
        "fill_25": by_case[100000, 25]["fill"],
        "time_ratio_100": judged["time_ratio"] if loaded else None,
    }
    return results, summary, {"tcp_L_ns": network[0], "tcp_G_ns_per_byte": network[1]}


def flags_of(samples, percent):
    # At 100% the tuner may add the room needed for rounding; below, the effect of the size itself
    # is studied.
    return {"samples": samples, "percent": percent, "adaptive": int(percent == 100)}


def run(launch, flags, loaded):
    return launch.rows("bench_normal", flags, cached=loaded, options={"max_storage": "1G"})[0]


def observed(launch, samples, percent, network, loaded):
    row = run(launch, {**flags_of(samples, percent), "observe": 1}, loaded)
    return {
        "samples": samples,
        "percent": percent,
        "set_bytes": int(row["set_bytes"]),
        "storage_bytes": int(row["storage_bytes"]),
        "hit_ratio": hits(row) / max(1, row["gets"]),
        "cost_saved": cost_saved(row, *ARIES),
        "cost_saved_tcp": cost_saved(row, *network),
        "fill": fill_once_full(row),
    }


def hits(row):
    return row["hits_full"] + row["hits_pending"]


def cost_saved(row, latency, per_byte):
    """Return the share of the gets' cost avoided by hits. The cost is linear, so totals suffice."""
    saved = latency * hits(row) + per_byte * row["bytes_from_cache"]
    return saved / max(1.0, latency * row["gets"] + per_byte * row["bytes_requested"])


def fill_once_full(row):
    """Return the mean fill of the storage from the first get that found no free room; None if there
    is none."""
    full = [
        fill for fill, turned_away in zip(row["fill"], row["capacity_or_failing"]) if turned_away
    ]
    return sum(full) / len(full) if full else None


def timed(launch, samples, percent, loaded, repetitions):
    times = {False: [], True: []}
    for _ in range(repetitions):
        for cached in times:
            times[cached].append(
                run(launch, flags_of(samples, percent), cached and loaded)["elapsed_ns"] / 1e9
            )
    return {
        "uncached_s": summarise(times[False]),
        "cached_s": summarise(times[True]),
        "time_ratio": median(times[False]) / median(times[True]),
    }
