# SPDX-License-Identifier: BSD-3-Clause
"""The RMA engine compared with every MPI of the build: each call between two ranks, over tcp and in
a node.

All sides run in turn, each in a process of its own, in rounds of alternating order. Where a machine
changes its speed for seconds, times of different rounds cannot be compared: the engine's ratio to a
host is therefore the median of the rounds' ratios.

In a node, both the hosts and the engine use shared memory. Over tcp, one more side is a connection
without MPI (`plain`): two processes that only send and receive what the call needs show what the
system takes, hence what no library can go below.
"""

import shutil
import tempfile

from .build import Build, command
from .instructions import counted, counting
from .launch import Launch
from .numbers import median, summarise

# By network. Ranks of one machine use TCP only if told to.
ENGINE = {
    "tcp": {"rma": "on", "rma_fabric": "socket", "mode": "off"},
    "node": {"rma": "on", "rma_fabric": "node", "mode": "off"},
}
NETWORKS = ("tcp", "node")
# Goals over tcp: at most this share of the best host's time, or this many us.
SHARES = {
    "get 8": 0.95,
    "get 2048": 0.95,
    "get 32768": 0.95,
    "put 8": 0.8,
    "fetch_and_op": 0.75,
    "compare_and_swap": 0.75,
    "accumulate 1": 0.75,
    "min of 128": 0.75,
    "lock shared": 0.25,
    "lock exclusive": 0.5,
    "lock get unlock": 0.2,
    "fence": 1.0,
    "post to wait": 1.0,
}
MICROSECONDS = {
    "put rate": 0.06,
    "get rate": 0.12,
    "lock_all": 0.1,
    "empty flush": 0.02,
    "computing": 15,
}
# Goals in a node, in ns; other calls must not take longer than on the best host.
NANOSECONDS = {
    "get 8": 12,
    "get 2048": 26,
    "get 32768": 450,
    "put 8": 12,
    "put rate": 9,
    "get rate": 9,
    "fetch_and_op": 16,
    "compare_and_swap": 16,
    "accumulate 1": 16,
    "min of 128": 25,
    "lock shared": 20,
    "lock exclusive": 20,
    "lock get unlock": 28,
    "lock_all": 12,
    "empty flush": 6,
}
CALLS = (
    "get 8",
    "get 2048",
    "get 32768",
    "put 8",
    "put rate",
    "get rate",
    "fetch_and_op",
    "compare_and_swap",
    "accumulate 1",
    "min of 128",
    "lock shared",
    "lock exclusive",
    "lock get unlock",
    "lock_all",
    "empty flush",
    "fence",
    "post to wait",
    "computing",
)
# Calls that a host cannot do: (host, network): calls. Open MPI 4 crashes (host_defects.def,
# swap_crashes).
CANNOT = {("openmpi-4.1.4", "node"): ("compare_and_swap",)}
# Figures excluded from the comparison. MPICH 5 over tcp returns from the flush of a put before the
# value is in the target's memory, against the standard. Open MPI 5 synchronises ranks of one node
# through shared memory (osc/rdma) even if told to use tcp.
NO_BAR = {
    ("mpich-5.0.2", "tcp"): ("put 8",),
    ("openmpi-5.0.11", "tcp"): (
        "lock shared",
        "lock exclusive",
        "lock get unlock",
        "lock_all",
        "post to wait",
    ),
}
# Calls over tcp, and the exchange of messages on a connection without MPI that each needs at least.
PLAIN = {
    "get 8": "get 8",
    "get 2048": "get 2048",
    "get 32768": "get 32768",
    "put 8": "get 8",
    "fetch_and_op": "get 8",
    "compare_and_swap": "get 8",
    "accumulate 1": "get 8",
    "min of 128": "min of 128",
    "lock get unlock": "get 8",
    "fence": "fence",
    "post to wait": "fence",
    "computing": "computing",
}
ROUNDS = {"quick": 7, "whole": 11}
PUTS = FLUSHES = 20 * 50  # number of operations that `counted` performs


def measure(launch, arguments):
    tags = hosts(launch.build)
    command(
        ["cmake", "--build", launch.build.directory, "--target", "bench-hosts"],
        "building for all MPIs",
    )
    sides = {tag: Launch(Build(launch.build.directory, tag), timeout=300) for tag in tags}
    loaded = launch.build.preload().exists()
    if loaded:
        sides["engine"] = launch
    found = in_turn({**sides, "plain": launch}, arguments.quick)
    results = [cell(found, network, call, tags) for network in NETWORKS for call in CALLS]
    summary = worst(results)
    if loaded:
        more, rows = of_the_engine(launch, found, arguments.quick)
        summary.update(more)
        results += rows
    return results, summary, details(results)


def in_turn(sides, quick):
    """Return {(network, side): its run in each round}."""
    found = {
        (network, side): []
        for network in NETWORKS
        for side in sides
        if side != "plain" or network == "tcp"
    }
    for network, side in in_rounds(found, quick):
        found[network, side].append(run(sides[side], network, quick, **flags_of(network, side)))
    return found


def in_rounds(sides, quick):
    """Yield each side once a round, in alternating order."""
    for turn in range(ROUNDS["quick" if quick else "whole"]):
        yield from list(sides)[:: -1 if turn % 2 else 1]


def flags_of(network, side):
    if side == "plain":
        return {"calls": [f"plain {call}" for call in dict.fromkeys(PLAIN.values())]}
    if side == "engine":
        return {"options": ENGINE[network]}
    return {"without": CANNOT.get((side, network), ())}


def hosts(build):
    """Return the tags of all MPIs except the standard ABI's library, which is another one's."""
    return [tag for tag in build.wrappers() if not tag.startswith("abi")]


def run(launch, network, quick, without=(), calls=(), options=None, wrap=(), **flags):
    """Return {call: its row} of one run, on the engine if there are options."""
    flags = {
        "milliseconds": 8 if quick else 25,
        "periods": 1 if quick else 2,
        **flags,
    }
    if calls:
        flags["calls"] = ",".join(calls)
    if without:
        flags["except"] = ",".join(without)
    rows = rows_of(launch, "bench_rma", network, flags, options, wrap)
    return {row["call"]: row for row in rows}


def rows_of(launch, program, network, flags, options, wrap=()):
    """Return the rows of one run of a program, with the kind of windows that the network is
    measured with."""
    return launch.rows(
        program,
        {"memory": "created" if network == "tcp" else "allocated", **flags},
        network=network if network == "tcp" else "shared",
        cached=options is not None,
        options=options,
        wrap=wrap,
    )


def medians(runs, call):
    """Return a call's median in each run, None where it was not measured."""
    rows = (each.get(call) for each in runs)
    return [median(row["us"]) if row and row["us"] else None for row in rows]


def measured(times):
    return [time for time in times if time is not None]


def ratios(above, below):
    """Return the ratios of two sides' times, round by round."""
    return [a / b for a, b in zip(above, below) if a is not None and b is not None]


def shown(statistic, values):
    return statistic(values) if values else "-"


def cell(found, network, call, tags):
    """Return the row of a call on a network: medians of all sides, and the engine's ratio to the
    best host."""
    times = {tag: medians(found[network, tag], call) for tag in tags}
    engine = medians(found.get((network, "engine"), ()), call)
    plain = medians(found.get((network, "plain"), ()), f"plain {PLAIN.get(call)}")
    middle = {tag: shown(median, measured(each)) for tag, each in times.items()}
    bars = [
        tag for tag in tags if middle[tag] != "-" and call not in NO_BAR.get((tag, network), ())
    ]
    best = min(bars, key=middle.get, default=None)
    return {
        "network": network,
        "call": call,
        **middle,
        "engine_us": shown(summarise, measured(engine)),
        "best": best or "-",
        "over_best": shown(median, ratios(engine, times.get(best, ()))),
        "plain_us": shown(median, measured(plain)),
        "over_plain": shown(median, ratios(engine, plain)),
        "goal": goal(network, call),
    }


def goal(network, call):
    if network != "tcp":
        return f"{NANOSECONDS[call]} ns" if call in NANOSECONDS else "1.0 of best"
    return f"{SHARES[call]} of best" if call in SHARES else f"{MICROSECONDS[call]} us"


def worst(results):
    """Return the highest ratio to the best host, by network."""
    figures = {}
    for network in NETWORKS:
        ratios = [
            row["over_best"]
            for row in results
            if row["network"] == network and row["over_best"] != "-"
        ]
        figures[f"{network}_worst_over_host"] = max(ratios) if ratios else None
    return figures


def details(results):
    """Return which call has the highest ratio, by network."""
    cells = [row for row in results if "over_best" in row and row["over_best"] != "-"]
    named = {}
    for network in NETWORKS:
        of_network = [row for row in cells if row["network"] == network]
        if of_network:
            named[f"{network}_worst"] = max(of_network, key=lambda row: row["over_best"])["call"]
    over_plain = {row["call"]: row["over_plain"] for row in cells if row["over_plain"] != "-"}
    if over_plain:
        named["tcp_over_plain"] = median(list(over_plain.values()))
        named["tcp_worst_over_plain"] = max(over_plain.values())
    if "computing" in over_plain:
        named["stall_over_plain"] = over_plain["computing"]
    of_thread = [row["thread_ratio"]["median"] for row in results if "thread_ratio" in row]
    if of_thread:
        named["two_sided_of_a_thread"] = max(of_thread)
    return named


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def of_the_engine(launch, found, quick):
    """Return the engine's own figures: stalls, cost of the agent, slowdown of host calls,
    instructions."""
    stalls = [value for each in found["tcp", "engine"] for value in each["computing"]["us"]]
    agent = run(
        launch,
        "tcp",
        quick,
        calls=("computing", "computing 100", "idle"),
        options=ENGINE["tcp"],
        periods=3,
    )
    figures = {
        "stall_us_median": median(stalls),
        "stall_us_p99": percentile(stalls, 0.99),
        "agent_idle_wakeups": agent["idle"]["wakeups"] if agent["idle"]["agents"] else None,
        "agent_cpu_us_per_get": agent["computing"]["target_cpu_us"],
        "agent_cpu_us_per_get_of_100": agent["computing 100"]["target_cpu_us"],
    }
    messages = [two_sided(launch, network, quick) for network in NETWORKS]
    figures["two_sided_ratio"] = max(row["ratio"]["median"] for row in messages)
    figures.update({f"instructions_{name}": value for name, value in instructions(launch).items()})
    return figures, messages


def two_sided(launch, network, quick):
    """Return the time of the host's message round trip with the engine loaded and one of its
    windows open, and without the engine but with a thread that sleeps, as the engine's agent does,
    each relative to that with neither."""
    sides = {
        "with": {"options": ENGINE[network]},
        "without": {},
        "thread": {"sleepers": 1},
    }
    found = {side: [] for side in sides}
    for side in in_rounds(sides, quick):
        rows = run(launch, network, quick, calls=("messages",), milliseconds=100, **sides[side])
        found[side].append(median(rows["messages"]["us"]))
    return {
        "network": network,
        "call": "messages",
        **{f"{side}_us": summarise(values) for side, values in found.items()},
        "ratio": summarise(ratios(found["with"], found["without"])),
        "thread_ratio": summarise(ratios(found["thread"], found["without"])),
    }


def instructions(launch):
    """Count the instructions of an 8-byte MPI_Put in a node and of an MPI_Win_flush with nothing to
    do, by valgrind."""
    if not shutil.which("valgrind"):
        return {"put": None, "flush": None}
    counts = {}
    for name, calls in (("put", PUTS), ("flush", FLUSHES)):
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            launch.rows(
                "bench_rma",
                {"calls": "counted", "memory": "allocated"},
                wrap=counting(f"bench_{name}_block", f"{folder}/{name}"),
                options=ENGINE["node"],
            )
            counts[name] = counted(f"{folder}/{name}") / calls
    return counts
