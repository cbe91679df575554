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
HITS = ("hits_full", "hits_pending", "hits_partial")


def hits(counters):
    return sum(counters.get(name, 0) for name in HITS)


def hit_rate(counters):
    """Share of gets that were hits, 0..1."""
    return hits(counters) / counters["gets"] if counters.get("gets") else 0.0


def bytes_text(value):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return None
