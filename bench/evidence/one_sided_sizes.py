# SPDX-License-Identifier: BSD-3-Clause
"""foMPI's paper, Fig. 4 to 7: latency, overlap, rate and atomics by size, on the RMA engine and on
every MPI of the build."""

from driver import rma
from driver.numbers import median, summarise

from . import one_sided, style
from .figure import Figure, Study
from .one_sided import NETWORKS
from .table import values, where

# The paper's own performance functions: ns for the first byte, ns per byte (section 3.1). The
# hardware does the sum; the minimum uses a lock.
PAPER = {"put": (1000, 0.16), "get": (1900, 0.17), "sum": (2400, 28), "min": (7300, 0.8)}
PAPER_SWAP_US = 2.4
SWAP = "compare_and_swap"
CALLS = {
    "latency": ("put", "get"),
    "overlapped": ("overlap",),
    "rate": ("rate",),
    "atomics": ("sum", "min", SWAP),
}
SIZES_LABEL = "bytes of an operation"


def measure(laboratory):
    sides = one_sided.sides(laboratory)
    rounds = 2 if laboratory.quick else 5
    found = {}
    for number in range(rounds):
        laboratory.say(f"round {number + 1} of {rounds}", number / rounds)
        for network in NETWORKS:
            for side in sides:
                run = laboratory.attempt(
                    f"{side}, {NETWORKS[network]}",
                    lambda side=side, network=network: one_run(sides, side, network),
                )
                for row in run:
                    key = (network, side, row["call"], int(row["size"]))
                    found.setdefault(key, []).append(median(row.get("us") or row["share"]))
    rows = [shown(*key, medians) for key, medians in found.items()]
    tables = {
        figure: [row for row in rows if row["call"] in calls] for figure, calls in CALLS.items()
    }
    laboratory.say("counting instructions", 0.9)
    tables["rate"] += counted(sides[one_sided.ENGINE])
    return tables


def one_run(sides, side, network):
    # In a node, the processor copies within the put.
    without = (*rma.CANNOT.get((side, network), ()), *(("overlap",) if network == "node" else ()))
    flags = {"milliseconds": 8, **({"except": ",".join(without)} if without else {})}
    options = one_sided.options(side, network)
    return rma.rows_of(sides[side], "bench_rma_sizes", network, flags, options)


def shown(network, side, call, size, medians):
    """Return medians of runs as a row: us, the hidden share of a put's latency, or millions per
    second."""
    row = {"network": network, "side": side, "call": call, "size": size}
    if call == "overlap":
        return {**row, "share": summarise(medians)}
    if call == "rate":
        return {**row, "millions_per_s": summarise([1 / us for us in medians])}
    return {**row, "us": summarise(medians)}


def counted(engine):
    """Return the instructions of an 8-byte put in a node, and of a flush with nothing to do."""
    return [
        {
            "network": "node",
            "side": one_sided.ENGINE,
            "call": f"instructions of a {call}",
            "size": 8,
            "instructions": count,
        }
        for call, count in rma.instructions(engine).items()
        if count is not None
    ]


# --- plots ---------------------------------------------------------------------------------------------------------------------


def by_size(axes, rows, column):
    one_sided.lines(axes, rows, "size", column)
    style.sizes_axis(axes, values(rows, "size"), SIZES_LABEL)


def draw_times(rows, calls):
    """Draw a row of panels per network, with the paper's functions beside what crosses a
    network."""
    figure, panels = style.panels(len(calls), rows=len(NETWORKS), width=6 if len(calls) == 2 else 5)
    for axes, (network, call) in zip(panels, [(n, c) for n in NETWORKS for c in calls]):
        of_panel = where(rows, network=network, call=call)
        by_size(axes, of_panel, "us")
        if network == "tcp" and call in PAPER:
            paper(axes, values(of_panel, "size"), call)
        style.log_scale(axes)
        axes.set_title(f"{call.replace('_', ' ')} and flush, {NETWORKS[network]}")
        axes.set_ylabel("us")
    one_sided.legend(figure, panels[0])
    return figure


def paper(axes, sizes, call):
    first, each = PAPER[call]
    axes.plot(
        sizes,
        [(first + each * size) / 1000 for size in sizes],
        color=style.GREY,
        linestyle="--",
        label="foMPI over Gemini (its model)",
    )


def draw_latency(rows):
    return draw_times(rows, CALLS["latency"])


def draw_overlapped(rows):
    figure, (axes,) = style.panels(1, width=9)
    by_size(axes, rows, "share")
    axes.set_ylim(-0.5, 1)
    axes.set_title("put and flush, tcp")
    axes.set_ylabel("share of the latency that is hidden")
    one_sided.legend(figure, axes)
    return figure


def draw_rate(rows):
    figure, panels = style.panels(len(NETWORKS))
    for axes, network in zip(panels, NETWORKS):
        by_size(axes, where(rows, network=network, call="rate"), "millions_per_s")
        style.log_scale(axes)
        axes.set_title(f"puts, 1,000 and a flush, {NETWORKS[network]}")
        axes.set_ylabel("million puts a second")
    one_sided.legend(figure, panels[0])
    return figure


def draw_atomics(rows):
    figure, panels = style.panels(3, rows=len(NETWORKS), width=5)
    for axes, (network, call) in zip(panels, [(n, c) for n in NETWORKS for c in CALLS["atomics"]]):
        of_panel = where(rows, network=network, call=call)
        if call == SWAP:
            one_sided.bars(axes, of_panel, "us", one_sided.ordered(rows))
        else:
            by_size(axes, of_panel, "us")
            style.log_scale(axes)
        if network == "tcp" and call in PAPER:
            paper(axes, values(of_panel, "size"), call)
        if network == "tcp" and call == SWAP:
            axes.axhline(PAPER_SWAP_US, color=style.GREY, linestyle="--")
        axes.set_title(f"{'MPI_Compare_and_swap' if call == SWAP else call}, {NETWORKS[network]}")
        axes.set_ylabel("us")
    one_sided.legend(figure, panels[0])
    return figure


# --- the study -----------------------------------------------------------------------------------------------------------------

HOW = (
    "`bench_rma_sizes` on two ranks, rank 1 in a barrier of the host: the engine under MPICH 5, and the "
    "hosts, in turn. "
)

STUDY = Study(
    "one-sided sizes",
    (
        Figure(
            "latency",
            "rma_latency",
            "One-sided: put and get by size",
            "foMPI, Fig. 4 and 5a, section 3.1: over 50% lower latency than UPC and Coarrays, the same "
            "bandwidth; a put takes 1 us + 0.16 ns a byte, a get 1.9 us + 0.17 ns a byte over Gemini.",
            HOW + "tcp: windows of MPI_Win_create; in a node: of MPI_Win_allocate, the hosts over "
            "shared memory. MPICH 5 over tcp returns from the flush of a put before the value is in "
            "memory, so it is not comparable there.",
            draw_latency,
        ),
        Figure(
            "overlapped",
            "rma_overlap",
            "One-sided: part of a put that can be overlapped with computation",
            "foMPI, Fig. 5b, section 3.1.1: no numbers in the text; Cray's MPI-2.2 overlaps more up to 64 KB, "
            "as its latency is higher. In a node nothing overlaps, as the processor copies.",
            HOW
            + "Put, compute for 1.2 times the latency, flush; what the two calls take beside the "
            "computation is exposed. A put of the engine goes with the flush, unless the batch is full.",
            draw_overlapped,
        ),
        Figure(
            "rate",
            "rma_rate",
            "One-sided: puts a second",
            "foMPI, Fig. 6, section 3.1.2: starting a put of 8 bytes takes 416 ns over the network, 80 ns "
            "(190 instructions) in a node. Sections 2.3 and 2.4: the library adds 173 instructions to a "
            "put or get, 78 to a flush.",
            HOW + "1,000 puts to one place and a flush; with the flush, while the paper's are only "
            "started. Instructions are counted by callgrind, of whole calls.",
            draw_rate,
        ),
        Figure(
            "atomics",
            "rma_atomics",
            "One-sided: sum, minimum, compare-and-swap",
            "foMPI, Fig. 7, section 3.1.3: a sum, by hardware, takes 2.4 us + 28 ns a byte; a minimum, by lock, "
            "get and put, 7.3 us + 0.8 ns a byte; compare-and-swap 2.4 us.",
            HOW
            + "64-bit integers. Compare-and-swap in a node crashes Open MPI 4. The paper's line of "
            "the sum takes its s for bytes.",
            draw_atomics,
        ),
    ),
    measure,
    (60, 120),
)
