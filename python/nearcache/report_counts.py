# SPDX-License-Identifier: BSD-3-Clause
"""The meaning of a report's counters, and the figures derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .report_parts import Acquire, Counters, Report, SymmetricObject, Window


class AccessType(NamedTuple):
    """A kind of get: its counter, its name, and an explanation for the reader."""

    name: str
    label: str
    meaning: str


class Sum(NamedTuple):
    """A total that deserves a line below the gets."""

    name: str
    label: str
    in_bytes: bool


ACCESS_TYPES = [  # the order is that of the paper (CLaMPI, section III.B)
    AccessType("hits_full", "hit, full", "served from the cache"),
    AccessType("hits_pending", "hit, pending", "joined a get that was still in flight"),
    AccessType("hits_partial", "hit, partial", "part served, rest fetched"),
    AccessType("direct", "miss, direct", "cached, room was free"),
    AccessType("conflicting", "miss, conflicting", "cached after evicting from the index"),
    AccessType("capacity", "miss, capacity", "cached after evicting from storage"),
    AccessType("failing", "miss, failing", "not cached"),
    AccessType("bypassed", "bypassed", "passed straight to MPI"),
]
# Replaces the first of these if ranks of a node share caches (option share); `hits_own` is derived
# by `told_apart`.
SHARED_TYPES = [
    AccessType("hits_own", "hit, full", "served from the cache, fetched by this rank"),
    AccessType(
        "hits_shared",
        "hit, another rank's",
        "served data that another rank of the node had fetched",
    ),
    *ACCESS_TYPES[1:],
]
OPENSHMEM_TYPES = [  # of the page cache: gets, then puts
    AccessType("hits_full", "hit", "served from the cache"),
    AccessType("direct", "miss", "fetched, with what surrounds it"),
    AccessType("bypassed", "bypassed", "large, uncached, or within reach of loads and stores"),
]
HITS = ("hits_full", "hits_pending", "hits_partial")


def api(document: Report) -> str:
    """Return the interface that the program was written for; reports older than OpenSHMEM support
    do not say."""
    return document.get("api") or "MPI"


def access_types(document: Report) -> list[AccessType]:
    if api(document) == "OpenSHMEM":
        return OPENSHMEM_TYPES
    return SHARED_TYPES if shares(document) else ACCESS_TYPES


def shares(document: Report) -> bool:
    """Return whether some ranks of a node shared a cache."""
    return document["totals"].get("hits_shared", 0) > 0 or any(
        window.get("sharing") for window in document["windows"]
    )


def told_apart(counters: Counters) -> Counters:
    """Return the counters with `hits_own`: full hits on data that the rank itself had fetched."""
    own = counters.get("hits_full", 0) - counters.get("hits_shared", 0)
    return {**counters, "hits_own": max(0, own)}


class TypeRow(NamedTuple):
    """An access type with its gets, and the smallest and largest number per rank; None if
    unknown."""

    label: str
    gets: int
    least: float | None
    most: float | None
    meaning: str


def type_rows(document: Report) -> list[TypeRow]:
    totals, spread = told_apart(document["totals"]), document["spread"]
    own = [told_apart(rank["counters"])["hits_own"] for rank in document.get("per_rank") or []]

    def over_ranks(name: str) -> tuple[float | None, float | None]:
        if name == "hits_own":
            return (min(own), max(own)) if own else (None, None)
        return (spread[name]["min"], spread[name]["max"]) if name in spread else (0, 0)

    return [
        TypeRow(label, totals.get(name, 0), *over_ranks(name), meaning)
        for name, label, meaning in access_types(document)
    ]


def sharing_words(window: Window) -> str:
    """Say which ranks of a node share a cache of this window, and why others do not. Empty if
    sharing was not requested."""
    its = window.get("sharing")
    words = []
    if its:
        caches = "1 node cache" if its["caches"] == 1 else f"{its['caches']:,} node caches"
        words.append(f"{its['ranks']:,} ranks in {caches}")
    if window.get("unshared"):
        words.append(f"{'others' if its else 'a cache each'}: {window['unshared']}")
    return "; ".join(words)


def processes(document: Report) -> tuple[str, str]:
    """Return the words for one process and for several."""
    return ("PE", "PEs") if api(document) == "OpenSHMEM" else ("rank", "ranks")


def how_many(number: int, names: tuple[str, str]) -> str:
    """Return a number of things: 1 rank, 2,048 ranks. `names` are the words for one and for
    several."""
    return f"{number:,} {names[number != 1]}"


# Totals to show, by interface, and for mode coherent.
TRAFFIC = {
    "MPI": [
        Sum("bytes_requested", "bytes requested", True),
        Sum("bytes_from_cache", "bytes from the cache", True),
        Sum("bytes_from_network", "bytes from the network", True),
        Sum("puts", "puts", False),
        Sum("accumulates", "accumulates", False),
        Sum("own_gets", "gets of own memory", False),
        Sum("evictions", "evictions", False),
        Sum("invalidations", "times dropped", False),
        Sum("write_drops", "entries overwritten", False),
        Sum("syncs_served", "flushes served", False),
        Sum("syncs_passed", "synchronisations passed to MPI", False),
        Sum("progress_calls", "progress calls", False),
        Sum("adaptations", "adaptations", False),
    ],
    "coherence": [
        Sum("hits_kept", "hits across acquires", False),
        Sum("validations", "validations", False),
        Sum("regions_changed", "regions found changed", False),
        Sum("announcements", "writes announced", False),
        Sum("store_looks", "looks at own stores", False),
        Sum("store_changes", "regions found stored to", False),
        Sum("volatile_regions", "regions volatile at the end", False),
    ],
    "OpenSHMEM": [
        Sum("bytes_requested", "bytes got", True),
        Sum("bytes_from_cache", "of these from the cache", True),
        Sum("bytes_from_network", "bytes from the network", True),
        Sum("network_gets", "transfers that fetched", False),
        Sum("readaheads", "transfers ahead of the program", False),
        Sum("lines_ahead", "lines fetched ahead", False),
        Sum("lines_ahead_used", "of these used", False),
        Sum("prefetches", "prefetch hints taken", False),
        Sum("prefetches_dropped", "prefetch hints dropped", False),
        Sum("puts", "puts", False),
        Sum("puts_bypassed", "of these past the cache", False),
        Sum("bytes_put", "bytes put", True),
        Sum("network_puts", "transfers that wrote back", False),
        Sum("bytes_to_network", "bytes written back", True),
        Sum("accumulates", "atomics and strided puts", False),
        Sum("evictions", "pages evicted", False),
        Sum("invalidations", "acquires", False),
        Sum("releases", "releases", False),
        Sum("syncs_passed", "quiets and fences of the program", False),
        Sum("order_quiets", "quiets of the cache", False),
        Sum("order_fences", "fences of the cache", False),
        Sum("polls", "polls fetched anew", False),
    ],
}


# How the library attributes hits of an OpenSHMEM program (docs/report.md).
HITS_ARE_ESTIMATES = (
    "Hits are attributed by a sample, every 47th get; misses are counted one by one."
)


def by_gets(objects: Sequence[SymmetricObject]) -> list[SymmetricObject]:
    """Return the symmetric objects, those with most gets first."""
    return sorted(objects, key=lambda row: (-row["gets"], -row["bytes_to_network"], row["name"]))


def by_dropped(acquires: Sequence[Acquire]) -> list[Acquire]:
    """Return the calls that were acquires, those that dropped most first."""
    return sorted(acquires, key=lambda row: (-row["bytes_dropped"], -row["calls"], row["call"]))


def dropped_of_network(acquires: Sequence[Acquire], totals: Counters) -> str:
    """Say how much of the fetched data acquires dropped."""
    dropped = sum(row["bytes_dropped"] for row in acquires)
    return (
        f"Of {bytes_text(totals.get('bytes_from_network', 0))} fetched, they dropped "
        f"{bytes_text(dropped)}."
    )


def why_left_out(window: Window) -> str:
    """Say why a window is not cached, or why nothing of it is kept across acquires. Empty if all is
    well."""
    incoherent = window.get("incoherent")
    return window.get("bypass") or (
        f"it is, but not across acquires: {incoherent}" if incoherent else ""
    )


def traffic_rows(document: Report) -> list[tuple[str, str]]:
    """Return (label, text) of the totals."""
    totals = document["totals"]
    rows = TRAFFIC.get(api(document), TRAFFIC["MPI"])
    if (
        totals.get("validations", 0) + totals.get("announcements", 0) + totals.get("store_looks", 0)
        > 0
    ):
        rows = rows + TRAFFIC["coherence"]
    return [
        (label, bytes_text(totals.get(name, 0)) if in_bytes else f"{totals.get(name, 0):,}")
        for name, label, in_bytes in rows
    ]


def hits(counters: Counters) -> int:
    return sum(counters.get(name, 0) for name in HITS)


def hit_rate(counters: Counters) -> float:
    """Return the share of gets of other ranks' memory that were hits, 0..1."""
    remote = counters.get("gets", 0) - counters.get("own_gets", 0)
    return hits(counters) / remote if remote > 0 else 0.0


def saved_ns(counters: Counters) -> int:
    """Return the ns that the cache is estimated to have saved; negative if it cost more. Older
    reports never show a loss."""
    return counters.get("saved_ns", 0) - counters.get("lost_ns", 0)


def window_label(id: int) -> str:
    """Return what people call a window: its number, as "7"; or "4:7" if the lowest rank in its
    group is not 0 but 4 (src/telemetry/window_id.h)."""
    rank, number = divmod(id, 2**32)
    return f"{rank}:{number}" if rank else str(number)


def window_name(window: Window) -> str:
    if window["id"] < 0:
        return "left alone"
    return " ".join(filter(None, [window_label(window["id"]), window.get("name")]))


def bytes_text(value: float) -> str:
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    power = 0
    while value >= 1024 and power + 1 < len(units):
        value /= 1024
        power += 1
    return f"{value:.{1 if power else 0}f} {units[power]}"
