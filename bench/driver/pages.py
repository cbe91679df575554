# SPDX-License-Identifier: BSD-3-Clause
"""The value of each heuristic of the page cache: access patterns replayed in virtual time, with
each heuristic switched off in turn."""

import json
import subprocess

from .build import Failure

ALL_ON = "none"  # value of "off"


def measure(launch, arguments):
    rows = replayed(launch.build.directory / "bin" / "bench_pages", 2 if arguments.quick else 7)
    cases = {}
    for row in rows:
        cases.setdefault((row["network"], row["pattern"]), {})[row["off"]] = row
    results = [case(network, pattern, by_off) for (network, pattern), by_off in cases.items()]
    heuristics = [name for name in next(iter(cases.values())) if name != ALL_ON]
    gains = {name: max(result[name] for result in results) for name in heuristics}
    losses = {name: -min(result[name] for result in results) for name in heuristics}
    details = {f"{name}_gains_at_most_percent": gain for name, gain in gains.items()}
    return (
        results,
        {
            "heuristics_least_gain_percent": min(gains.values()),
            "heuristics_worst_loss_percent": max(losses.values()),
        },
        details,
    )


def replayed(program, rounds):
    done = subprocess.run([str(program), str(rounds)], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"bench_pages failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def case(network, pattern, by_off):
    """Return a row: the cost with all heuristics on, and the change of time in per cent without
    each of them."""
    whole = by_off[ALL_ON]
    row = {
        "network": network,
        "pattern": pattern,
        "us": time(whole) / whole["accesses"] / 1000,
        "engine_ns": round(whole["engine_ns"] / whole["accesses"]),
        "gets": whole["gets"],
        "fetched_KiB": whole["get_bytes"] // 1024,
        "ahead_unused": round(unused(whole), 2),
    }
    row.update(
        {
            off: round(100 * (time(each) / time(whole) - 1), 1)
            for off, each in by_off.items()
            if off != ALL_ON
        }
    )
    return row


def time(row):
    return row["virtual_ns"] + row["engine_ns"]


def unused(row):
    """Return the share of the prefetched lines that were never used."""
    return 1 - row["ahead_lines_used"] / row["ahead_lines"] if row["ahead_lines"] else 0
