# SPDX-License-Identifier: BSD-3-Clause
"""Cost of a hit compared with memcpy, and metadata per entry."""

from .numbers import summarise

SMALL = 4096  # bytes: largest size in hit_minus_memcpy_ns_max


def measure(launch, arguments):
    flags = {"blocks": 200 if arguments.quick else 1000}
    rows = launch.rows(
        "bench_hit", flags, cached=launch.build.preload().exists(), options={"max_storage": "4G"}
    )
    timed = [row for row in rows if "hit_ns" in row]
    results = [result_row(row) for row in timed]
    differences = [
        r["hit_minus_memcpy_ns"] for r in results if r["size"] <= SMALL and r["entries"] == 1000
    ]
    known = [d for d in differences if d is not None]
    summary = {
        "hit_minus_memcpy_ns_max": max(known) if len(known) == len(differences) else None,
        "metadata_bytes_per_entry": None,
    }
    details = {}
    for row in rows:
        if "metadata" in row and row["entries"]:
            summary["metadata_bytes_per_entry"] = row["metadata_bytes"] / row["entries"]
            details["metadata_index_load"] = row["entries"] / row["index_entries"]
            details["stored_bytes_per_8_byte_entry"] = row["stored_bytes"] / row["entries"]
    return results, summary, details


def result_row(row):
    result = {
        "size": int(row["size"]),
        "entries": int(row["entries"]),
        "resident": bool(row["resident"]),
        "memcpy_ns": summarise(row["memcpy_ns"]),
    }
    if not row["hit_ns"]:
        return {**result, "hit_ns": None, "hit_minus_memcpy_ns": None}
    calls = len(row["hit_ns"]) * row["block_operations"]
    return {
        **result,
        "hit_ns": summarise(row["hit_ns"]),
        "hit_minus_memcpy_ns": summarise(row["hit_ns"])["median"] - result["memcpy_ns"]["median"],
        "hit_share": row["hits"] / calls,
        "calls_passed_per_hit": row["calls_passed"] / calls,
    }
