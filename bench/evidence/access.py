# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 7: cost of a get by access type and size."""

from driver.numbers import median, summarise
from scale import dragonfly, simgrid

from . import style
from .figure import Figure, Study
from .table import values, where

SIZES = (8, 64, 512, 4096, 16384, 65536)
POLICIES = ("rate", "clampi")
FEWEST = 20  # types with fewer gets are omitted: they hardly occur at that size


def measure(laboratory):
    rows = []
    repetitions = 300 if laboratory.quick else 2000
    runs = [
        (name, launch, policy)
        for name, launch in laboratory.networks().items()
        for policy in POLICIES
    ]
    for number, (name, launch, policy) in enumerate(runs):
        laboratory.say(f"{name}, policy {policy}", number / len(runs))
        found = laboratory.attempt(
            name,
            lambda launch=launch, policy=policy: launch.rows(
                "bench_access",
                {"sizes": ",".join(map(str, SIZES)), "repetitions": repetitions},
                options={"max_storage": "1G", "policy": policy},
            ),
        )
        rows += results(name, policy, found)
    return {"7": rows + laboratory.attempt("simgrid", lambda: simulated(laboratory))}


def results(network, policy, found):
    plain = {row["size"]: median(row["ns"]) for row in found if row["access"] == "plain"}
    return [
        {
            "network": network,
            "policy": policy,
            "size": int(row["size"]),
            "access": row["access"],
            "gets": len(row["ns"]),
            "us": summarise([ns / 1000 for ns in row["ns"]]),
            "of_plain": median(row["ns"]) / plain[row["size"]],
        }
        for row in found
        if len(row["ns"]) >= FEWEST
    ]


def simulated(laboratory):
    """Return the simulated network's gets, for comparison with the other networks: only the network
    takes time there."""
    with laboratory.folder() as folder:
        found = simgrid.ping(laboratory.simulator() / "bench_ping", dragonfly.HOSTS, str(folder))
    return [
        {
            "network": "simgrid",
            "policy": None,
            "size": size,
            "access": "plain",
            "gets": dragonfly.HOSTS - 1,
            "us": ns / 1000,
            "of_plain": 1.0,
        }
        for size, ns in found.items()
        if size <= SIZES[-1]
    ]


def draw(rows):
    figure, all_axes = style.panels(2, rows=2)
    cases = [(network, policy) for network in ("tcp", "model") for policy in POLICIES]
    for axes, (network, policy) in zip(all_axes, cases):
        of_case = where(rows, network=network, policy=policy)
        plain = where(of_case, access="plain")
        style.line(axes, plain, "size", "us", "plain get", 7, linewidth=2.6)
        axes.plot(
            [row["size"] for row in plain],
            [row["us"] * 1.25 for row in plain],
            color=style.GREY,
            linestyle="--",
            label="plain get + 25%",
        )
        for place, access in enumerate(
            access for access in values(of_case, "access") if access != "plain"
        ):
            style.line(
                axes, where(of_case, access=access), "size", "us", access.replace("_", ", "), place
            )
        style.sizes_axis(axes, SIZES)
        style.log_scale(axes)
        axes.set_ylabel("us from MPI_Get to the flush's return")
        axes.set_title(f"{style.NETWORKS[network]}, policy {policy}")
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


STUDY = Study(
    "access",
    (
        Figure(
            "7",
            "fig07_access",
            "Cost of a get by access type and size",
            "Section IV.A.1: a hit is up to 9.3 times faster than foMPI's get at 4 KB, and 3.7 "
            "times at 16 KB. The look-up costs the same for all access types. The figure has its "
            "line at 25% of foMPI's latency.",
            "`bench_access` measures from the call of MPI_Get to the return of MPI_Win_flush. The "
            "types take turns, and the counter that moved tells the type of each get. `rate` is "
            "the default policy, `clampi` the paper's in our engine. A pending hit includes the "
            "wait for the get that it joins. In SimGrid only the network takes time, so the CSV "
            "has the plain get alone from there.",
            draw,
        ),
    ),
    measure,
    (8, 40),
)
