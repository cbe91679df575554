# SPDX-License-Identifier: BSD-3-Clause
"""Cost of recording a trace: bytes per get, and time added to a hit."""

import os
import tempfile

from .numbers import median, summarise

ENTRIES = 1000  # entries of the compared rows: few enough to stay in the processor's caches


def measure(launch, arguments):
    flags = {"blocks": 60 if arguments.quick else 300}
    times = {False: {}, True: {}}
    sizes = []
    for _ in range(3 if arguments.quick else 5):
        for traced, series in times.items():
            with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
                prefix = os.path.join(folder, "hits")
                options = {"max_storage": "4G", **({"trace": prefix} if traced else {})}
                rows = launch.rows("bench_hit", flags, cached=True, options=options)
                for row in rows:
                    if row.get("hit_ns") and row["entries"] == ENTRIES:
                        series.setdefault(int(row["size"]), []).append(median(row["hit_ns"]))
                if traced:
                    sizes.append(bytes_per_get(f"{prefix}.0.nctrace"))
    results = [
        {
            "size": size,
            "hit_ns": summarise(times[False][size]),
            "traced_ns": summarise(times[True][size]),
            "added_ns": median(times[True][size]) - median(times[False][size]),
        }
        for size in sorted(times[False])
    ]
    # For large gets, the scatter of the copy itself hides the overhead.
    small = [row["added_ns"] for row in results if row["size"] <= 1024]
    summary = {
        "trace_added_ns": median(small) if small else None,
        "trace_bytes_per_get": median(sizes),
    }
    return results, summary, {}


def bytes_per_get(path):
    """Return the file's size divided by the number of gets in its last record: kind `end`, then ns,
    gets, dropped."""
    with open(path, "rb") as file:
        data = file.read()
    at = len(data)
    fields = []
    for _ in range(2):  # dropped, gets: the last byte of a field is below 128, the others are not
        start = at - 1
        while data[start - 1] >= 128:
            start -= 1
        fields.append(sum((byte & 127) << 7 * i for i, byte in enumerate(data[start:at])))
        at = start
    return len(data) / max(1, fields[1])
