# SPDX-License-Identifier: BSD-3-Clause
"""foMPI's claims (SC 2013), answered by the RMA engine compared with the best host on this
machine."""

from driver import rma
from driver.rma_apps import ONE_SIDED

from .answer import at_least, at_most, column, each, given, holds, one, times
from .claim import Claim
from .one_sided import ENGINE, NETWORKS, best_host
from .table import values, where

MICROSECONDS = "{:.3g} us"


def no_bars(network, call):
    """Return the hosts whose figure is excluded from the comparison, as in bench/run rma."""
    return [tag for (tag, of), calls in rma.NO_BAR.items() if of == network and call in calls]


def over_host(data, figure, network, call, no_bar=None, **which):
    """Return the engine's time divided by that of the best host."""
    rows = where(data[figure], network=network, call=call, **which)
    best = best_host(rows, without=no_bars(network, no_bar or call))
    return one(rows, "us", side=ENGINE) / best


def both(measure):
    return {NETWORKS[network]: measure(network) for network in NETWORKS}


def transfers_over_hosts(data, size):
    found = {
        f"{call}, {NETWORKS[network]}": over_host(
            data, "latency", network, call, f"{call} 8", size=size
        )
        for network in NETWORKS
        for call in ("put", "get")
    }
    return found, "of the best host's time - " + each(
        {name: times(value) for name, value in found.items()}
    )


def small_latency(data):
    found, text = transfers_over_hosts(data, 8)
    return at_most(0.5, max(found.values()), text)


def large_latency(data):
    found, text = transfers_over_hosts(data, max(values(data["latency"], "size")))
    return at_most(1.05, max(found.values()), text)


def overlapped(data):
    rows = where(data["overlapped"], network="tcp")
    sizes = [size for size in values(rows, "size") if size <= 65536]
    ours = {size: one(rows, "share", side=ENGINE, size=size) for size in sizes}
    hosts = {size: best_host(where(rows, size=size), "share", best=max) for size in sizes}
    text = each({f"{size:,} B": f"{ours[size]:.2f}, {hosts[size]:.2f}" for size in sizes})
    return holds(
        all(ours[size] >= hosts[size] for size in sizes), "engine, host that hides most - " + text
    )


def injection(data, network, paper_ns):
    ours = 1000 / one(
        data["rate"], "millions_per_s", network=network, side=ENGINE, size=8, call="rate"
    )
    host = 1000 / best_host(
        where(data["rate"], network=network, size=8, call="rate"), "millions_per_s", best=max
    )
    return at_most(paper_ns, ours, f"{ours:.0f} ns with the flush; best host {host:.0f} ns")


def instructions(data):
    put, flush = (
        one(data["rate"], "instructions", call=f"instructions of a {call}")
        for call in ("put", "flush")
    )
    return holds(
        put <= 173 and flush <= 78,
        f"whole calls in a node: put {put:.0f}, flush with nothing to do {flush:.0f}",
    )


def atomic(data, call, size=8):
    found = both(lambda network: over_host(data, "atomics", network, call, size=size))
    return at_most(
        1,
        max(found.values()),
        "of the best host's time - " + each({name: times(value) for name, value in found.items()}),
    )


def synchronisation(data, call):
    found = both(lambda network: over_host(data, "synchronisation", network, call, ranks=2))
    ours = both(
        lambda network: one(
            data["synchronisation"], "us", network=network, call=call, ranks=2, side=ENGINE
        )
    )
    text = {
        name: f"{MICROSECONDS.format(ours[name])}, {times(found[name])} of the best host's"
        for name in found
    }
    return at_most(1, max(found.values()), "two ranks - " + each(text))


def passive(data):
    def us(network, call):
        return MICROSECONDS.format(
            one(data["synchronisation"], "us", network=network, call=call, ranks=2, side=ENGINE)
        )

    calls = [
        call
        for call in values(data["synchronisation"], "call")
        if call not in ("fence", "post to wait")
    ]
    return given(
        each(
            {
                NETWORKS[network]: ", ".join(f"{call} {us(network, call)}" for call in calls)
                for network in NETWORKS
            }
        )
    )


def at_scale(data, call):
    most = max(column(data["counted"], "ranks", call=call))
    (row,) = where(data["counted"], call=call, ranks=most)
    text = (
        f"{most:,} ranks, {row['batches_of_a_rank']:.0f} messages a rank: {row['us']:.3g} us by "
        f"counts times cost over tcp; the paper's function {row['paper_us']:.3g} us"
    )
    return given(text)


def least_us(data, app, network, ways, engine):
    """Return the lowest time of the engine, or of all hosts, in any of these ways."""
    found = [
        row["us"]
        for row in where(data[app], network=network)
        if row["way"] in ways and (row["side"] == ENGINE) == engine
    ]
    if not found:
        raise LookupError(app)
    return min(found)


def application(data, app, goal, of_messages=False):
    """Answer with the best host's time over ours, both one-sided, and with messages on the best
    host."""
    ways = ONE_SIDED[app]
    others = [way for way in values(data[app], "way") if way not in ways]
    found = {}
    for network in NETWORKS:
        mine = least_us(data, app, network, ways, engine=True)
        found[network] = (
            least_us(data, app, network, ways, engine=False) / mine,
            least_us(data, app, network, others, engine=False) / mine,
        )
    text = {
        NETWORKS[
            network
        ]: f"{times(host)} one-sided on the best host, {times(messages)} with messages"
        for network, (host, messages) in found.items()
    }
    return at_least(goal, found["tcp"][of_messages], "time of others over ours - " + each(text))


def exchange(data):
    others = [way for way in values(data["dsde"], "way") if way != "accumulate"]
    found = {}
    for network in NETWORKS:
        mine = least_us(data, "dsde", network, ["accumulate"], engine=True)
        best = min(least_us(data, "dsde", network, others, engine) for engine in (True, False))
        nbx = least_us(data, "dsde", network, ["nbx"], engine=False)
        host = least_us(data, "dsde", network, ["accumulate"], engine=False)
        found[network] = (best / mine, nbx / mine, host / mine)
    text = {
        NETWORKS[
            network
        ]: f"best other protocol {times(other)}, non-blocking barrier {times(nbx)}, accumulate on the best host {times(host)}"
        for network, (other, nbx, host) in found.items()
    }
    return at_least(1, found["tcp"][0], "time of others over ours - " + each(text))


def claim(figure, section, text, answer):
    return Claim(figure, f"foMPI, {section}", text, answer)


CLAIMS = (
    claim(
        "latency",
        "3.1",
        "Put and get of few bytes take less than half the time of other PGAS models (here: 8 B beside the best host)",
        small_latency,
    ),
    claim(
        "latency",
        "3.1",
        "The same bandwidth for large messages (here: the largest size, within 5% of the best host)",
        large_latency,
    ),
    claim(
        "overlapped",
        "3.1.1",
        "No number for foMPI's overlap of puts; our goal: up to 64 KB not less than the host that hides most",
        overlapped,
    ),
    claim(
        "rate",
        "3.1.2",
        "A put of 8 B over the network is started in 416 ns",
        lambda data: injection(data, "tcp", 416),
    ),
    claim(
        "rate",
        "3.1.2",
        "A put of 8 B in a node is started in 80 ns",
        lambda data: injection(data, "node", 80),
    ),
    claim("rate", "2.3, 2.4", "A put adds 173 instructions, a flush 78", instructions),
    claim(
        "atomics",
        "3.1.3",
        "Sums go by hardware (2.4 us and 28 ns a byte); our goal: 8 B not slower than the best host",
        lambda data: atomic(data, "sum"),
    ),
    claim(
        "atomics",
        "3.1.3",
        "Minima, by a lock, take 7.3 us and 0.8 ns a byte; our goal: 4 KiB not slower than the best host",
        lambda data: atomic(data, "min", 4096),
    ),
    claim(
        "atomics",
        "3.1.3",
        "Compare-and-swap takes 2.4 us; our goal: not slower than the best host",
        lambda data: atomic(data, "compare_and_swap"),
    ),
    claim(
        "synchronisation",
        "3.2",
        "A fence takes 2.9 us * log2(p); our goal: not slower than the best host",
        lambda data: synchronisation(data, "fence"),
    ),
    claim(
        "synchronisation",
        "3.2",
        "Post, start, complete and wait take 3.2 us with one neighbour; our goal: not slower than the best host",
        lambda data: synchronisation(data, "post to wait"),
    ),
    claim(
        "synchronisation",
        "3.2",
        "Locks: exclusive 5.4 us, shared and lock_all 2.7 us, unlock 0.4 us, flush 76 ns, sync 17 ns",
        passive,
    ),
    claim(
        "counted",
        "3.2",
        "The fence grows with log2(p)",
        lambda data: at_scale(data, "fence"),
    ),
    claim(
        "counted",
        "3.2",
        "Post to wait does not grow with p (a ring, k = 2)",
        lambda data: at_scale(data, "post to wait"),
    ),
    claim(
        "counted",
        "3.2",
        "Lock and unlock do not grow with p",
        lambda data: at_scale(data, "lock get unlock"),
    ),
    claim(
        "hashtable",
        "4.1",
        "One-sided inserts scale where messages do not (no rates); our goal: twice the best host one-sided over tcp",
        lambda data: application(data, "hashtable", 2),
    ),
    claim(
        "dsde",
        "4.2",
        "Accumulate is competitive with the non-blocking barrier, other protocols are 2 to nearly 100 times slower (here: two ranks)",
        exchange,
    ),
    claim(
        "fft3d",
        "4.3, 6",
        "Overlapped puts make the transform up to 2 times faster than messages; our goal: 1.05 times the best host one-sided over tcp",
        lambda data: application(data, "fft3d", 1.05),
    ),
    claim(
        "milc_cg",
        "4.4, 6",
        "MILC is 13.8% faster than with messages, more than 15% for some configurations (here: its solver)",
        lambda data: application(data, "milc_cg", 1.138, of_messages=True),
    ),
)
