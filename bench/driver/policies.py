# SPDX-License-Identifier: BSD-3-Clause
"""The policies compared on traces of our own programs and of patterns (patterns.py): what each
saves, relative to the best possible.

The programs run once with their gets recorded; nearcache-simulate then replays the traces through
the library's engine, with every policy at the same storage. The reference is the lower cost of the
best fixed set and the clairvoyant schedule (docs/trace.md).
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

from . import patterns
from .build import Failure

POLICIES = ("lru", "sieve", "tinylfu", "clampi", "rate")
PEERS = ("lru", "sieve", "tinylfu")  # the default must not fall behind these
STORAGES = (10, 25, 50)  # per cent of the distinct bytes of a rank and window
# L ns and G ns/B of the published systems' network; the traces are recorded on another one
MODEL = "1900,0.17"
BOUNDS = ("best_fixed", "clairvoyant", "infinite")

# All gets are recorded, served or not; serving gets keeps the recording from waiting for the
# network.
RECORDING = {
    "storage": "256M",
    "index": 300000,
    "max_storage": "2G",
    "skip_cheap": 0,
    "trace_writes": 0,
}


def programs(quick):
    """Return (name, program, arguments) of every trace."""
    scale, small, bodies = (12, 11, 1000) if quick else (15, 13, 8000)
    batches, epochs = (32, 4) if quick else (128, 8)
    samples = 20000 if quick else 100000
    return [
        (f"lcc, R-MAT {small}", "lcc", ["--rmat", small, "--edge-factor", 16, "--seed", 1]),
        (f"lcc, R-MAT {scale}", "lcc", ["--rmat", scale, "--edge-factor", 16, "--seed", 1]),
        (
            "barnes_hut, theta 0.5",
            "barnes_hut",
            ["--bodies", bodies, "--theta", 0.5, "--seed", 1, "--steps", 1],
        ),
        (
            "barnes_hut, theta 1.0",
            "barnes_hut",
            ["--bodies", 2 * bodies, "--theta", 1.0, "--seed", 1, "--steps", 1],
        ),
        (
            "barnes_hut, uniform",
            "barnes_hut",
            ["--model", "uniform", "--bodies", bodies, "--theta", 0.5, "--seed", 1, "--steps", 1],
        ),
        (
            "sample",
            "sample",
            [
                "--rmat",
                scale,
                "--edge-factor",
                16,
                "--seed",
                1,
                "--batches",
                batches,
                "--epochs",
                epochs,
            ],
        ),
        ("micro-benchmark", "bench_normal", ["--samples", samples, "--percent", 100]),
    ]


def measure(launch, arguments):
    if not launch.build.preload().exists():
        raise Failure("policies: there is no preload object to record traces with")
    results, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        for number, (name, program, words) in enumerate(programs(arguments.quick)):
            if not launch.build.program(program).exists():
                left_out.append(program)
                continue
            print(f"bench: recording {name}", file=sys.stderr, flush=True)
            traces = record(launch, program, words, os.path.join(folder, str(number)))
            results += rows(name, simulate(launch, traces))
            for trace in traces:
                os.remove(trace)
        for name, gets in patterns.patterns(arguments.quick):
            print(f"bench: replaying {name}", file=sys.stderr, flush=True)
            trace = os.path.join(folder, "pattern.0.nctrace")
            patterns.write(trace, gets)
            results += rows(name, simulate(launch, [trace]))
    details = {"model_L,G": MODEL, "mode": "as each program sets it"}
    if left_out:
        details["left_out"] = ", ".join(left_out)
    return results, summary_of(results), details


def record(launch, program, words, prefix):
    """Run the program over shared memory; return its ranks' traces, which are written beside
    `prefix`."""
    out = ["--out", f"{prefix}.out"] if program == "bench_normal" else []
    launch.run(
        program, [*words, *out], network="shared memory", options={**RECORDING, "trace": prefix}
    )
    return sorted(glob.glob(f"{glob.escape(prefix)}.*.nctrace"))


def simulate(launch, traces):
    # Policies decide alone: only policy `rate` learns whether a copy pays (skip_cheap).
    words = [
        "--policy",
        ",".join(POLICIES),
        "--storage",
        ",".join(f"{percent}%" for percent in STORAGES),
        "--index",
        "auto",
        "--model",
        MODEL,
        "--set",
        "skip_cheap=false",
        "--json",
        "-",
        *traces,
    ]
    return json.loads(simulator(launch, words))


def simulator(launch, words):
    """Return the output of nearcache-simulate."""
    words = [launch.build.directory / "bin" / "nearcache-simulate", *words]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"nearcache-simulate failed: {done.stderr[-2000:]}")
    return done.stdout


def rows(name, study):
    found = []
    gets = sum(window["gets"] for window in study["windows"])
    keys = sum(window["distinct_keys"] for window in study["windows"])
    for bounds in study["bounds"]:
        row = {"trace": name, "gets": gets, "keys": keys, "storage": bounds["storage"]}
        row.update(
            {
                each["policy"]: 100 * each["cost_saved"]
                for each in study["rows"]
                if each["storage"] == bounds["storage"]
            }
        )
        row.update({bound: 100 * bounds[bound]["cost_saved"] for bound in BOUNDS})
        reference = min(row["best_fixed"], row["clairvoyant"])
        row["share"] = row["rate"] / reference if reference > 0 else None
        row["behind_peers"] = max(row[peer] for peer in PEERS) - row["rate"]
        found.append(row)
    return found


def summary_of(results):
    shares = [row["share"] for row in results if row["share"] is not None]
    return {
        "share_of_reference_min": min(shares),
        "share_of_reference_mean": sum(shares) / len(shares),
        "worst_behind_peers_points": max(row["behind_peers"] for row in results),
    }
