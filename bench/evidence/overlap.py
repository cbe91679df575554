# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 8: the share of a get's time available for computing."""

from driver import overlap

from . import style
from .figure import Figure, Study
from .table import values, where

COLOURS = {"plain": 7, "copied": 4, "direct": 0, "first": 1, "capacity": 2, "failing": 3}


def measure(laboratory):
    laboratory.say("overlap over tcp and the network model")
    rows, _, _ = overlap.measure(laboratory.launch, laboratory.arguments)
    return {"8": rows}


def draw(rows):
    figure, both = style.panels(2, share_y=True)
    for axes, network in zip(both, ("tcp", "model")):
        of_network = where(rows, network=network)
        for access in values(of_network, "access"):
            # Types that hardly occurred are left out.
            shown = [
                row
                for row in where(of_network, access=access)
                if row["of_this_type"] is None or row["of_this_type"] > 0.5
            ]
            style.line(axes, shown, "size", "overlap", access, COLOURS[access])
        style.sizes_axis(axes, values(of_network, "size"))
        axes.set_ylim(0, 1)
        axes.set_title(style.NETWORKS[network])
        axes.set_ylabel("share of the latency that is hidden")
    both[0].legend()
    return figure


STUDY = Study(
    "overlap",
    (
        Figure(
            "8",
            "fig08_overlap",
            "Part of the communication that can be overlapped with computation",
            "Section IV.A.1: foMPI overlaps up to 85% at 64 KB, which is the upper bound. Direct "
            "and capacity accesses, which copy, stay below it alike; of large gets, failing ones "
            "overlap more.",
            "`bench/run overlap`: get, compute for 1.5 times the plain latency, flush. What the "
            "two calls take beside the computation is exposed. direct has storage that was used "
            "before; first has storage that is touched for the first time; copied are plain gets "
            "whose bytes the program copies itself after the flush, L/(L + copy), which is the "
            "bound for whatever keeps them. SimGrid is left out, as the cache's own work takes no "
            "time there.",
            draw,
        ),
    ),
    measure,
    (6, 25),
)
