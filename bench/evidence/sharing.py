# SPDX-License-Identifier: BSD-3-Clause
"""`sharing`: the saving by one cache for several ranks of a node, from traces of 16 ranks (option
share)."""

import json
import os

from driver.launch import Launch
from driver.policies import MODEL, simulator

from . import style
from .figure import Figure, Study
from .table import values, where

RANKS = 16
RANKS_PER_NODE = (1, 2, 4, 8, 16)
PERCENTS = (5, 25)  # storage per rank, in per cent of the distinct bytes that it gets
SCALE, QUICK_SCALE, EDGE_FACTOR = 13, 11, 16
# All gets are recorded as they are issued. Waiting ranks yield, as there are more ranks than cores.
RECORDING = {"mode": "off", "trace_writes": 0}


def measure(laboratory):
    scale = QUICK_SCALE if laboratory.quick else SCALE
    laboratory.say(f"recording lcc on {RANKS} ranks")
    launch = Launch(laboratory.build, ranks=RANKS)
    with laboratory.folder() as folder:
        prefix = os.path.join(folder, "lcc")
        words = ["--rmat", scale, "--edge-factor", EDGE_FACTOR, "--seed", 1]
        polite = ["env", "MPIR_CVAR_POLLS_BEFORE_YIELD=0", "OMPI_MCA_mpi_yield_when_idle=1"]
        options = {**RECORDING, "trace": prefix}
        launch.run("lcc", words, network="shared memory", options=options, wrap=polite)
        rows = []
        for number, ranks in enumerate(RANKS_PER_NODE):
            laboratory.say(
                f"replaying {ranks} ranks a node", (1 + number) / (1 + len(RANKS_PER_NODE))
            )
            rows += replayed(launch, folder, scale, ranks)
    return {"sharing": rows}


def replayed(launch, folder, scale, ranks):
    words = [
        "--mode",
        "always",
        "--storage",
        ",".join(f"{percent}%" for percent in PERCENTS),
        "--ranks-per-node",
        ranks,
        "--model",
        MODEL,
        "--no-bounds",
        "--json",
        "-",
        *sorted(folder.glob("lcc.*.nctrace")),
    ]
    study = json.loads(simulator(launch, words))
    return [
        {
            "vertices": 2**scale,
            "storage_percent": percent,
            "ranks_per_node": ranks,
            "cost_saved": row["cost_saved"],
            "hit_ratio": row["hit_ratio"],
            "hits_of_others": row["hits_of_others"] / row["gets"],
        }
        for percent, row in zip(PERCENTS, study["rows"])
    ]


def draw(rows):
    figure, (saved, others) = style.panels(2)
    for place, percent in enumerate(values(rows, "storage_percent")):
        of_storage = where(rows, storage_percent=percent)
        label = f"storage for {percent}% of what a rank reads"
        style.line(saved, of_storage, "ranks_per_node", "cost_saved", label, place)
        style.line(others, of_storage, "ranks_per_node", "hits_of_others", label, place)
    saved.set_ylabel("share of the gets' cost that is saved")
    others.set_ylabel("hits on what another rank fetched / gets")
    for axes in (saved, others):
        axes.set_xscale("log", base=2)
        axes.set_xticks(RANKS_PER_NODE, [str(ranks) for ranks in RANKS_PER_NODE])
        axes.minorticks_off()
        axes.set_xlabel(f"ranks that have one cache, of {RANKS}")
        axes.set_ylim(0, 1)
    saved.legend()
    return figure


def facts(rows):
    def saved(ranks):
        (row,) = where(rows, storage_percent=PERCENTS[0], ranks_per_node=ranks)
        return f"{row['cost_saved']:.0%}"

    return {
        "vertices": f"{rows[0]['vertices']:,}",
        "least": PERCENTS[0],
        "alone": saved(1),
        "four": saved(4),
        "together": saved(RANKS),
    }


STUDY = Study(
    "sharing",
    (
        Figure(
            "sharing",
            "sharing",
            "Cost of all gets that is saved, by ranks that have one cache",
            "Neither paper has a cache for several processes: each rank, or thread, has its own.",
            "LCC on 16 ranks, R-MAT graph of {vertices} vertices and 16 times as many edges. Its "
            "gets are recorded once, then replayed through the library's engine with one cache "
            "for so many ranks (option `share`), as large as theirs would be together: the memory "
            "is the same all along the axis. With storage for {least}% of what a rank reads, "
            "{alone} of the cost is saved by a cache for each rank, {four} by one for four, "
            "{together} by one for all 16. A get costs what it does on Aries, also one from a "
            "rank of the same node; what a hit costs more in a shared cache "
            "(docs/performance.md) is not in it.",
            draw,
            facts,
        ),
    ),
    measure,
    (20, 60),
)
