# SPDX-License-Identifier: BSD-3-Clause
"""Answers to the claims about the cache for remote data, and its table beside ours."""

from .answer import at_least, at_most, each, given, one, times
from .remote_data import NAMES, PAPER, PAPERS_NETWORKS
from .table import where

TCP, ARIES, INFINIBAND = "tcp", "Aries, modelled", "InfiniBand, modelled"
OURS = (TCP, ARIES, INFINIBAND)
EACH = "rand_puts, plain with a quiet each"


def speedups(data, figure, program, networks=OURS):
    """Return {network: speedup} of the networks that were measured."""
    rows = {network: where(data[figure], network=network, program=program) for network in networks}
    found = {
        network: of_network[0]["speedup"] for network, of_network in rows.items() if of_network
    }
    if not found:
        raise LookupError(program)
    return found


def said(found):
    return each({network: times(value) for network, value in found.items()})


def beside(data, figure, program, bounds):
    """Answer with the speedups, as worse if any network is below its bound."""
    found = speedups(data, figure, program)
    return at_least(
        1,
        min(found[network] / bound for network, bound in bounds.items() if network in found),
        said(found),
    )


def copy(data):
    return beside(data, "synthetics", "copy", {TCP: 480, ARIES: 26, INFINIBAND: 98})


def rand_gets(data):
    found = {
        network: 1 / value - 1
        for network, value in speedups(data, "synthetics", "rand_gets").items()
    }
    text = each({network: f"{100 * value:.1f}%" for network, value in found.items()})
    return at_most(0.10, max(found.values()), "time added - " + text)


def rand_puts(data):
    return beside(data, "synthetics", EACH, {TCP: 2.0, INFINIBAND: 3.0})


def rand_puts_one_quiet(data):
    found = speedups(data, "synthetics", "rand_puts")
    return at_least(1, min(found.values()), said(found))


def by_distance(data, network):
    rows = {row["distance"]: row["speedup"] for row in where(data["prefetch"], network=network)}
    adaptive = rows.pop("adaptive")
    best = max(rows, key=rows.get)
    return {"none": rows[0], "best": rows[best], "distance": best, "adaptive": adaptive}


def of_all(data):
    found = {
        network: by_distance(data, network)
        for network in OURS
        if where(data["prefetch"], network=network)
    }
    if not found:
        raise LookupError("prefetch")
    return found


def no_hints(data):
    return given(
        said({network: row["none"] for network, row in of_all(data).items()})
        + " (4 gets of an access become 1)"
    )


def best_over_none(data):
    found = of_all(data)
    text = each(
        {
            network: f"{times(row['best'] / row['none'])} at {row['distance']}"
            for network, row in found.items()
        }
    )
    bounds = {TCP: 4, ARIES: 1.3, INFINIBAND: 4}
    return at_least(
        1, min(row["best"] / row["none"] / bounds[network] for network, row in found.items()), text
    )


def best(data):
    found = of_all(data)
    bounds = {TCP: 10, ARIES: 4, INFINIBAND: 10}
    return at_least(
        1,
        min(row["best"] / bounds[network] for network, row in found.items()),
        said({network: row["best"] for network, row in found.items()}),
    )


def adaptive(data):
    found = {network: row["best"] / row["adaptive"] for network, row in of_all(data).items()}
    return at_most(
        1.10, max(found.values()), "time over the best fixed distance's - " + said(found)
    )


def hydro(data):
    return beside(data, "programs", "hydro", {TCP: 1.3, ARIES: 4.9, INFINIBAND: 1.3})


def minimd(data):
    return beside(data, "programs", "minimd", dict.fromkeys(OURS, 3))


def ptrans(data):
    return beside(data, "programs", "ptrans", dict.fromkeys(OURS, 2))


def ssca2(data):
    plain, relaxed = (
        speedups(data, "programs", name) for name in ("ssca2", "ssca2, relaxed atomics")
    )
    return at_least(1, min(plain.values()), f"{said(plain)}; relaxed atomics - {said(relaxed)}")


def gups(data):
    found = {
        name: speedups(data, "programs", f"gups, {name}") for name in ("atomic adds", "get and put")
    }
    text = "; ".join(f"{name} - {said(values)}" for name, values in found.items())
    return at_least(1, min(min(values.values()) for values in found.values()), text)


def ours(data, program, network):
    """Return a cell of our part of the table; empty if it was not measured."""
    try:
        if program.startswith("prefetch"):
            row = by_distance(data, network)
            return times(row["none"] if program.endswith("no hints") else row["best"])
        figure = "synthetics" if where(data.get("synthetics", ()), program=program) else "programs"
        return times(one(data[figure], "speedup", network=network, program=program))
    except LookupError:
        return "-"


def table(data):
    """Return the paper's table beside ours: speedups by the cache."""
    if not {"synthetics", "prefetch", "programs"} & set(data):
        return None
    return {
        "papers": PAPERS_NETWORKS,
        "ours": OURS,
        "rows": [
            {
                "name": NAMES.get(name, name),
                "cells": [*paper, *(ours(data, name, network) for network in OURS)],
            }
            for name, paper in PAPER.items()
        ],
    }
