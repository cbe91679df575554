# SPDX-License-Identifier: BSD-3-Clause
"""The demo's program on a larger graph over tcp, uncached and cached in turn."""

import filecmp
import json
import os
import tempfile

from .numbers import median, summarise

SCALE, QUICK_SCALE, EDGE_FACTOR, SEED = 14, 12, 16, 1


def measure(launch, arguments):
    graph = graph_arguments(arguments)
    loaded = launch.build.preload().exists()
    runs = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        for repetition in range(1 if arguments.quick else 5):
            for cached in runs:
                runs[cached].append(
                    one_run(launch, graph, cached and loaded, folder, f"{cached}-{repetition}")
                )
        outputs = [run["output"] for each in runs.values() for run in each]
        equal = all(filecmp.cmp(outputs[0], other, shallow=False) for other in outputs[1:])
    equal = (
        equal
        and len(
            {
                (run["triangles"], run["average_coefficient"], run["checksum"])
                for each in runs.values()
                for run in each
            }
        )
        == 1
    )
    results = [
        {
            "cached": cached,
            "graph": " ".join(map(str, graph)),
            "seconds": summarise([r["seconds"] for r in each]),
            "communication_s": summarise([r["communication"] for r in each]),
            "computation_s": summarise([r["computation"] for r in each]),
            "hit_rate": median([r["hit_rate"] for r in each]),
        }
        for cached, each in runs.items()
    ]
    speedup = results[0]["seconds"]["median"] / results[1]["seconds"]["median"]
    summary = {"speedup_tcp": speedup if loaded else None, "results_equal": equal}
    if arguments.graph:
        summary.update({key: runs[True][0][key] for key in ("triangles", "average_coefficient")})
    return results, summary, {"hit_rate": results[1]["hit_rate"]}


def graph_arguments(arguments):
    if arguments.graph:
        return [os.path.abspath(arguments.graph)]
    scale = arguments.scale or (QUICK_SCALE if arguments.quick else SCALE)
    return ["--rmat", scale, "--edge-factor", EDGE_FACTOR, "--seed", SEED]


def one_run(launch, graph, cached, folder, name):
    files = {kind: os.path.join(folder, f"{name}.{kind}") for kind in ("json", "tsv", "report")}
    words = [*graph, "--json", files["json"], "--output", files["tsv"]]
    launch.run("lcc", words, cached=cached, options={"report": files["report"]})
    with open(files["json"], encoding="utf-8") as file:
        result = json.load(file)
    return {
        "output": files["tsv"],
        "seconds": result["seconds_total"],
        "triangles": result["triangles"],
        "checksum": result["checksum"],
        "average_coefficient": result["average_coefficient"],
        "communication": result["seconds_communication"],
        "computation": result["seconds_computation"],
        "hit_rate": hit_rate(files["report"]) if cached else 0.0,
    }


def hit_rate(report):
    with open(report, encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    return (totals["hits_full"] + totals["hits_pending"]) / max(1, totals["gets"])
