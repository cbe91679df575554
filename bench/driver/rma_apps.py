# SPDX-License-Identifier: BSD-3-Clause
"""The applications of foMPI's paper (apps/rma) over tcp: one-sided on every MPI of the build and on
the RMA engine, in turn, and with messages on the hosts.

The engine runs under each of these MPIs, too; as for the hosts, the fastest one counts. Also LCC
without a cache, on the host and on the engine.
"""

import json
import os
import tempfile

from .build import Build, Failure, command
from .launch import DidNotEnd, Launch
from .numbers import median, summarise
from .rma import ENGINE, hosts

# Ways to communicate, one-sided first, and the size and rounds of a run.
APPS = {
    "hashtable": (("rma", "rma ahead", "messages"), 2000, 5),
    "dsde": (("accumulate", "alltoall", "reduce_scatter", "nbx"), 300, 5),
    "fft3d": (("puts", "messages"), 64, 10),
    "milc_cg": (("rma", "messages"), 8, 8),
}
ONE_SIDED = {
    "hashtable": ("rma", "rma ahead"),
    "dsde": ("accumulate",),
    "fft3d": ("puts",),
    "milc_cg": ("rma",),
}
# Number of inserts that a rank has in flight.
WORDS = {"rma ahead": ("--way", "rma", "--ahead", 16)}
# What a host cannot do: over tcp, about one in four runs does not end.
CANNOT = {("milc_cg", "rma", "mpich-4.0.2")}
# Here MPI_Finalize may not return (host_defects.def, finalize_waits), as on the host alone.
MAY_NOT_END = {"engine on mpich-4.0.2"}
# In seconds; a run takes 2 s at most.
TIMEOUT = 60


def measure(launch, arguments):
    rounds = 2 if arguments.quick else 5
    command(
        ["cmake", "--build", launch.build.directory, "--target", "bench-hosts"],
        "building for all MPIs",
    )
    launches = {
        tag: Launch(Build(launch.build.directory, tag), timeout=TIMEOUT)
        for tag in hosts(launch.build)
    }
    sides = {tag: (host, None) for tag, host in launches.items()}
    engines = {
        f"engine on {tag}": (launches[tag], ENGINE["tcp"])
        for tag in launches
        if launches[tag].build.preload().exists()
    }
    sides.update(engines)
    times, checksums = Times(CANNOT), {}
    for _ in range(rounds):
        for app, (ways, size, repetitions) in APPS.items():
            for way in ways:
                for side, (host, options) in sides.items():
                    run = times.add((app, way, side), host, app, way, size, repetitions, options)
                    if run is not None:
                        checksums.setdefault(app, set()).add(run["checksum"])
    seconds = times.seconds
    different = [app for app, found in checksums.items() if len(found) != 1]
    if different:
        raise Failure(f"{', '.join(different)}: checksums differ")
    chosen = choose_engines(seconds, engines)
    results = [
        {
            **result_row(app, way, seconds, [*launches, *(["engine"] if engines else [])]),
            "engine_on": chosen.get((app, way), "-"),
        }
        for app, (ways, _, _) in APPS.items()
        for way in ways
    ]
    summary, details = figures(seconds) if engines else ({}, {})
    if times.stuck:
        details["did_not_end"] = [" ".join(key) for key in sorted(times.stuck)]
    if launch.build.preload().exists():
        row, summary["lcc_over_host"] = lcc(launch, arguments.quick)
        results.append(row)
    return results, summary, details


class Times:
    """The medians of the runs, by key.

    A host that does not end a run is excluded from then on, as is everything in `cannot`. The
    engine must end, but for MAY_NOT_END.
    """

    def __init__(self, cannot):
        self.seconds, self.stuck, self._cannot = {}, set(), cannot

    def add(self, key, launch, app, way, size, repetitions, options, *where):
        """Run the application once; return the result of one_run, or None."""
        if key in self._cannot or key in self.stuck:
            return None
        try:
            run = one_run(launch, app, way, size, repetitions, options, *where)
        except DidNotEnd:
            if options is not None and key[-1] not in MAY_NOT_END:
                raise
            self.stuck.add(key)
            self.seconds.pop(key, None)
            return None
        self.seconds.setdefault(key, []).append(median(run["seconds"]))
        return run


def choose_engines(seconds, engines):
    """Return {(app, way): the host under which the engine is fastest}.

    In `seconds`, that side becomes `engine`, and the other engine sides are removed.
    """
    chosen = {}
    for app, way in {(app, way) for app, way, side in seconds if side in engines}:
        found = {
            side: seconds.pop((app, way, side)) for side in engines if (app, way, side) in seconds
        }
        side = min(found, key=lambda side: median(found[side]))
        seconds[app, way, "engine"] = found[side]
        chosen[app, way] = side.removeprefix("engine on ")
    return chosen


def memory_of(launch, options, network):
    """Return the kind of windows that is best for a side.

    Open MPI uses shared memory for allocated windows of one node, whatever network it is told to
    use; that would not measure TCP.
    """
    by_host = options is None
    return "created" if by_host and network == "tcp" and launch.family == "openmpi" else "allocated"


def one_run(launch, app, way, size, repetitions, options, network="tcp", memory=None):
    words = WORDS.get(way, ("--way", way))
    memory = memory or memory_of(launch, options, network)
    output = launch.run(
        app,
        [*words, "--memory", memory, "--size", size, "--rounds", repetitions],
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
    """Return the lowest median, and where it was measured."""
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
        one_sided = ONE_SIDED[app]
        others = [way for way in APPS[app][0] if way not in one_sided]
        mine, _ = best(seconds, app, one_sided, ["engine"])
        host, details[f"{key}_best_host"] = best(seconds, app, one_sided, tags)
        messages, details[f"{key}_best_messages"] = best(seconds, app, others, tags)
        summary[f"{key}_speedup"] = host / mine
        details[f"{key}_over_messages"] = messages / mine
    one_each, _ = best(seconds, "hashtable", ["rma"], tags)
    details["hashtable_speedup_of_single_inserts"] = one_each / median(
        seconds["hashtable", "rma", "engine"]
    )
    other, details["dsde_best_other"] = best(
        seconds, "dsde", APPS["dsde"][0][1:], [*tags, "engine"]
    )
    summary["dsde_best"] = other / median(seconds["dsde", "accumulate", "engine"])
    return summary, details


def lcc(launch, quick):
    """Run LCC without a cache on both sides, so that every get goes to the other rank."""
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
