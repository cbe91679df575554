"""Mode coherent over tcp, no info key: what it gains where others' writes are few, beside the modes that ask for a promise, and what it costs where it cannot gain.
All sides of a comparison run in turn."""
import json
import os
import tempfile

from .build import Failure
from .clients import one_run, undisturbed
from .numbers import median, summarise

STEPS = {"barrier_steps_speedup": ("lu_steps", {"rounds": 10}), "lock_get_unlock_speedup": ("lock_lookups", {"rounds": 40})}
WRITERS = ("put_random", "accumulate", "halo")
# lcc and barnes_hut: what they promise is left out on one side.
PROMISING = {"lcc_share_of_always": ("lcc", "always"), "barnes_hut_share_of_user": ("barnes_hut", "user")}


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
    writers = [ratio(launch, client, {"rounds": 1500}, pairs, "off") for client in WRITERS]
    results += writers
    summary["writers_ratio"] = max(1 / row["speedup"]["median"] for row in writers)
    idle = [ratio(launch, "messages", {"rounds": 400}, pairs, "off", network) for network in ("tcp", "shared")]
    rewritten = ratio(launch, "rewritten", {"rounds": 600}, pairs, "off")
    results += [*idle, rewritten]
    summary["idle_ratio"] = max(1 / row["speedup"]["median"] for row in idle)
    summary["store_ratio"] = 1 / rewritten["speedup"]["median"]
    return results, summary, {}


def ratio(launch, client, flags, pairs, other, network="tcp"):
    """A client in mode coherent and in the other mode, by the sums over its rounds of their medians."""
    runs = {"coherent": [], other: []}
    for pair in range(pairs):
        for mode in runs if pair % 2 else reversed(runs):
            runs[mode].append(one_run(launch, network, client, flags, True, {"mode": mode}))
    checksums = {run["checksum"] for each in runs.values() for run in each}
    if len(checksums) != 1:
        raise Failure(f"{client}: checksums {', '.join(sorted(checksums))}")
    seconds = {mode: [run["seconds"] for run in each] for mode, each in runs.items()}
    ratios = [sum(a) / sum(b) for a, b in zip(seconds[other], seconds["coherent"])]
    return {"client": client, "network": network, "over": other, "coherent_s": undisturbed(seconds["coherent"]), "other_s": undisturbed(seconds[other]),
            "speedup": {**summarise(ratios), "median": undisturbed(seconds[other]) / undisturbed(seconds["coherent"])}}


def shares(launch, app, promise, quick, repetitions):
    """Speedups over no cache: as the program promises, and without its promise in mode coherent."""
    words = {"lcc": ["--rmat", 13 if quick else 15, "--edge-factor", 16, "--seed", 1],
             "barnes_hut": ["--bodies", 1500 if quick else 3000, "--steps", 2, "--seed", 1]}[app]
    sides = {"off": ([], {"mode": "off"}), "promise": ([], {}), "coherent": (["--no-promise"], {"mode": "coherent"})}
    runs = {name: [] for name in sides}
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        for _ in range(repetitions):
            for name, (more, options) in sides.items():
                runs[name].append(app_run(launch, app, [*words, *more, *(["--no-promise"] if name == "off" else [])], options, folder))
    checksums = {run["checksum"] for each in runs.values() for run in each}
    if len(checksums) != 1:
        raise Failure(f"{app}: checksums {checksums}")
    seconds = {name: median([run["seconds"] for run in each]) for name, each in runs.items()}
    return {"client": app, "network": "tcp", "over": promise, "off_s": seconds["off"], "promise_s": seconds["promise"], "coherent_s": seconds["coherent"],
            "promise_speedup": seconds["off"] / seconds["promise"], "coherent_speedup": seconds["off"] / seconds["coherent"]}


def app_run(launch, app, words, options, folder):
    out = os.path.join(folder, "summary.json")
    launch.run(app, [*words, "--json", out], options=options)
    with open(out, encoding="utf-8") as file:
        summary = json.load(file)
    return {"seconds": summary["seconds_total"] if app == "lcc" else summary["seconds"]["total"], "checksum": summary["checksum"]}
