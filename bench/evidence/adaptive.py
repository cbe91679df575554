# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 9: completion time by the initial number of index entries, fixed and adaptive."""

import json

from driver import adapt
from driver.numbers import median
from scale import simgrid

from . import style
from .figure import Figure, Study
from .table import values, where

ADAPTIVE = (adapt.STARTS[0], adapt.FIT)  # far too little, and enough
OPTIONS = {"max_storage": "1G"}


def measure(laboratory):
    rows = []
    rounds = 3 if laboratory.quick else 9
    for number, (name, launch) in enumerate(laboratory.networks().items()):
        laboratory.say(f"micro-benchmark over {name}", number / 3)
        rows += results(
            name,
            laboratory.attempt(
                name,
                lambda launch=launch: launch.rows("bench_adapt", flags(rounds), options=OPTIONS),
            ),
        )
    laboratory.say("micro-benchmark in SimGrid", 2 / 3)
    return {
        "9": rows + results("simgrid", laboratory.attempt("simgrid", lambda: simulated(laboratory)))
    }


def flags(rounds):
    return adapt.flags("normal", rounds, fixed=(adapt.FIT,), adaptive=ADAPTIVE)


def simulated(laboratory):
    """Simulate one run: all runs are the same there."""
    with laboratory.folder() as folder:
        out = folder / "rows.json"
        words = [
            word
            for name, value in {**flags(1), "out": out}.items()
            for word in (f"--{name}", value)
        ]
        simgrid.run(laboratory.simulator() / "bench_adapt_cached", words, 2, str(folder), OPTIONS)
        return json.loads(out.read_text(encoding="utf-8"))


def results(network, found):
    fixed = [row for row in found if not row["adaptive"]]
    best = min(fixed, key=lambda row: median(row["elapsed_ns"]), default=None)
    judged = [adapt.result("normal", row, best) for row in found]
    return [
        {"network": network, **row}
        for row in sorted(judged, key=lambda row: (row["strategy"], row["storage"], row["index"]))
    ]


def draw(rows):
    networks = values(rows, "network")
    figure, all_axes = style.panels(len(networks), width=4.6)
    for axes, network in zip(all_axes, networks):
        of_network = where(rows, network=network)
        style.line(axes, where(of_network, strategy="fixed"), "index", "time_ms", "fixed", 3)
        for place, storage in enumerate(values(where(of_network, strategy="adaptive"), "storage")):
            style.line(
                axes,
                where(of_network, strategy="adaptive", storage=storage),
                "index",
                "time_ms",
                f"adaptive, storage from {style.bytes_text(storage)}",
                place,
            )
        axes.set_xscale("log")
        indices = values(of_network, "index")
        axes.set_xticks(sorted(indices), [str(index) for index in sorted(indices)], fontsize=8)
        axes.minorticks_off()
        axes.set_ylim(0, None)
        axes.set_xlabel("entries of the index at the start")
        axes.set_ylabel("completion time, ms")
        axes.set_title("SimGrid, 2 ranks" if network == "simgrid" else style.NETWORKS[network])
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


STUDY = Study(
    "adaptive",
    (
        Figure(
            "9",
            "fig09_adaptive",
            "Completion time of the micro-benchmark by index size, fixed and adaptive",
            "Section IV.A.2: a fixed index that is small against the 1,000 distinct gets (200 to "
            "1,000 entries) performs poorly, because of conflicting accesses; an adaptive one "
            "does not.",
            "`bench_adapt`: 20,000 samples, all configurations in turn in one process. Fixed ones "
            "have storage for all gets; adaptive ones begin with that, too, or with 64 KiB.",
            draw,
        ),
    ),
    measure,
    (20, 60),
)
