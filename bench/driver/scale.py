"""Weak scaling at 16 to 128 ranks in SimGrid's SMPI, as in the CLaMPI paper's Fig. 14 (Barnes-Hut), 17 and 18 (LCC).

Virtual time over a dragonfly with Aries' latency and bandwidth: a run gives the same figures every time and on every
machine. Graph and bodies are the paper's, scaled down with the cache to what a simulator can do in minutes.
"""
import json
import math
import os
import sys
import tempfile
import time

from scale import dragonfly, simgrid

from .build import Failure, command

RANKS = (16, 32, 64, 128)
# As in the paper both cached cases try to store every miss (skip_cheap=0); `default` is Nearcache as it comes, which leaves out
# what it does not expect to be worth its copy.
CASES = ("plain", "fixed", "adaptive")
OPTIONS = {"fixed": {"adaptive": 0, "skip_cheap": 0}, "adaptive": {"adaptive": 1, "skip_cheap": 0}, "default": {"adaptive": 1}}
TYPES = ("hits_full", "hits_pending", "hits_partial", "direct", "conflicting", "capacity", "failing", "bypassed")


def measure(launch, arguments):
    if not simgrid.available():
        raise Failure("scale: smpirun is not installed (Debian: libsimgrid-dev)")
    build = launch.build.directory
    command(["cmake", "--build", build, "--target", "bench-scale"], "building for SimGrid")
    programs = max((build / "bin").glob("simgrid-*"))
    applications = [Lcc(arguments.quick), BarnesHut(arguments.quick)]
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        network = simgrid.ping(programs / "bench_ping", dragonfly.HOSTS, folder)
        study = Study(programs, folder, len(RANKS) * len(CASES) * len(applications) + 4)
        rows = [row for app in applications for ranks in RANKS for row in study.cases(app, ranks)]
        permuted = study.cases(Lcc(arguments.quick, permuted=True), 32, cases=("plain", "adaptive"))
        default = [study.against(find(rows, app.name, ranks, "plain"), app, ranks, "default")
                   for app, ranks in zip(applications, (32, 16))]
    details = {"get_ns": network, "network": f"dragonfly of {dragonfly.HOSTS} nodes, simulated",
               "results_equal": study.equal, "lcc_permuted_speedup_p32": permuted[1]["speedup"],
               "lcc_default_speedup_p32": default[0]["speedup"], "barnes_hut_default_speedup_p16": default[1]["speedup"],
               "lcc_processing_speedup_p32": find(rows, "lcc", 32, "adaptive")["processing_speedup"]}
    for ranks in RANKS:
        for app in applications:
            details[f"{app.name}_speedup_p{ranks}"] = find(rows, app.name, ranks, "adaptive")["speedup"]
    last = [row["speedup"] for row in rows if row["ranks"] == RANKS[-1] and row["case"] != "plain"]
    summary = {"lcc_speedup_p32": find(rows, "lcc", 32, "adaptive")["speedup"],
               "barnes_hut_speedup_p16": find(rows, "barnes_hut", 16, "adaptive")["speedup"],
               "speedup_p128_min": min(last)}
    return rows + permuted + default, summary, details


def find(rows, application, ranks, case):
    return next(r for r in rows if (r["application"], r["ranks"], r["case"]) == (application, ranks, case))


class Lcc:
    """R-MAT with the paper's edge factor, row pointers in a window. The paper: 2^15 vertices a rank, |S_w| = 128 MB,
    |I_w| = 128 K.

    Vertices keep the generator's order: the first rank's block has the hubs, from which all others fetch, and most of the
    work. With permuted vertices (rows `lcc_permuted`) there are fewer repeats to save: most misses are first ones.
    """
    PAPER_VERTICES, PAPER_STORAGE, PAPER_INDEX, EDGE_FACTOR = 2**15, 128 * 2**20, 128 * 1024, 16

    def __init__(self, quick, permuted=False):
        self.name = "lcc_permuted" if permuted else "lcc"
        self.program, self.permuted = "lcc", permuted
        self.per_rank = 128 if quick else 512

    def arguments(self, ranks):
        order = [] if self.permuted else ["--unpermuted"]
        return ["--rmat", int(math.log2(ranks * self.per_rank)), "--edge-factor", self.EDGE_FACTOR, "--row-window", *order]

    def options(self):
        share = self.per_rank / self.PAPER_VERTICES
        return {"storage": int(self.PAPER_STORAGE * share), "index": int(self.PAPER_INDEX * share)}

    def row(self, result):
        """Communication is what Fig. 15 calls it: row pointers and lists, of the slowest rank."""
        return {"size": f"{result['vertices']} vertices, {result['edges']} edges (paper: 2^15 vertices a rank)",
                "communication_s": result["spread"]["communication"]["max"], "processing_s": result["seconds_lcc"],
                "total_s": result["seconds_total"], "per_unit_us": 1e6 * result["seconds_lcc"] / self.per_rank,
                "gets": result["gets"], "bytes": result["bytes"], "check": result["checksum"]}


class BarnesHut:
    """A Plummer sphere, the first force phase. The paper: 1,500 bodies a rank, |S_w| = 2 MB, |I_w| = 30 K."""
    PAPER_BODIES, PAPER_STORAGE, PAPER_INDEX, THETA = 1500, 2 * 2**20, 30 * 1024, 0.5
    # One interaction, from `barnes_hut --bodies 20000 --steps 0` on one rank of an AMD EPYC; a hit and a miss as in
    # apps/common/cache_cost.h, with a node of 112 bytes copied.
    COSTS = {"cost-per-interaction": 13, "cache-hit-cost": 69, "cache-miss-cost": 199}

    def __init__(self, quick):
        self.name = self.program = "barnes_hut"
        self.per_rank = 16 if quick else 64

    def arguments(self, ranks):
        costs = [word for name, ns in self.COSTS.items() for word in (f"--{name}", ns)]
        return ["--bodies", ranks * self.per_rank, "--steps", 0, "--theta", self.THETA, *costs]

    def options(self):
        share = self.per_rank / self.PAPER_BODIES
        return {"storage": int(self.PAPER_STORAGE * share), "index": int(self.PAPER_INDEX * share)}

    def row(self, result):
        seconds = result["seconds"]
        return {"size": f"{result['bodies']} bodies (paper: 1500 a rank)", "communication_s": seconds["force"],
                "processing_s": seconds["force"], "total_s": seconds["total"], "per_unit_us": result["force_us_per_body"],
                "gets": result["gets"], "bytes": result["bytes"], "check": result["checksum"]}


class Study:
    def __init__(self, programs, folder, runs):
        self.programs, self.folder, self.runs = programs, folder, runs
        self.done, self.started, self.equal = 0, time.monotonic(), True

    def cases(self, app, ranks, cases=CASES):
        """One row a case, each with its speedup over the first, plain one."""
        plain = self.one(app, ranks, cases[0])
        return [self.compare(plain, plain)] + [self.against(plain, app, ranks, case) for case in cases[1:]]

    def against(self, plain, app, ranks, case):
        return self.compare(plain, self.one(app, ranks, case))

    def compare(self, plain, row):
        self.equal = self.equal and row["check"] == plain["check"]
        speedups = {"speedup": "communication_s", "processing_speedup": "processing_s", "total_speedup": "total_s"}
        return {**row, **{key: plain[seconds] / row[seconds] for key, seconds in speedups.items()}}

    def one(self, app, ranks, case):
        self.show(f"{app.name} on {ranks} ranks, {case}")
        out, report = os.path.join(self.folder, "out.json"), os.path.join(self.folder, "report.json")
        cached = case != "plain"
        program = self.programs / (f"{app.program}_cached" if cached else app.program)
        options = {**app.options(), **OPTIONS[case], "report": report} if cached else {}
        simgrid.run(program, [*app.arguments(ranks), "--json", out], ranks, self.folder, options)
        with open(out, encoding="utf-8") as file:
            row = {"application": app.name, "ranks": ranks, "case": case, **app.row(json.load(file))}
        self.done += 1
        return {**row, **access_types(report if cached else None, row["gets"])}

    def show(self, what):
        elapsed = time.monotonic() - self.started
        print(f"bench: {self.done + 1}/{self.runs} {what} ({elapsed:.0f} s so far)", file=sys.stderr, flush=True)


def access_types(report, gets):
    """How the gets were answered (Fig. 14, 18), and how often sizes were adapted. Plain gets are none of these types."""
    if report is None:
        return {name: 0 for name in (*TYPES, "adaptations")} | {"hit_share": 0.0}
    with open(report, encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    hits = totals["hits_full"] + totals["hits_pending"] + totals["hits_partial"]
    return {name: totals[name] for name in (*TYPES, "adaptations")} | {"hit_share": hits / max(1, gets)}
