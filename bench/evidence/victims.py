# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 10 and 11: the victim selection schemes with a full storage, measured on the engine
alone."""

from . import style
from .figure import Figure, Study
from .table import values, where

SCHEMES = {
    "clampi": "Full",
    "clampi-temporal": "Temporal",
    "clampi-positional": "Positional",
    "rate": "Nearcache (rate)",
}
# of the set's bytes: the paper does not state its |S_w|, so there is room for a quarter
PERCENT = 25
INDICES = (1000, 1500, 2000, 3000, 4000, 6000, 8000)


def measure(laboratory):
    flags = {
        "policies": ",".join(SCHEMES),
        "percent": PERCENT,
        "samples": 100000,
        "look": 1000 if laboratory.quick else 100,
    }
    laboratory.say("replaying the micro-benchmark in the engine", 0.1)
    how = {"network": "shared memory", "cached": False}
    timeline = laboratory.launch.rows(
        "bench_victims", {**flags, "indices": 1500, "every": 500}, **how
    )
    by_index = laboratory.launch.rows(
        "bench_victims", {**flags, "indices": ",".join(map(str, INDICES))}, **how
    )
    return {
        "10": [
            {"scheme": SCHEMES[row["policy"]], "get": int(at), "occupied": fill}
            for row in timeline
            for at, fill in zip(row["at"], row["fill"])
        ],
        "11": [summary(row) for row in by_index],
    }


def summary(row):
    # `rate` samples entries in storage, not slots of the index, so sparseness does not affect it.
    sampled = row["policy"] != "rate"
    return {
        "scheme": SCHEMES[row["policy"]],
        "index": int(row["index"]),
        "storage": int(row["storage"]),
        "visited": row["visited"] if sampled else None,
        "visited_entries": row["visited_used"] if sampled else None,
        "hit_ratio": row["hits"] / row["gets"],
        "free": 1 - row["mean_fill"],
        "entries": row["mean_entries"],
        "conflicting_share": row["conflicting"] / row["gets"],
        "evictions": int(row["evictions"]),
    }


def draw_occupancy(rows):
    figure, (axes,) = style.panels(1, width=10)
    for place, scheme in enumerate(values(rows, "scheme")):
        style.line(
            axes,
            where(rows, scheme=scheme),
            "get",
            "occupied",
            scheme,
            place,
            marker=None,
            linewidth=1,
        )
    axes.set_xlabel("number of the get")
    axes.set_ylabel("share of the storage that is occupied")
    axes.set_ylim(0.8, 1)
    axes.legend(loc="lower center", ncols=4)
    return figure


def draw_by_index(rows):
    figure, (visits, hits, free) = style.panels(3, width=4.6)
    full = where(rows, scheme="Full")
    style.line(visits, full, "index", "visited", "slots visited", 0)
    style.line(visits, full, "index", "visited_entries", "of them with an entry", 1)
    visits.set_ylabel("mean of one eviction (Full)")
    for place, scheme in enumerate(values(rows, "scheme")):
        style.line(hits, where(rows, scheme=scheme), "index", "hit_ratio", scheme, place)
        style.line(free, where(rows, scheme=scheme), "index", "free", scheme, place)
    hits.set_ylabel("hits / gets")
    free.set_ylabel("mean share of the storage that is free")
    free.set_ylim(0, None)
    for axes in (visits, hits, free):
        axes.set_xlabel("entries of the index")
        axes.legend()
    visits.set_ylim(0, None)
    return figure


STUDY = Study(
    "victims",
    (
        Figure(
            "10",
            "fig10_occupancy",
            "Occupied storage by get and victim scheme, index 1,500",
            "Section IV.A.3: with positional scores (Full, Positional), around 90% of the storage "
            "stays occupied; with Temporal alone, external fragmentation grows with every get.",
            "The micro-benchmark (1,000 gets of 2^0..2^16 B, 100,000 samples of N(500, 250)), "
            f"given to the library's engine directly, with storage for {PERCENT}% of the set's "
            "bytes. Full, Temporal and Positional are the paper's schemes in our engine, whose "
            "storage has granules of 16 B; `rate` is the default. There is no network, so the "
            "figures are the same in every run.",
            draw_occupancy,
        ),
        Figure(
            "11",
            "fig11_victims",
            "Visited entries, hits and free space by victim scheme and index size",
            "Section IV.A.3, M = 16: as the index gets sparse, more slots than M are visited, and "
            "fewer of them hold an entry. Full has the most hits at every index size, Temporal "
            "the most free space.",
            "As Fig. 10. Visited slots are the expectation over all starting slots, from the "
            "engine's own index at every 100th get that found no room (1,000th with `--quick`). "
            "The index would shrink where it is sparse; here it is held fixed.",
            draw_by_index,
        ),
    ),
    measure,
    (3, 8),
)
