# SPDX-License-Identifier: BSD-3-Clause
"""Weak scaling at 16 to 128 ranks in SimGrid's SMPI, as in the CLaMPI paper's Fig. 14 (Barnes-Hut),
17 and 18 (LCC).

Virtual time over a dragonfly with Aries' latency and bandwidth: a run gives the same figures every
time and on every machine. The paper's graph and bodies are scaled down, together with the cache, to
what a simulator can do in minutes.
"""

import concurrent.futures
import json
import math
import os
import sys
import tempfile
import threading
import time

from scale import dragonfly, simgrid

from .access_types import TYPES
from .build import Failure, command

RANKS = (16, 32, 64, 128)
# As in the paper, both cached cases try to store every miss (skip_cheap=0). `default` is Nearcache
# without settings, which does not store what it expects not to be worth the copy.
CASES = ("plain", "fixed", "adaptive")
OPTIONS = {
    "fixed": {"adaptive": 0, "skip_cheap": 0},
    "adaptive": {"adaptive": 1, "skip_cheap": 0},
    "default": {"adaptive": 1},
}


def measure(launch, arguments):
    if not simgrid.available():
        raise Failure("scale: smpirun is not installed (Debian: libsimgrid-dev)")
    build = launch.build.directory
    command(["cmake", "--build", build, "--target", "bench-scale"], "building for SimGrid")
    programs = max((build / "bin").glob("simgrid-*"))
    lcc, permuted, bodies = (
        Lcc(arguments.quick),
        Lcc(arguments.quick, permuted=True),
        BarnesHut(arguments.quick),
    )
    jobs = [(app, ranks, case) for ranks in RANKS for app in (lcc, bodies) for case in CASES]
    jobs += [
        (permuted, 32, "plain"),
        (permuted, 32, "adaptive"),
        (lcc, 32, "default"),
        (bodies, 16, "default"),
    ]
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        network = simgrid.ping(programs / "bench_ping", dragonfly.HOSTS, folder)
        rows = Study(programs, folder).rows(jobs)
    speedups = {key: row["speedup"] for key, row in rows.items()}
    details = {
        "get_ns": network,
        "network": f"dragonfly of {dragonfly.HOSTS} nodes, simulated",
        "results_equal": all(row["result_equal"] for row in rows.values()),
        "lcc_permuted_speedup_p32": speedups["lcc_permuted", 32, "adaptive"],
        "lcc_default_speedup_p32": speedups["lcc", 32, "default"],
        "barnes_hut_default_speedup_p16": speedups["barnes_hut", 16, "default"],
        "lcc_processing_speedup_p32": rows["lcc", 32, "adaptive"]["processing_speedup"],
    }
    summary = {
        "lcc_speedup_p32": speedups["lcc", 32, "adaptive"],
        "barnes_hut_speedup_p16": speedups["barnes_hut", 16, "adaptive"],
        "speedup_p128_min": min(speedups[key] for key in speedups if key[1] == RANKS[-1]),
    }
    return list(rows.values()), summary, details


class Lcc:
    """R-MAT with the paper's edge factor, row pointers in a window. The paper: 2^15 vertices per
    rank, |S_w| = 128 MB, |I_w| = 128 K.

    Vertices keep the generator's order: the first rank's block contains the hubs, from which all
    others fetch, and most of the work. With permuted vertices (rows `lcc_permuted`), fewer repeats
    can be saved: most misses are first accesses.
    """

    PAPER_VERTICES, PAPER_STORAGE, PAPER_INDEX, EDGE_FACTOR = 2**15, 128 * 2**20, 128 * 1024, 16

    def __init__(self, quick, permuted=False):
        self.name = "lcc_permuted" if permuted else "lcc"
        self.program, self.permuted = "lcc", permuted
        self.per_rank = 64 if quick else 512

    def arguments(self, ranks):
        order = [] if self.permuted else ["--unpermuted"]
        return [
            "--rmat",
            int(math.log2(ranks * self.per_rank)),
            "--edge-factor",
            self.EDGE_FACTOR,
            "--row-window",
            *order,
        ]

    def options(self):
        share = self.per_rank / self.PAPER_VERTICES
        return {"storage": int(self.PAPER_STORAGE * share), "index": int(self.PAPER_INDEX * share)}

    def row(self, result):
        """Return the row of a result. As in Fig. 15, communication covers row pointers and lists,
        for the slowest rank."""
        return {
            "size": f"{result['vertices']} vertices, {result['edges']} edges (paper: 2^15 vertices a rank)",
            "communication_s": result["spread"]["communication"]["max"],
            "processing_s": result["seconds_lcc"],
            "total_s": result["seconds_total"],
            "per_unit_us": 1e6 * result["seconds_lcc"] / self.per_rank,
            "gets": result["gets"],
            "bytes": result["bytes"],
            "check": result["checksum"],
        }


class BarnesHut:
    """A Plummer sphere, the first force phase. The paper: 1,500 bodies per rank, |S_w| = 2 MB,
    |I_w| = 30 K."""

    PAPER_BODIES, PAPER_STORAGE, PAPER_INDEX, THETA = 1500, 2 * 2**20, 30 * 1024, 0.5
    # Cost in ns of an interaction, from `barnes_hut --bodies 20000 --steps 0` on one rank of an AMD
    # EPYC, and of a hit and a miss as in apps/common/cache_cost.h, including the copy of a node of
    # 112 bytes.
    COSTS = {"cost-per-interaction": 13, "cache-hit-cost": 69, "cache-miss-cost": 199}

    def __init__(self, quick):
        self.name = self.program = "barnes_hut"
        self.per_rank = 16 if quick else 64
        self.steps = 0

    def arguments(self, ranks):
        costs = [word for name, ns in self.COSTS.items() for word in (f"--{name}", ns)]
        return [
            "--bodies",
            ranks * self.per_rank,
            "--steps",
            self.steps,
            "--theta",
            self.THETA,
            *costs,
        ]

    def options(self):
        share = self.per_rank / self.PAPER_BODIES
        return {"storage": int(self.PAPER_STORAGE * share), "index": int(self.PAPER_INDEX * share)}

    def row(self, result):
        seconds = result["seconds"]
        return {
            "size": f"{result['bodies']} bodies (paper: 1500 a rank)",
            "communication_s": seconds["force"],
            "processing_s": seconds["force"],
            "total_s": seconds["total"],
            "per_unit_us": result["force_us_per_body"],
            "gets": result["gets"],
            "bytes": result["bytes"],
            "check": result["checksum"],
        }


class Study:
    """Runs simulations in parallel, one per core: virtual time is independent of other load on the
    machine."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.started = programs, folder, time.monotonic()
        self.lock, self.done = threading.Lock(), 0

    def rows(self, jobs):
        """Return {(application, ranks, case): row}, each with its speedups over the plain case."""
        # The longest run first, so that none is left for the end.
        order = sorted(jobs, key=lambda job: -job[1])
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            futures = {job: pool.submit(self.one, *job, total=len(jobs)) for job in order}
            try:
                found = {
                    (app.name, ranks, case): futures[app, ranks, case].result()
                    for app, ranks, case in jobs
                }
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return {key: compare(found[key[0], key[1], "plain"], row) for key, row in found.items()}

    def one(self, app, ranks, case, total):
        folder = os.path.join(self.folder, f"{app.name}-{ranks}-{case}")
        os.mkdir(folder)
        out, report = os.path.join(folder, "out.json"), os.path.join(folder, "report.json")
        cached = case != "plain"
        program = self.programs / (f"{app.program}_cached" if cached else app.program)
        options = {**app.options(), **OPTIONS[case], "report": report} if cached else {}
        simgrid.run(program, [*app.arguments(ranks), "--json", out], ranks, folder, options)
        with open(out, encoding="utf-8") as file:
            row = {
                "application": app.name,
                "ranks": ranks,
                "case": case,
                **app.row(json.load(file)),
            }
        with self.lock:
            self.done += 1
            print(
                f"bench: {self.done}/{total} {app.name} on {ranks} ranks, {case}: done after "
                f"{time.monotonic() - self.started:.0f} s",
                file=sys.stderr,
                flush=True,
            )
        return {**row, **access_types(report if cached else None, row["gets"])}


def compare(plain, row):
    speedups = {
        "speedup": "communication_s",
        "processing_speedup": "processing_s",
        "total_speedup": "total_s",
    }
    return {
        **row,
        **{key: plain[seconds] / row[seconds] for key, seconds in speedups.items()},
        "result_equal": row["check"] == plain["check"],
    }


def access_types(report, gets):
    """Return how the gets were answered (Fig. 14, 18), and how often sizes were adapted. Plain gets
    have none of these types."""
    if report is None:
        return {name: 0 for name in (*TYPES, "adaptations")} | {"hit_share": 0.0}
    with open(report, encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    hits = totals["hits_full"] + totals["hits_pending"] + totals["hits_partial"]
    return {name: totals[name] for name in (*TYPES, "adaptations")} | {
        "hit_share": hits / max(1, gets)
    }
