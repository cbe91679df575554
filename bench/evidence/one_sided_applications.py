# SPDX-License-Identifier: BSD-3-Clause
"""foMPI's paper, Fig. 9 and 10: its applications (apps/rma), one-sided and with messages, on the
RMA engine and on every MPI."""

from driver import rma_apps
from driver.build import Failure
from driver.numbers import summarise

from . import one_sided, style
from .figure import Figure, Study
from .one_sided import NETWORKS
from .table import values, where

# The unit of a time, and the number of units per round, from `--size`.
UNITS = {
    "hashtable": ("an insert", lambda size: size),
    "dsde": ("an exchange", lambda size: size),
    "fft3d": ("a transform", lambda size: 1),
    "milc_cg": ("a solution", lambda size: 1),
}
# Open MPI 4 crashes in a compare-and-swap in a node (host_defects.def, swap_crashes).
CANNOT = {("hashtable", way, "openmpi-4.1.4") for way in rma_apps.ONE_SIDED["hashtable"]}
# Where the ranks are, and the kind of windows: the best for each side, or in the program's own
# memory. The first two are the paper's comparison.
SETTINGS = {
    "tcp": ("tcp", None),
    "node": ("node", None),
    "node_created": ("node", "created"),
}
TITLES = {**NETWORKS, "node_created": "in a node, MPI_Win_create"}


def measure(laboratory, app):
    ways, size, repetitions = rma_apps.APPS[app]
    sides = one_sided.sides(laboratory)
    # The applications also send messages, which the host transports. As for the hosts, the fastest
    # one counts.
    del sides[one_sided.ENGINE]
    engines = {f"engine on {tag}": launch for tag, launch in sides.items()}
    rounds = 2 if laboratory.quick else 5
    cannot = {
        (setting, way, side)
        for setting in SETTINGS
        for name, way, side in rma_apps.CANNOT
        if name == app
    }
    cannot |= {
        (setting, way, side)
        for setting, (network, _) in SETTINGS.items()
        for name, way, side in CANNOT
        if name == app and network == "node"
    }
    times, checksums = rma_apps.Times(cannot), set()
    for number in range(rounds):
        laboratory.say(f"{app}, round {number + 1} of {rounds}", number / rounds)
        for setting, (network, memory) in SETTINGS.items():
            for way in ways if memory is None else rma_apps.ONE_SIDED[app]:
                for side, launch in {**sides, **engines}.items():
                    options = one_sided.options(
                        one_sided.ENGINE if side in engines else side, network
                    )
                    what = (launch, app, way, size, repetitions, options, network, memory)
                    run = times.add((setting, way, side), *what)
                    if run is not None:
                        checksums.add(run["checksum"])
    seconds = times.seconds
    if len(checksums) != 1:
        raise Failure(f"{app}: checksums differ")
    rma_apps.choose_engines(seconds, engines)
    count = UNITS[app][1](size)
    return {
        app: [
            {
                "network": network,
                "way": way,
                "side": side,
                "us": summarise([1e6 * each / count for each in found]),
            }
            for (network, way, side), found in seconds.items()
        ]
    }


def draw(rows, app):
    settings = [setting for setting in TITLES if where(rows, network=setting)]
    figure, panels = style.panels(len(settings))
    sides = one_sided.ordered(rows)
    for axes, network in zip(panels, settings):
        ways = values(where(rows, network=network), "way")
        for place, side in enumerate(sides):
            found = {row["way"]: row for row in where(rows, network=network, side=side)}
            spread = [
                [row["us"] - row["us_low"] for row in found.values()],
                [row["us_high"] - row["us"] for row in found.values()],
            ]
            axes.bar(
                [ways.index(way) + (place - len(sides) / 2 + 0.5) * 0.16 for way in found],
                [row["us"] for row in found.values()],
                0.15,
                yerr=spread,
                label=one_sided.label(side),
                color=style.COLOURS[place],
                ecolor=style.GREY,
            )
        # Clip what a disturbed round adds.
        axes.set_ylim(0, 1.4 * max(row["us"] for row in where(rows, network=network)))
        axes.set_xticks(
            range(len(ways)), [way.replace("_", "_\n").replace(" ", "\n") for way in ways]
        )
        axes.set_title(f"{app}, {TITLES[network]}")
        axes.set_ylabel(f"us {UNITS[app][0]}")
    one_sided.legend(figure, panels[0])
    return figure


def study(app, title, paper, here, seconds):
    figure = Figure(
        app,
        f"rma_{app}",
        f"One-sided: {title}",
        paper,
        f"`apps/rma/{app}.cpp` on two ranks; all sides in turn, equal results. Windows are of MPI_Win_allocate, but over tcp those of Open MPI itself, which would take shared memory. The engine under the fastest of these MPIs. {here}",
        lambda rows: draw(rows, app),
    )
    return Study(
        f"one-sided {app}", (figure,), lambda laboratory: measure(laboratory, app), seconds
    )


STUDIES = (
    study(
        "hashtable",
        "a distributed hash table",
        "foMPI, Fig. 9a, section 4.1: 16k random inserts a process. With MPI-1 messages 32k cores do not "
        "reach the rate of one node; foMPI is about as fast as UPC. The text states no rates.",
        "Messages are inserted by the owner, and nobody waits for one; one-sided, each insert is a "
        "compare-and-swap that is waited for (`rma`), or 16 at once are (`rma ahead`). In a node that "
        "crashes Open MPI 4.",
        (80, 190),
    ),
    study(
        "dsde",
        "dynamic sparse data exchange",
        "foMPI, Fig. 9b, section 4.2, k = 6: accumulate between fences is competitive with the non-blocking "
        "barrier, and 2 to nearly 100 times faster than the other protocols at scale.",
        "On two ranks the other protocols have nearly nothing to do that grows with the ranks.",
        (70, 180),
    ),
    study(
        "fft3d",
        "a 3-D Fourier transform",
        "foMPI, Fig. 10a, section 4.3: puts of a slab while the next one is computed; up to 2 times faster "
        "than MPI-1 on 65,536 processes (section 6).",
        "64 points along an edge, slabs. Both cores compute, so the agents of the engine take their "
        "time from the program.",
        (50, 120),
    ),
    study(
        "milc_cg",
        "conjugate gradient on a lattice (MILC)",
        "foMPI, Fig. 10b, section 4.4: the whole of MILC is 13.8%, for some configurations over 15% faster "
        "than with MPI-1, on up to 524,288 processes.",
        "4 x 4 x 4 x 8 sites a rank; flags by fetch and add, then gets of the faces. MPICH 4 itself "
        "is left out: over tcp some runs do not end.",
        (50, 120),
    ),
)
