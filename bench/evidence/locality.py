# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 2 and 3: how often gets repeat, and their sizes, from traces of the applications."""

import json
import math
import os

from driver.launch import Launch
from driver.policies import record, simulator

from . import style
from .figure import Figure, Study

RANKS, BODIES = 4, 4000  # as in the paper
SCALE, QUICK_SCALE, EDGE_FACTOR = 16, 14, 16
CLASSES_PER_DOUBLING = 2


def measure(laboratory):
    laboratory.say(f"recording barnes_hut on {RANKS} ranks")
    four = Launch(laboratory.build, ranks=RANKS)
    repeated = traced(
        laboratory,
        four,
        "barnes_hut",
        ["--bodies", BODIES, "--theta", 0.5, "--seed", 1, "--steps", 0],
    )
    laboratory.say("recording lcc", 0.5)
    scale = QUICK_SCALE if laboratory.quick else SCALE
    sized = traced(
        laboratory,
        laboratory.launch,
        "lcc",
        ["--rmat", scale, "--edge-factor", EDGE_FACTOR, "--seed", 1],
    )
    return {
        "2": repeats(repeated),
        "3": [
            {
                "vertices": 2**scale,
                "up_to_bytes": row["up_to_bytes"],
                "gets": row["gets"],
                "bytes": row["bytes"],
            }
            for row in sized["sizes"]
        ],
    }


def traced(laboratory, launch, program, words):
    """Return what nearcache-simulate finds in the traces of the most read window."""
    with laboratory.folder() as folder:
        traces = record(launch, program, words, os.path.join(folder, program))
        windows = json.loads(simulator(launch, ["--summary", *traces]))["windows"]
    return max(windows, key=lambda window: window["gets"])


def repeats(window):
    """Return keys and their gets by how often one rank requests a key; a class ends at a number
    that occurs."""
    classes = {}
    for found in sorted(window["repeats"], key=lambda row: row["times"]):
        times, keys = found["times"], found["keys"]
        row = classes.setdefault(
            int(CLASSES_PER_DOUBLING * math.log2(times)),
            {"from_times": times, "to_times": 0, "keys": 0, "gets": 0},
        )
        row.update(to_times=times, keys=row["keys"] + keys, gets=row["gets"] + keys * times)
    return list(classes.values())


def draw_repeats(rows):
    figure, (keys, gets) = style.panels(2)
    labels = [
        f"{row['from_times']}-{row['to_times']}"
        if row["to_times"] > row["from_times"]
        else str(row["from_times"])
        for row in rows
    ]
    for axes, name, text in (
        (keys, "keys", "different gets of a rank"),
        (gets, "gets", "gets issued for them"),
    ):
        axes.barh(range(len(rows)), [row[name] for row in rows], color=style.BLUE)
        axes.set_yticks(range(len(rows)), labels, fontsize=9)
        axes.set_ylabel("times that the same get is repeated")
        axes.set_xlabel(text + ", all ranks together")
        axes.grid(axis="y", visible=False)
    return figure


def draw_sizes(rows):
    figure, (axes,) = style.panels(1, width=10)
    gets = sum(row["gets"] for row in rows)
    places = range(len(rows))
    axes.bar(
        places, [row["gets"] / gets for row in rows], color=style.BLUE, label="share of the gets"
    )
    below, together = 0, []
    for row in rows:
        below += row["gets"]
        together.append(below / gets)
    axes.plot(places, together, color=style.RED, marker="o", label="up to this size")
    axes.set_xticks(
        list(places), [style.bytes_text(row["up_to_bytes"]) for row in rows], fontsize=10
    )
    axes.set_xlabel("size of the get, up to")
    axes.set_ylabel("share of the gets")
    axes.legend(loc="upper left")
    return figure


STUDY = Study(
    "locality",
    (
        Figure(
            "2",
            "fig02_repeats",
            f"Barnes-Hut, {RANKS} processes, {BODIES:,} bodies: how many gets are repeated how often",
            "Section I: the same remote data are accessed up to 3,500 times.",
            "`barnes_hut` with the paper's counts: theta 0.5, Plummer sphere, one force phase, "
            "over shared memory (counts do not depend on the network). The paper does not state "
            "theta, the distribution or the number of phases; within one phase, a rank reads a "
            "node at most once for each of its 1,000 bodies.",
            draw_repeats,
        ),
        Figure(
            "3",
            "fig03_sizes",
            "Local clustering coefficient, R-MAT: sizes of the gets",
            "Section II: 82% of the gets would fit a block of 5 KB; their mean size is about 1 "
            "KB. R-MAT of 2^16 vertices and 2^20 edges, 32 processes.",
            f"`lcc` on 2 ranks: R-MAT of {{vertices}} vertices with edge factor {EDGE_FACTOR}, ids "
            "of 4 bytes, vertices permuted. The size of a list does not depend on who owns it.",
            draw_sizes,
            lambda rows: {"vertices": f"{rows[0]['vertices']:,}"},
        ),
    ),
    measure,
    (6, 20),
)
