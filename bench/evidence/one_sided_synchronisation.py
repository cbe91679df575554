# SPDX-License-Identifier: BSD-3-Clause
"""foMPI's paper, Fig. 8: fence and post-to-wait time by ranks, and an extrapolation beyond this
machine from counted messages."""

import json
import math

from driver import rma
from driver.build import command
from driver.launch import launched
from driver.numbers import median, summarise

from . import one_sided, style
from .figure import Figure, Study
from .one_sided import ENGINE, NETWORKS
from .table import values, where

RANKS = (2, 4, 8)
BY_RANKS = ("fence", "post to wait")
PASSIVE = ("lock shared", "lock exclusive", "lock get unlock", "lock_all", "empty flush", "sync")
# The test that counts messages, by calls of its report.
TESTS = "Ranks/Costs.*"
NEIGHBOURS = 2  # neighbours of a rank in the ring
# Takes minutes: every rank polls, and there are two cores.
CANNOT = {("mpich-4.0.2", "tcp", 8)}


def measure(laboratory):
    found = {}
    for number, ranks in enumerate(RANKS):
        # Ranks that wait for a core scatter more than rounds do.
        rounds = (1 if ranks > 2 else 2) if laboratory.quick else (2 if ranks > 2 else 5)
        sides = one_sided.sides(laboratory, ranks)
        for turn in range(rounds):
            laboratory.say(
                f"{ranks} ranks, round {turn + 1} of {rounds}",
                (number + turn / rounds) / len(RANKS),
            )
            for network in NETWORKS:
                for side in sides:
                    if (side, network, ranks) in CANNOT:
                        continue
                    run = laboratory.attempt(
                        f"{side}, {ranks} ranks, {NETWORKS[network]}",
                        lambda launch=sides[side], side=side, network=network: one_run(
                            launch, side, network
                        ),
                    )
                    for call in run:
                        key = (network, side, call, ranks)
                        found.setdefault(key, []).append(median(run[call]["us"]))
    rows = [
        {"network": network, "side": side, "call": call, "ranks": ranks, "us": summarise(medians)}
        for (network, side, call, ranks), medians in found.items()
    ]
    return {"synchronisation": rows, "counted": counted(laboratory, rows)}


def one_run(launch, side, network):
    calls = BY_RANKS if launch.ranks > 2 else (*BY_RANKS, *PASSIVE)
    return rma.run(
        launch,
        network,
        True,
        calls=calls,
        options=one_sided.options(side, network),
        wrap=one_sided.wrap(launch.ranks),
        milliseconds=10,
    )


# --- beyond this machine -------------------------------------------------------------------------------------------------------


def counted(laboratory, rows):
    """Return the stub network's message counts at up to 1,024 ranks times the cost of a message
    over tcp here, and the paper's functions."""

    def cost(call):
        (row,) = where(rows, network="tcp", side=ENGINE, call=call, ranks=2)
        return row["us"]["median"]

    round_us, neighbour_us, locked_us = map(cost, ("fence", "post to wait", "lock get unlock"))
    result = []
    for test in report(laboratory):
        ranks = int(test["value_param"])
        rounds = int(test["fence"]) / ranks
        neighbours = NEIGHBOURS if ranks > 2 else 1
        tokens = int(test["post"]) + int(test["put_complete"])
        result += [
            point("fence", ranks, rounds, rounds * round_us, 2.9 * math.log2(ranks)),
            point(
                "post to wait",
                ranks,
                neighbours * tokens,
                # Tokens of several neighbours are in flight at once, so this is an upper bound.
                neighbours * neighbour_us,
                0.35 * 2 * neighbours + 0.7 + 1.8,
            ),
            point(
                "lock get unlock",
                ranks,
                int(test["lock_put_get_unlock"]),
                locked_us,
                5.4 + 1.9 + 0.4,
            ),
        ]
    return result


def point(call, ranks, batches, us, paper_us):
    return {
        "call": call,
        "ranks": ranks,
        "batches_of_a_rank": batches,
        "us": us,
        "paper_us": paper_us,
    }


def report(laboratory):
    """Return the counts that the batch-counting test reports for each number of ranks."""
    directory = laboratory.build.directory
    command(["cmake", "--build", directory, "--target", "unit_tests"], "building the unit tests")
    laboratory.say("counting messages", 0.95)
    with laboratory.folder() as folder:
        out = folder / "counts.json"
        program = directory / "tests" / "unit" / "unit_tests"
        launched(
            "unit_tests",
            [program, f"--gtest_filter={TESTS}", f"--gtest_output=json:{out}"],
            timeout=300,
        )
        suites = json.loads(out.read_text(encoding="utf-8"))["testsuites"]
    return [test for suite in suites for test in suite["testsuite"]]


# --- plots ---------------------------------------------------------------------------------------------------------------------


def ranks_axis(axes, ranks, subs=(1, 2, 5)):
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranks, [f"{each:,}" for each in ranks])
    axes.minorticks_off()
    axes.set_xlabel("ranks")
    style.log_scale(axes, subs)
    axes.set_ylabel("us")


def draw_synchronisation(rows):
    figure, panels = style.panels(len(BY_RANKS), rows=len(NETWORKS), width=6)
    for axes, (network, call) in zip(panels, [(n, c) for n in NETWORKS for c in BY_RANKS]):
        of_panel = where(rows, network=network, call=call)
        one_sided.lines(axes, of_panel, "ranks", "us")
        ranks_axis(axes, values(of_panel, "ranks"), subs=(1,))
        axes.set_title(f"{call}, {NETWORKS[network]}")
    one_sided.legend(figure, panels[0])
    return figure


def draw_counted(rows):
    calls = values(rows, "call")
    figure, panels = style.panels(len(calls), width=5)
    for axes, call in zip(panels, calls):
        of_call = where(rows, call=call)
        style.line(axes, of_call, "ranks", "us", "RMA engine over tcp: messages times cost", 0)
        style.line(
            axes,
            of_call,
            "ranks",
            "paper_us",
            "foMPI over Gemini: its model",
            7,
            color=style.GREY,
            linestyle="--",
        )
        ranks_axis(axes, values(of_call, "ranks"))
        axes.set_ylim(1, 200)
        axes.set_title(call)
    one_sided.legend(figure, panels[0])
    return figure


STUDY = Study(
    "one-sided synchronisation",
    (
        Figure(
            "synchronisation",
            "rma_synchronisation",
            "One-sided: fence, and post to wait, by ranks",
            "foMPI, Fig. 8, section 3.2: a fence takes 2.9 us * log2(p); post and complete 350 ns a neighbour "
            "each, start 0.7 us, wait 1.8 us.",
            "`bench_rma` on 2, 4 and 8 ranks of one machine with two cores, neighbours in a ring. With "
            "4 and 8 ranks most wait for a core, whatever they are told about yielding. This shows only "
            "that it works (MPICH 4 with 8 ranks over tcp takes minutes, and is left out). Open MPI 5 "
            "synchronises ranks of one node through shared memory, also when told to take tcp: its "
            "post to wait and locks are not comparable over tcp.",
            draw_synchronisation,
        ),
        Figure(
            "counted",
            "rma_counted",
            "One-sided: fence, post to wait and lock beyond this machine, by counted messages",
            "foMPI, Fig. 8 and section 3.2: its performance functions; in runs of more than 1,000 processes "
            "post to wait shows the noise of the system.",
            "Not measured at scale, but counted: on the network for tests, `tests/unit/rma_costs_test.cpp` "
            "counts the batches of each call at 2 to 1,024 ranks in one process. They are multiplied "
            "by what one costs over tcp between two ranks here: rounds of the fence by a fence of two, "
            "neighbours by post to wait with one, which is the most, and a lock with its operation by "
            "its one round trip. Noise, congestion and distance are not in it. SimGrid cannot run "
            "the engine: it has threads and connections of its own.",
            draw_counted,
        ),
    ),
    measure,
    (45, 110),
)
