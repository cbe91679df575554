# SPDX-License-Identifier: BSD-3-Clause
"""The command line of bench/run."""

import argparse
import json
import signal
import sys

from . import (
    adapt,
    barnes_hut,
    bypass,
    clients,
    coherent,
    context,
    hit,
    instructions,
    lcc,
    miss,
    normal,
    overlap,
    pages,
    policies,
    report,
    rma,
    rma_apps,
    scale,
    shared,
    shmem,
    shmem_apps,
    shmem_hit,
    trace,
    upc,
    windows,
)
from .build import DEFAULT_MPI, ROOT, Build, Failure
from .launch import Launch
from .openshmem import ShmemBuild, ShmemLaunch

MEASUREMENTS = {
    "hit": hit,
    "miss": miss,
    "bypass": bypass,
    "lcc": lcc,
    "normal": normal,
    "trace": trace,
    "adapt": adapt,
    "overlap": overlap,
    "policies": policies,
    "clients": clients,
    "coherent": coherent,
    "windows": windows,
}
# Not part of `all`: they need valgrind, SimGrid or all MPIs, or share names of figures with another
# measurement.
EXTRA = {
    "instructions": instructions,
    "rma": rma,
    "rma_apps": rma_apps,
    "barnes_hut": barnes_hut,
    "scale": scale,
    "shared": shared,
}
# Measurements of OpenSHMEM programs, to which --mpi does not apply.
OPENSHMEM = {
    "pages": pages,
    "shmem": shmem,
    "shmem_apps": shmem_apps,
    "shmem_hit": shmem_hit,
    "upc": upc,
}


def parse():
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Measures Nearcache; asserts nothing."
    )
    parser.add_argument("name", choices=[*MEASUREMENTS, *EXTRA, *OPENSHMEM, "all"])
    parser.add_argument(
        "--quick", action="store_true", help="fewer repetitions: a minute instead of several"
    )
    parser.add_argument("--json", metavar="FILE", help="write context, results and summary there")
    parser.add_argument("--mpi", metavar="TAG", default=DEFAULT_MPI, help=f"default {DEFAULT_MPI}")
    parser.add_argument(
        "--build", metavar="DIR", default=ROOT / "build", help="build directory, default build/"
    )
    parser.add_argument(
        "--graph", metavar="FILE", help="lcc: this graph instead of a generated one"
    )
    parser.add_argument("--scale", type=int, help="lcc: R-MAT scale of the generated graph")
    return parser.parse_args()


def measure(name, launch, arguments):
    module = {**MEASUREMENTS, **EXTRA, **OPENSHMEM}[name]
    results, summary, details = module.measure(launch, arguments)
    results = [{"bench": name, **row} for row in results]
    return {"name": name, "results": results, "summary": summary, "details": details}


def together(parts):
    merged = {"name": "all", "results": [], "summary": {}, "details": {}}
    for part in parts:
        merged["results"] += part["results"]
        merged["summary"].update(part["summary"])
        merged["details"][part["name"]] = part["details"]
    return merged


def run(arguments):
    build = (
        ShmemBuild(arguments.build)
        if arguments.name in OPENSHMEM
        else Build(arguments.build, arguments.mpi)
    )
    build.make()
    launch = ShmemLaunch(build) if arguments.name in OPENSHMEM else Launch(build)
    surroundings = context.gather(launch)
    names = list(MEASUREMENTS) if arguments.name == "all" else [arguments.name]
    parts = []
    for name in names:
        parts.append(measure(name, launch, arguments))
        print(report.text(parts[-1]), end="\n\n", flush=True)
    result = parts[0] if arguments.name != "all" else together(parts)
    result = {
        "format": "nearcache-bench",
        "version": 1,
        "quick": arguments.quick,
        "context": surroundings,
        **result,
    }
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the ranks, as Ctrl-C does
    try:
        run(parse())
    except Failure as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted", file=sys.stderr)
        return 130
    return 0
