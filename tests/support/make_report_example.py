"""Writes report_example_v2.json: a report as the library would write it, whose figures agree with each other.

    python3 tests/support/make_report_example.py > tests/cli/report_example_v2.json

A graph program on 8 ranks: two windows that warm up, a third that is not cached, storage and index that grow at first.
Integers are split by weights, so that each sum (over ranks, slots, sizes, targets) is that of the totals.
"""

import json
import math
import random
import sys
from statistics import fmean

ACCESS = (
    "hits_full",
    "hits_pending",
    "hits_partial",
    "direct",
    "conflicting",
    "capacity",
    "failing",
    "bypassed",
)
SLOTS, SLOT_NS = 60, 32_000_000
FIRST_STORAGE, FIRST_INDEX, GROWTHS = 1 << 20, 4096, 3
SIZES = {
    8: 52,
    16: 9,
    32: 8,
    64: 8,
    128: 7,
    256: 6,
    512: 4,
    1024: 3,
    2048: 1.6,
    4096: 0.9,
    8192: 0.4,
    16384: 0.1,
}


def split(total, weights):
    """Whole numbers in the proportions of `weights` whose sum is `total`."""
    whole, edges, so_far = math.fsum(weights), [0], 0.0
    for weight in weights:
        so_far += weight
        edges.append(round(total * so_far / whole))
    return [after - before for before, after in zip(edges, edges[1:])]


def slot_of(share, chance):
    """Access types of one rank's gets in the slot at `share` of the run."""
    gets = int(
        chance.uniform(0.9, 1.1)
        * (6200 if share > 0.12 else 2600)
        * (0.25 if 0.55 < share < 0.6 else 1)
    )
    warm = 1 - math.exp(-9 * share)
    second = share >= 0.6  # a second phase asks for other data at first
    if second:
        warm = 1 - 0.45 * math.exp(-30 * (share - 0.6))
    weights = [
        0.84 * warm,
        0.035 * (1 - warm) + 0.004,
        0.006,
        0.9 * (1 - warm) + 0.01,
        0.05 * (1 - warm),
        (0.16 if share < 0.3 else 0.05) * (1 - warm) + 0.012,
        0.02 + 0.05 * (1 - warm),
        0.02,
    ]
    return split(gets, weights)


def counters_of(access, levels, wall):
    """All counters of a rank from its access types and its levels at the end."""
    c = dict(zip(ACCESS, access))
    gets, hits = sum(access), sum(access[:3])
    requested = (
        sum(size * count for size, count in zip(SIZES, split(gets, SIZES.values()))) * 3 // 4
    )
    cached = requested * hits // gets
    c = {
        "gets": gets,
        **c,
        "puts": 12,
        "accumulates": 0,
        "bytes_requested": requested,
        "bytes_from_cache": cached,
        "bytes_from_network": requested - cached,
        "evictions": c["capacity"] * 5 // 4 + c["conflicting"],
        "invalidations": 1,
        "write_drops": 0,
        "syncs_served": hits * 97 // 100,
        "syncs_passed": gets - hits,
        "progress_calls": hits // 16,
        "adaptations": 2 * GROWTHS,
        "remote_ns": (gets - hits) * 9100,
        "saved_ns": int(hits * 8900 * 0.8),
    }
    assert c["remote_ns"] < wall * 1e9
    return {**c, **levels, "metadata_bytes": levels["index_entries"] * 72}


def add(rows):
    rows = list(rows)
    return {name: sum(row[name] for row in rows) for name in rows[0]}


def levels_at(share, entries):
    """Storage and index of a rank: both double GROWTHS times in the first third."""
    steps = min(GROWTHS, int(share * 3 * GROWTHS) + (share > 0.02))
    storage = FIRST_STORAGE << steps
    stored = min(int(storage * 0.94), entries * 210)
    return {
        "entries": min(entries, stored // 210),
        "index_entries": FIRST_INDEX << steps,
        "storage_bytes": storage,
        "stored_bytes": stored,
    }


def run(ranks, chance):
    """Per slot and rank: cumulative access types, levels."""
    slots, access = [], [[0] * len(ACCESS) for _ in range(ranks)]
    for slot in range(SLOTS):
        for rank in range(ranks):
            more = slot_of((slot + 0.5) / SLOTS, chance)
            access[rank] = [a + b * (10 + (rank * 7) % 5) // 12 for a, b in zip(access[rank], more)]
        slots.append([(list(a), levels_at((slot + 0.5) / SLOTS, a[3] + a[4])) for a in access])
    return slots


def timeline(slots):
    points = []
    for row in slots:
        access = [sum(values) for values in zip(*(a for a, _ in row))]
        levels = add(level for _, level in row)
        points.append(
            {
                "gets": sum(access),
                **dict(zip(ACCESS, access)),
                **{
                    name: levels[name]
                    for name in ("storage_bytes", "stored_bytes", "index_entries", "entries")
                },
            }
        )
    return {"slot_ns": SLOT_NS, "points": points}


def reuse(gets):
    classes, total = [], 0
    for i in range(13):
        times = 1 << i
        keys = round(gets * 0.075 * 0.52**i)
        asked = keys if i == 0 else min(int(keys * times * 1.4), keys * (2 * times - 1))
        if total + asked > gets:  # the last class takes what is left
            asked, keys = gets - total, max(1, (gets - total) * 10 // (14 * times))
        total += asked
        classes.append({"times": times, "keys": keys, "gets": asked})
        if total == gets:
            break
    return {"sampled": 0.015625, "classes": classes}


def details(slots, totals, ranks):
    hits = sum(totals[name] for name in ACCESS[:3])
    sizes = split(totals["gets"], SIZES.values())
    # Small gets are row offsets, asked for most often; lists of neighbours repeat less.
    size_hits = [
        min(count, part)
        for count, part in zip(
            sizes, split(hits, [w * (1.04 if s < 256 else 0.8) for s, w in SIZES.items()])
        )
    ]
    # the vertices of highest degree are on the first ranks
    near = [1 + 2.5 / (1 + rank) for rank in range(ranks)]
    columns = [split(totals[name], near) for name in ("gets", "bytes_requested")]
    warm = [
        split(total, [weight * (1 + 0.02 * i) for i, weight in enumerate(near)])
        for total in (hits, totals["bytes_from_cache"])
    ]
    targets = [
        {"rank": rank, "gets": g, "hits": min(g, h), "bytes": b, "bytes_from_cache": min(b, c)}
        for rank, (g, b, h, c) in enumerate(zip(*columns, *warm))
    ]
    adaptations = []
    for rank in range(ranks):
        for step in range(2 * GROWTHS):
            at = int((0.02 + step / 18 + 0.006 * ((rank * 5) % 7)) * SLOTS * SLOT_NS)
            adaptations.append(
                {
                    "rank": rank,
                    "window": step % 2,
                    "ns": at,
                    "index_entries": FIRST_INDEX << ((step + 1) // 2),
                    "storage_bytes": FIRST_STORAGE // 2 << (1 + step // 2),
                }
            )
    return {
        "timeline": timeline(slots),
        "sizes": [{"bytes": s, "gets": g, "hits": h} for s, g, h in zip(SIZES, sizes, size_hits)],
        "reuse": reuse(totals["gets"] - totals["bypassed"]),
        "targets": targets,
        "adaptations": adaptations,
    }


def windows(totals, ranks):
    def of(share):
        return {name: int(value * share) for name, value in totals.items()}

    rest = {name: totals[name] - of(0.62)[name] for name in totals}
    idle = dict.fromkeys(totals, 0)
    rows = [
        ("offsets", "always", None, of(0.62)),
        ("neighbours", "always", None, rest),
        ("", "transparent", "dynamic window [not asked for]", idle),
    ]
    return [
        {
            "id": i,
            "name": name,
            "mode": mode,
            "policy": "rate",
            "ranks": ranks,
            "bypass": bypass,
            "counters": counters,
        }
        for i, (name, mode, bypass, counters) in enumerate(rows)
    ]


def make(ranks=8, seed=1):
    """The report as a dict."""
    chance = random.Random(seed)
    slots = run(ranks, chance)
    walls = [SLOTS * SLOT_NS / 1e9 + 0.01 * chance.random() for _ in range(ranks)]
    per_rank = [
        {
            "rank": rank,
            "wall_seconds": round(wall, 6),
            "counters": counters_of(access, levels, 8 * wall),
        }
        for rank, ((access, levels), wall) in enumerate(zip(slots[-1], walls))
    ]
    totals = add(row["counters"] for row in per_rank)

    def spread(values):
        return {"min": min(values), "mean": fmean(values), "max": max(values)}

    saved, wall = (
        totals["saved_ns"] / ranks / 1e9,
        spread([row["wall_seconds"] for row in per_rank]),
    )
    return {
        "format": "nearcache-report",
        "version": 2,
        "nearcache": "0.1.0",
        "mpi": "MPICH Version:      5.0.2\nMPICH Release date: 2026",
        "host": "node7",
        "program": "lcc",
        "command": f"./lcc --rmat 20 {'--progress' if ranks > 2 else ''}".strip(),
        "started": "2026-11-23T06:00:00Z",
        "job": "4711.0",
        "threads": "single",
        "nodes": max(1, ranks // 32),
        "ranks": ranks,
        "modelled": None,
        "options": {
            "mode": "always",
            "policy": "rate",
            "storage": "1048576",
            "index": "4096",
            "adaptive": "true",
            "report": "lcc.json",
        },
        "wall_seconds": wall,
        "totals": totals,
        "spread": {name: spread([row["counters"][name] for row in per_rank]) for name in totals},
        "per_rank": per_rank,
        "windows": windows(totals, ranks),
        "verdict": {
            "helped": True,
            "saved_seconds": saved,
            "text": f"hits saved an estimated {saved:.3f} s per rank; the run took {wall['mean']:.3f} s",
        },
        "details": details(slots, totals, ranks),
    }


def make_openshmem(pes=8, objects=20):
    """The same run as if it were an OpenSHMEM program's: hits, misses and what goes past the cache."""
    document = make(pes)
    kept = ("hits_full", "direct", "bypassed")

    def fewer(counters):
        joined = sum(counters[name] for name in ACCESS if name not in kept)
        return {
            **counters,
            **{name: 0 for name in ACCESS if name not in kept},
            "direct": counters["direct"] + joined,
        }

    details = document["details"]
    details["timeline"]["points"] = [fewer(point) for point in details["timeline"]["points"]]
    totals = fewer(document["totals"])
    weights = [1 / (1 + i) for i in range(objects)]
    columns = [
        split(totals[name], weights)
        for name in ("gets", "hits_full", "bypassed", "bytes_from_network", "evictions")
    ]
    details["objects"] = [
        {
            "name": f"block {i} of the symmetric heap (65536 B)" if i else "row_offsets",
            "bytes": 65536,
            "gets": gets,
            "hits": hits,
            "bypassed": bypassed,
            "bytes_from_network": fetched,
            "bytes_to_network": written,
        }
        for i, (gets, hits, bypassed, fetched, written) in enumerate(zip(*columns))
    ]
    details["acquires"] = [
        {"call": "shmem_barrier_all", "calls": 12 * pes, "bytes_dropped": 31 << 20},
        {"call": "shmem_malloc", "calls": 2 * pes, "bytes_dropped": 0},
        {"call": "shmem_wait_until", "calls": 300 * pes, "bytes_dropped": 2 << 20},
    ]
    del details["reuse"], details["adaptations"]
    document["windows"] = [
        {
            "id": 0,
            "name": "default context",
            "mode": "on",
            "policy": "2Q",
            "ranks": pes,
            "bypass": None,
            "incoherent": None,
            "unshared": None,
            "counters": totals,
        }
    ]
    document["verdict"]["text"] = document["verdict"]["text"].replace("rank", "PE")
    document.update(
        version=3,
        api="OpenSHMEM",
        mpi="An OpenSHMEM, OpenSHMEM 1.4",
        totals=totals,
        per_rank=[{**row, "counters": fewer(row["counters"])} for row in document["per_rank"]],
    )
    document["spread"] = {
        name: {
            "min": min(values),
            "mean": fmean(values),
            "max": max(values),
        }
        for name in totals
        for values in [[row["counters"][name] for row in document["per_rank"]]]
    }
    return document


def text(document):
    """JSON with a row per line where a table is: short, and readable in a diff."""
    lines = json.dumps(document, indent=1).splitlines()
    compact = json.dumps(document["details"], separators=(", ", ": ")).replace("}, {", "},\n  {")
    head = "\n".join(
        lines[: next(i for i, line in enumerate(lines) if line.startswith(' "details"'))]
    )
    return f'{head}\n "details": {compact}\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text(make()))
