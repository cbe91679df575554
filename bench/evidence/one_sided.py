# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the figures after foMPI's paper (SC 2013): every MPI of the build and the RMA
engine, in turn."""

import os

from driver import rma
from driver.build import Build, Failure, command
from driver.launch import Launch

from . import style
from .table import values, where

ENGINE = "engine"
NETWORKS = {"tcp": "tcp", "node": "in a node"}
FAMILIES = {"mpich": "MPICH", "openmpi": "Open MPI"}
# Makes waiting ranks yield, for more ranks than cores.
POLITE = ("env", "MPIR_CVAR_POLLS_BEFORE_YIELD=0", "OMPI_MCA_mpi_yield_when_idle=1")


def sides(laboratory, ranks=2):
    """Build all sides; return {MPI, or the engine: its launch}."""
    build = laboratory.build
    if not build.preload().exists():
        raise Failure(f"there is no {build.preload()}")
    command(
        ["cmake", "--build", build.directory, "--target", "bench-hosts"], "building for all MPIs"
    )
    hosts = {tag: Build(build.directory, tag) for tag in rma.hosts(build)}
    return {
        name: Launch(of, timeout=300, ranks=ranks) for name, of in {**hosts, ENGINE: build}.items()
    }


def options(side, network):
    return rma.ENGINE[network] if side == ENGINE else None


def wrap(ranks):
    return POLITE if ranks > len(os.sched_getaffinity(0)) else ()


def label(side):
    if side == ENGINE:
        return "RMA engine"
    family, version = side.split("-")
    return f"{FAMILIES.get(family, family)} {version}"


def ordered(rows):
    """Return the sides in a table, the engine first: each has the same colour in all figures."""
    return sorted(values(rows, "side"), key=lambda side: (side != ENGINE, side))


def lines(axes, rows, x, y):
    for place, side in enumerate(ordered(rows)):
        style.line(axes, [row for row in rows if row["side"] == side], x, y, label(side), place)


def legend(figure, axes):
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6)


def bars(axes, rows, column, sides):
    """Draw a bar for each of `sides`; their order determines the colours."""
    for place, side in enumerate(sides):
        for row in where(rows, side=side):
            axes.bar(place, row[column], color=style.COLOURS[place])
    axes.set_xticks([])


def best_host(rows, column="us", without=(), best=min):
    """Return the best host's value in rows of one call, excluding the hosts in `without`."""
    found = [
        row[column]
        for row in rows
        if row["side"] not in (ENGINE, *without) and row[column] is not None
    ]
    if not found:
        raise LookupError(column)
    return best(found)
