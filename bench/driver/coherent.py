# SPDX-License-Identifier: BSD-3-Clause
"""Mode coherent over tcp, without info keys: what it gains if others write little, compared with
the modes that need a promise, and what it costs if it cannot gain.

All sides of a comparison run in turn.
"""

import json
import os
import tempfile

from scale import simgrid

from .build import Failure, command
from .clients import one_run, undisturbed
from .numbers import median, ratio_of_medians, summarise
from .scale import BarnesHut, Lcc

STEPS = {
    "barrier_steps_speedup": ("lu_steps", {"rounds": 10}),
    "lock_get_unlock_speedup": ("lock_lookups", {"rounds": 40}),
}
WRITERS = ("put_random", "accumulate", "halo")
# Three runs do not suffice for differences of a few per cent.
LEAST_PAIRS_OF_COSTS = 11
# lcc and barnes_hut: one side runs without their promises.
PROMISING = {
    "lcc_share_of_always": ("lcc", "always"),
    "barnes_hut_share_of_user": ("barnes_hut", "user"),
}


def measure(launch, arguments):
    pairs = 3 if arguments.quick else 7
    if not launch.build.preload().exists():
        return [], {}, {}
    results, summary = [], {}
    for key, (app, promise) in PROMISING.items():
        row = shares(launch, app, promise, arguments.quick, 2 if arguments.quick else 5)
        results.append(row)
        summary[key] = row["coherent_speedup"] / row["promise_speedup"]
    for key, (client, flags) in STEPS.items():
        row = ratio(launch, client, flags, pairs, "off")
        results.append(row)
        summary[key] = row["speedup"]["median"]
    pairs = max(pairs, LEAST_PAIRS_OF_COSTS)
    writers = [ratio(launch, client, {"rounds": 1500}, pairs, "off") for client in WRITERS]
    results += writers
    summary["writers_ratio"] = max(1 / row["speedup"]["median"] for row in writers)
    idle = [beside_idle(launch, network, arguments.quick) for network in ("tcp", "shared")]
    rewritten = ratio(launch, "rewritten", {"rounds": 600}, pairs, "off")
    results += [*idle, rewritten]
    summary["idle_ratio"] = max(row["ratio"]["median"] for row in idle)
    summary["store_ratio"] = 1 / rewritten["speedup"]["median"]
    if simgrid.available():
        rows = simulated_shares(launch, arguments.quick)
        results += rows
        for key, (app, _) in PROMISING.items():
            summary[f"{key}_simulated"] = min(row["share"] for row in rows if row["client"] == app)
    details = {
        f"idle_control_ratio_{row['network']}": row["control_ratio"]["median"] for row in idle
    }
    return results, summary, details


def beside_idle(launch, network, quick):
    """Time messages beside an idle coherent window, alternating with a window in mode off. Separate
    runs differ by a few per cent."""
    pairs = {"tcp": 400, "shared": 3000}[network] * (1 if quick else 3)
    rows = {
        loaded: launch.rows("bench_idle", {"pairs": pairs}, network=network, cached=loaded)[0]
        for loaded in (True, False)
    }
    ratios = {
        loaded: ratio_of_medians(row["idle_ns"], row["plain_ns"]) for loaded, row in rows.items()
    }
    return {
        "program": "bench_idle",
        "network": network,
        "over": "off",
        "idle_ns": summarise(rows[True]["idle_ns"]),
        "plain_ns": summarise(rows[True]["plain_ns"]),
        "ratio": ratios[True],
        "control_ratio": ratios[False],
    }


def ratio(launch, client, flags, pairs, other, network="tcp"):
    """Return the speedup of a client in mode coherent over another mode, by the sums of the rounds'
    medians."""
    runs = {"coherent": [], other: []}
    for pair in range(pairs):
        for mode in runs if pair % 2 else reversed(runs):
            runs[mode].append(one_run(launch, network, client, flags, True, {"mode": mode}))
    checksums = {run["checksum"] for each in runs.values() for run in each}
    if len(checksums) != 1:
        raise Failure(f"{client}: checksums {', '.join(sorted(checksums))}")
    seconds = {mode: [run["seconds"] for run in each] for mode, each in runs.items()}
    ratios = [sum(a) / sum(b) for a, b in zip(seconds[other], seconds["coherent"])]
    return {
        "client": client,
        "network": network,
        "over": other,
        "coherent_s": undisturbed(seconds["coherent"]),
        "other_s": undisturbed(seconds[other]),
        "speedup": {
            **summarise(ratios),
            "median": undisturbed(seconds[other]) / undisturbed(seconds["coherent"]),
        },
    }


def shares(launch, app, promise, quick, repetitions):
    """Return speedups over no cache: with the program's promise, and in mode coherent without
    it."""
    words = {
        "lcc": ["--rmat", 13 if quick else 15, "--edge-factor", 16, "--seed", 1],
        "barnes_hut": ["--bodies", 1500 if quick else 3000, "--steps", 2, "--seed", 1],
    }[app]
    sides = {
        "off": ([], {"mode": "off"}),
        "promise": ([], {}),
        "coherent": (["--no-promise"], {"mode": "coherent"}),
    }
    runs = {name: [] for name in sides}
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        # two runs do not suffice for sides that take about a tenth of a second
        for turn in range(15):
            for name, (more, options) in sides.items():
                if name == "off" and turn >= repetitions:
                    continue
                runs[name].append(
                    app_run(
                        launch,
                        app,
                        [*words, *more, *(["--no-promise"] if name == "off" else [])],
                        options,
                        folder,
                    )
                )
    checksums = {run["checksum"] for each in runs.values() for run in each}
    if len(checksums) != 1:
        raise Failure(f"{app}: checksums {checksums}")
    seconds = {name: median([run["seconds"] for run in each]) for name, each in runs.items()}
    return {
        "client": app,
        "network": "tcp",
        "over": promise,
        "off_s": seconds["off"],
        "promise_s": seconds["promise"],
        "coherent_s": seconds["coherent"],
        "promise_speedup": seconds["off"] / seconds["promise"],
        "coherent_speedup": seconds["off"] / seconds["coherent"],
    }


def simulated_shares(launch, quick):
    """Return shares of the promise's gain at more ranks than a machine has cores.

    SimGrid's virtual time makes every run the same. Inspecting a rank's own memory is free there.
    """
    build = launch.build.directory
    command(["cmake", "--build", build, "--target", "bench-scale"], "building for SimGrid")
    programs = max((build / "bin").glob("simgrid-*"))
    sizes = {"lcc": Lcc(True), "barnes_hut": BarnesHut(False)}
    sizes["barnes_hut"].steps = 2
    rows = []
    for ranks in (16, 32, 64) if quick else (16, 32, 64, 128):
        for app, promise in PROMISING.values():
            sides = {"promise": ([], {}), "coherent": (["--no-promise"], {"mode": "coherent"})}
            results = {
                name: simulated_run(
                    programs / f"{app}_cached",
                    [*sizes[app].arguments(ranks), *flags],
                    ranks,
                    options,
                )
                for name, (flags, options) in sides.items()
            }
            seconds = {name: sizes[app].row(result)["total_s"] for name, result in results.items()}
            if len({result["checksum"] for result in results.values()}) != 1:
                raise Failure(f"{app} on {ranks} simulated ranks: results differ")
            rows.append(
                {
                    "client": app,
                    "network": "SimGrid",
                    "ranks": ranks,
                    "over": promise,
                    "promise_s": seconds["promise"],
                    "coherent_s": seconds["coherent"],
                    "share": seconds["promise"] / seconds["coherent"],
                }
            )
    return rows


def simulated_run(program, words, ranks, options):
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        out = os.path.join(folder, "out.json")
        simgrid.run(program, [*words, "--json", out], ranks, folder, options)
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def app_run(launch, app, words, options, folder):
    out = os.path.join(folder, "summary.json")
    launch.run(app, [*words, "--json", out], options=options)
    with open(out, encoding="utf-8") as file:
        summary = json.load(file)
    return {
        "seconds": summary["seconds_total"] if app == "lcc" else summary["seconds"]["total"],
        "checksum": summary["checksum"],
    }
