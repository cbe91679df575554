"""The applications of foMPI's paper (apps/rma) over tcp: on the one-sided communication of every MPI of the build and on the RMA engine, in turn, and with messages on the
hosts beside. And LCC with no cache, on the host and on the engine."""

import json
import os
import tempfile

from .build import Build, Failure, command
from .launch import Launch
from .numbers import median, summarise
from .rma import ENGINE, hosts

# Ways to communicate, the one-sided one first, and the size and rounds of a run.
APPS = {
    "hashtable": (("rma", "messages"), 2000, 5),
    "dsde": (("accumulate", "alltoall", "reduce_scatter", "nbx"), 300, 5),
    "fft3d": (("puts", "messages"), 64, 10),
    "milc_cg": (("rma", "messages"), 8, 8),
}
# What a host cannot do: over tcp one in some four runs does not end.
CANNOT = {("milc_cg", "rma", "mpich-4.0.2")}


def measure(launch, arguments):
    rounds = 2 if arguments.quick else 5
    command(
        ["cmake", "--build", launch.build.directory, "--target", "bench-hosts"],
        "building for all MPIs",
    )
    sides = {
        tag: (Launch(Build(launch.build.directory, tag), timeout=300), None)
        for tag in hosts(launch.build)
    }
    loaded = launch.build.preload().exists()
    if loaded:
        sides["engine"] = (launch, ENGINE["tcp"])
    seconds, checksums = {}, {}
    for _ in range(rounds):
        for app, (ways, size, repetitions) in APPS.items():
            for way in ways:
                for side, (host, options) in sides.items():
                    if (app, way, side) in CANNOT:
                        continue
                    run = one_run(host, app, way, size, repetitions, options)
                    seconds.setdefault((app, way, side), []).append(median(run["seconds"]))
                    checksums.setdefault(app, set()).add(run["checksum"])
    different = [app for app, found in checksums.items() if len(found) != 1]
    if different:
        raise Failure(f"{', '.join(different)}: checksums differ")
    results = [
        result_row(app, way, seconds, sides) for app, (ways, _, _) in APPS.items() for way in ways
    ]
    summary, details = figures(seconds) if loaded else ({}, {})
    if loaded:
        row, summary["lcc_over_host"] = lcc(launch, arguments.quick)
        results.append(row)
    return results, summary, details


def one_run(launch, app, way, size, repetitions, options, network="tcp"):
    output = launch.run(
        app,
        ["--way", way, "--size", size, "--rounds", repetitions],
        network=network,
        cached=options is not None,
        options=options,
    )
    result = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    if not result["correct"]:
        raise Failure(f"{app} --way {way} has a wrong result")
    return result


def result_row(app, way, seconds, sides):
    return {
        "app": app,
        "way": way,
        **{
            f"{side}_s": summarise(seconds[app, way, side]) if (app, way, side) in seconds else "-"
            for side in sides
        },
    }


def best(seconds, app, ways, sides):
    """The lowest median, and whose it is."""
    found = {
        (way, side): median(seconds[app, way, side])
        for way in ways
        for side in sides
        if (app, way, side) in seconds
    }
    return min(found.values()), " on ".join(min(found, key=found.get))


def figures(seconds):
    tags = sorted({side for _, _, side in seconds} - {"engine"})
    summary, details = {}, {}
    for app, key in (("hashtable", "hashtable"), ("fft3d", "fft"), ("milc_cg", "milc")):
        one_sided, *others = APPS[app][0]
        mine = median(seconds[app, one_sided, "engine"])
        host, details[f"{key}_best_host"] = best(seconds, app, [one_sided], tags)
        messages, details[f"{key}_best_messages"] = best(seconds, app, others, tags)
        summary[f"{key}_speedup"] = host / mine
        details[f"{key}_over_messages"] = messages / mine
    other, details["dsde_best_other"] = best(
        seconds, "dsde", APPS["dsde"][0][1:], [*tags, "engine"]
    )
    summary["dsde_best"] = other / median(seconds["dsde", "accumulate", "engine"])
    return summary, details


def lcc(launch, quick):
    """Without a cache on both sides: every get goes to the other rank."""
    runs = {None: [], "on": []}
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        out = os.path.join(folder, "summary.json")
        for _ in range(2 if quick else 5):
            for side, each in runs.items():
                words = [
                    "--rmat",
                    11 if quick else 12,
                    "--edge-factor",
                    16,
                    "--seed",
                    1,
                    "--json",
                    out,
                ]
                launch.run("lcc", words, cached=side is not None, options=ENGINE["tcp"])
                with open(out, encoding="utf-8") as file:
                    each.append(json.load(file))
    if len({run["checksum"] for each in runs.values() for run in each}) != 1:
        raise Failure("lcc: checksums differ")
    host, engine = ([run["seconds_total"] for run in each] for each in runs.values())
    return {"app": "lcc", "host_s": summarise(host), "engine_s": summarise(engine)}, median(
        host
    ) / median(engine)
