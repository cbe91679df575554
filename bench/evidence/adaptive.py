"""Fig. 9: completion time by the number of index entries to begin with, fixed and adaptive."""
from driver import adapt
from driver.numbers import median

from . import style
from .figure import Figure, Study
from .table import values, where

ADAPTIVE = (adapt.STARTS[0], adapt.FIT)  # far too little, and enough


def measure(laboratory):
    rows = []
    rounds = 3 if laboratory.quick else 9
    networks = laboratory.networks()
    for number, (name, launch) in enumerate(networks.items()):
        laboratory.say(f"micro-benchmark over {name}", number / len(networks))
        found = laboratory.attempt(name, lambda launch=launch: adapt.run(launch, "normal", rounds, fixed=(adapt.FIT,), adaptive=ADAPTIVE))
        rows += results(name, found)
    return {"9": rows}


def results(network, found):
    fixed = [row for row in found if not row["adaptive"]]
    best = min(fixed, key=lambda row: median(row["elapsed_ns"]), default=None)
    judged = [adapt.result("normal", row, best) for row in found]
    return [{"network": network, **row} for row in sorted(judged, key=lambda row: (row["strategy"], row["storage"], row["index"]))]


def draw(rows):
    networks = values(rows, "network")
    figure, all_axes = style.panels(len(networks))
    for axes, network in zip(all_axes, networks):
        of_network = where(rows, network=network)
        style.line(axes, where(of_network, strategy="fixed"), "index", "time_ms", "fixed", 3)
        for place, storage in enumerate(values(where(of_network, strategy="adaptive"), "storage")):
            style.line(axes, where(of_network, strategy="adaptive", storage=storage), "index", "time_ms",
                       f"adaptive, storage from {style.bytes_text(storage)}", place)
        axes.set_xscale("log")
        indices = values(of_network, "index")
        axes.set_xticks(sorted(indices), [str(index) for index in sorted(indices)])
        axes.minorticks_off()
        axes.set_ylim(0, None)
        axes.set_xlabel("entries of the index at the start")
        axes.set_ylabel("completion time, ms")
        axes.set_title(style.NETWORKS[network])
    all_axes[0].legend()
    return figure


STUDY = Study("adaptive", (
    Figure("9", "fig09_adaptive", "Completion time of the micro-benchmark by index size, fixed and adaptive",
           "Section IV.A.2: fixed is poor where the index is small against the 1,000 distinct gets (200 up to 1,000 entries), by conflicting "
           "accesses; adaptive is not.",
           "`bench_adapt`: 20,000 samples, all configurations in turn in one process. Fixed ones have storage for all gets; adaptive ones begin with that, too, "
           "or with 64 KiB.", draw),
), measure, (40, 100))
