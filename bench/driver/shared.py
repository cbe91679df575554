# SPDX-License-Identifier: BSD-3-Clause
"""One cache for the ranks of a node (option share).

Measures the extra cost of a hit compared with a cache per rank, how ranks that hit or miss
simultaneously slow each other down, and the number of remaining gets: in SimGrid, the same in every
run.
"""

import json
import os
import subprocess
import tempfile

from scale import dragonfly, simgrid

from . import adapt, scale
from .build import Failure, command
from .numbers import median

SIZES = "8,64,512,4096"
# Simulated ranks of one host have concurrent transfers whose shares of a link differ by more than
# the solver expects.
SEVERAL_A_HOST = {"maxmin/precision": "1e-3"}


def measure(launch, arguments):
    results, summary = [], {}
    if launch.build.preload().exists():
        row = hits(launch, arguments.quick)
        results.append(row)
        summary["shared_hit_added_ns"] = max(row["added_ns"].values())
    rows = engine(launch, arguments.quick)
    results += rows
    summary["shared_hit_together_ratio"] = max(
        row["hit_together_ns"] / row["hit_alone_ns"] for row in rows
    )
    summary["shared_miss_ratio"] = max(
        row["miss_shared_ns"] / row["miss_private_ns"] for row in rows
    )
    if simgrid.available():
        build = launch.build.directory
        command(["cmake", "--build", build, "--target", "bench-scale"], "building for SimGrid")
        programs = max((build / "bin").glob("simgrid-*"))
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            rows = alone(programs, folder)
        results += rows
        summary["alone_time_ratio"] = max(row["ratio"] for row in rows)
        program = programs / "lcc_cached"
        for a_node in (2, 4):
            graph = ["--rmat", 11, "--row-window", "--unpermuted"]
            row = simulated(program, 2 * a_node, a_node, graph, 64 << 10)
            results.append(row)
            summary[f"network_gets_ratio_{a_node}"] = (
                row["shared"]["network_gets"] / row["private"]["network_gets"]
            )
        # Storage for a small part of what a rank reads. Eight nodes share less of a graph than
        # four, so theirs has more edges: the part that each must fetch once is then equally small.
        ranks, edges, storage = (64, 16, 32 << 10) if arguments.quick else (128, 48, 64 << 10)
        row = simulated(program, ranks, 16, ["--rmat", 12], storage, edges)
        results.append(row)
        summary["lcc_cost_saved_16"] = row["shared"]["cost_saved"]
        summary["lcc_cost_saved_private"] = row["private"]["cost_saved"]
    return results, summary, {}


def alone(programs, folder, ranks=16):
    """Return the cost of option `share` with one rank per node: run times with it on and off, the
    same in every run."""

    def run(name, program, words, number_of, options):
        seconds = {}
        for side, share in (("off", "off"), ("node", "node")):
            out = os.path.join(folder, f"{name}-{side}.json")
            given = {**options, "share": share}
            flag = "--out" if program == "bench_adapt" else "--json"
            hosts = 2 if program == "bench_adapt" else ranks
            simgrid.run(programs / f"{program}_cached", [*words, flag, out], hosts, folder, given)
            with open(out, encoding="utf-8") as file:
                seconds[side] = number_of(json.load(file))
        return {
            "measured": "one rank a node, in SimGrid",
            "program": name,
            **{f"{side}_s": value for side, value in seconds.items()},
            "ratio": seconds["node"] / seconds["off"],
        }

    def total(app):
        return lambda result: app.row(result)["total_s"]

    adaptive = scale.OPTIONS["adaptive"]
    rows = [
        run(app.name, app.program, app.arguments(ranks), total(app), {**app.options(), **adaptive})
        for app in (scale.Lcc(quick=False), scale.BarnesHut(quick=False))
    ]
    flags = adapt.flags("normal", 1, fixed=(adapt.FIT,), adaptive=(adapt.STARTS[0], adapt.FIT))
    words = [word for name, value in flags.items() for word in (f"--{name}", value)]

    def elapsed(found):
        return 1e-9 * sum(median(row["elapsed_ns"]) for row in found)

    rows.append(run("normal", "bench_adapt", words, elapsed, {"max_storage": "1G"}))
    return rows


def hits(launch, quick):
    """Time blocks of hits in a cache of two ranks and in one of a single rank, in turn in one
    process.

    On some machines, the same program runs at one of two speeds, depending on its memory layout.
    The added cost is the median over the runs.
    """
    flags = {
        "shared": 1,
        "blocks": 100 if quick else 400,
        "entries": 1000,
        "sizes": SIZES,
        "metadata-index": 0,
    }
    private, shared, added = {}, {}, {}
    for _ in range(3 if quick else 7):
        for row in launch.rows("bench_hit", flags, options={"max_storage": "4G"}):
            if not row["resident"]:
                raise Failure("shared: the gets are not all hits")
            size, own, common = (
                int(row["size"]),
                median(row["private_ns"]),
                median(row["shared_ns"]),
            )
            private.setdefault(size, []).append(own)
            shared.setdefault(size, []).append(common)
            added.setdefault(size, []).append(common - own)
    return {
        "measured": "hits",
        "private_ns": {size: median(each) for size, each in private.items()},
        "shared_ns": {size: median(each) for size, each in shared.items()},
        "added_ns": {size: median(each) for size, each in added.items()},
    }


def engine(launch, quick):
    """Time processes that only hit, or only miss."""
    build = launch.build.directory
    command(["cmake", "--build", build, "--target", "bench_shared"], "building bench_shared")
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        out = os.path.join(folder, "rows.json")
        flags = ["--blocks", "50" if quick else "200", "--repetitions", "3" if quick else "9"]
        words = [str(build / "bin/bench_shared"), *flags, "--sizes", SIZES, "--out", out]
        subprocess.run(words, check=True, timeout=600)
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def simulated(program, ranks, a_node, graph, storage, edges=16):
    """Run LCC with this number of ranks per node, with a cache per rank and with one per node, of
    equal memory."""
    words = [*graph, "--edge-factor", edges]
    row = {"measured": "lcc in SimGrid", "ranks": ranks, "ranks_per_node": a_node}
    for side, share in (("private", "off"), ("shared", "node")):
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            report = os.path.join(folder, "report.json")
            options = {
                "mode": "always",
                "adaptive": 0,
                "storage": storage,
                "share": share,
                "report": report,
            }
            hosts = [host for host in dragonfly.hosts(ranks // a_node) for _ in range(a_node)]
            simgrid.run(program, words, ranks, folder, options, hosts=hosts, network=SEVERAL_A_HOST)
            with open(report, encoding="utf-8") as file:
                totals = json.load(file)["totals"]
        row[side] = outcome(totals)
    return row


def outcome(totals):
    """Return the counts of a run. Gets within a node are bypassed once they are known to be
    cheap."""
    missed = ("direct", "conflicting", "capacity", "failing", "hits_partial")
    paid, saved = totals["remote_ns"], totals["saved_ns"]
    return {
        "network_gets": sum(totals[key] for key in missed),
        "hits": totals["hits_full"] + totals["hits_pending"],
        "cost_saved": saved / max(1, saved + paid),
    }
