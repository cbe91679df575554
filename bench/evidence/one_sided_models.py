# SPDX-License-Identifier: BSD-3-Clause
"""Performance functions P = a + b s of one-sided calls: the paper's (foMPI, sections 3.1 and 3.2)
beside ours, fitted to the measurements."""

from driver.numbers import fit_cost

from .answer import one
from .one_sided import ENGINE, NETWORKS
from .table import where


def by_size(figure, call):
    """Fit by least squares of the relative error over all sizes."""

    def text(data, network):
        rows = where(data[figure], network=network, call=call, side=ENGINE)
        if len(rows) < 2:
            raise LookupError(call)
        first, each = fit_cost({row["size"]: 1000 * row["us"] for row in rows})
        return f"{time(first)} + {each:.2g} ns s"

    return text


def constant(figure, call, factor="", **which):
    def text(data, network):
        us = one(data[figure], "us", network=network, call=call, side=ENGINE, **which)
        return time(1000 * us) + factor

    return text


def at_two(call, factor=""):
    return constant("synchronisation", call, factor=factor, ranks=2)


def started(data, network):
    rate = one(data["rate"], "millions_per_s", network=network, side=ENGINE, size=8, call="rate")
    return time(1000 / rate)


def time(ns):
    return f"{ns:.2g} ns" if ns < 100 else f"{ns:.0f} ns" if ns < 1000 else f"{ns / 1000:.2g} us"


# The call, the paper's function, ours.
FUNCTIONS = (
    ("put, flush", "1 us + 0.16 ns s", by_size("latency", "put")),
    ("get, flush", "1.9 us + 0.17 ns s", by_size("latency", "get")),
    ("put of 8 B, started", "416 ns; 80 ns in a node", started),
    ("accumulate, sum", "2.4 us + 28 ns s", by_size("atomics", "sum")),
    ("accumulate, minimum", "7.3 us + 0.8 ns s", by_size("atomics", "min")),
    (
        "compare-and-swap",
        "2.4 us",
        constant("atomics", "compare_and_swap", size=8),
    ),
    ("fence", "2.9 us log2 p", at_two("fence", " log2 p")),
    (
        "post, start, complete, wait, k neighbours",
        "2.5 us + 0.7 us k",
        at_two("post to wait", " (k = 1)"),
    ),
    ("lock exclusive, unlock", "5.8 us", at_two("lock exclusive")),
    ("lock shared, unlock", "3.1 us", at_two("lock shared")),
    ("lock exclusive, get of 8 B, unlock", "7.7 us", at_two("lock get unlock")),
    ("lock_all, unlock_all", "3.1 us", at_two("lock_all")),
    ("flush, nothing to do", "76 ns", at_two("empty flush")),
    ("sync", "17 ns", at_two("sync")),
)


def table(data):
    """Return (name, paper, tcp, in a node) of everything measured."""
    rows = []
    for name, paper, ours in FUNCTIONS:
        try:
            rows.append([name, paper, *(ours(data, network) for network in NETWORKS)])
        except LookupError:
            continue
    return rows
