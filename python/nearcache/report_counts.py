"""What the counters of a report mean, and the figures made of them."""

ACCESS_TYPES = [  # counter, what a reader should know; the order is that of the paper (CLaMPI, section III.B)
    ("hits_full", "hit, full", "served from the cache"),
    ("hits_pending", "hit, pending", "joined a get that was still under way"),
    ("hits_partial", "hit, partial", "head served, tail fetched"),
    ("direct", "miss, direct", "cached, room was free"),
    ("conflicting", "miss, conflicting", "cached after evicting from the index"),
    ("capacity", "miss, capacity", "cached after evicting from storage"),
    ("failing", "miss, failing", "not cached"),
    ("bypassed", "bypassed", "passed straight to MPI"),
]
OPENSHMEM_TYPES = [  # of the page cache: gets, then puts
    ("hits_full", "hit", "served from the cache"),
    ("direct", "miss", "fetched, with what surrounds it"),
    ("bypassed", "past the cache", "large, uncached, or within reach of loads and stores"),
]
HITS = ("hits_full", "hits_pending", "hits_partial")


def api(document):
    """What the program was written for; reports of before OpenSHMEM do not say."""
    return document.get("api") or "MPI"


def access_types(document):
    return OPENSHMEM_TYPES if api(document) == "OpenSHMEM" else ACCESS_TYPES


def processes(document):
    """What one process is called, and several."""
    return ("PE", "PEs") if api(document) == "OpenSHMEM" else ("rank", "ranks")


# Sums worth a line below the gets: (counter, label, in bytes).
TRAFFIC = {
    "MPI": [
        ("bytes_requested", "bytes requested", True),
        ("bytes_from_cache", "bytes from the cache", True),
        ("bytes_from_network", "bytes from the network", True),
        ("puts", "puts", False),
        ("accumulates", "accumulates", False),
        ("own_gets", "gets of own memory", False),
        ("evictions", "evictions", False),
        ("invalidations", "times dropped", False),
        ("write_drops", "entries overwritten", False),
        ("syncs_served", "flushes served", False),
        ("syncs_passed", "synchronisations passed to MPI", False),
        ("progress_calls", "progress calls", False),
        ("adaptations", "adaptations", False),
    ],
    "coherence": [
        ("hits_kept", "hits across acquires", False),
        ("validations", "validations", False),
        ("regions_changed", "regions found changed", False),
        ("announcements", "writes announced", False),
        ("store_looks", "looks at own stores", False),
        ("store_changes", "regions found stored to", False),
        ("volatile_regions", "regions volatile at the end", False),
    ],
    "OpenSHMEM": [
        ("bytes_requested", "bytes got", True),
        ("bytes_from_cache", "of these from the cache", True),
        ("bytes_from_network", "bytes from the network", True),
        ("network_gets", "transfers that fetched", False),
        ("readaheads", "transfers ahead of the program", False),
        ("lines_ahead", "lines fetched ahead", False),
        ("lines_ahead_used", "of these used", False),
        ("prefetches", "prefetch hints taken", False),
        ("prefetches_dropped", "prefetch hints dropped", False),
        ("puts", "puts", False),
        ("puts_bypassed", "of these past the cache", False),
        ("bytes_put", "bytes put", True),
        ("network_puts", "transfers that wrote back", False),
        ("bytes_to_network", "bytes written back", True),
        ("accumulates", "atomics and strided puts", False),
        ("evictions", "pages evicted", False),
        ("invalidations", "acquires", False),
        ("releases", "releases", False),
        ("syncs_passed", "quiets and fences of the program", False),
        ("order_quiets", "quiets of the cache", False),
        ("order_fences", "fences of the cache", False),
        ("polls", "polls fetched anew", False),
    ],
}


def why_left_out(window):
    """Why a window is not cached; or is, but nothing of it is kept across acquires. Empty if all is well."""
    incoherent = window.get("incoherent")
    return window.get("bypass") or (
        f"it is, but not across acquires: {incoherent}" if incoherent else ""
    )


def traffic_rows(document):
    """(label, text) of the sums."""
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


def hits(counters):
    return sum(counters.get(name, 0) for name in HITS)


def hit_rate(counters):
    """Share of the gets of other ranks' memory that were hits, 0..1."""
    remote = counters.get("gets", 0) - counters.get("own_gets", 0)
    return hits(counters) / remote if remote > 0 else 0.0


def saved_ns(counters):
    """What the cache is estimated to have saved; below 0 where it cost more. Older reports know no loss."""
    return counters.get("saved_ns", 0) - counters.get("lost_ns", 0)


def window_name(window):
    if window["id"] < 0:
        return "left alone"
    return f"{window['id']} {window['name']}" if window.get("name") else str(window["id"])


def bytes_text(value):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return None
