# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a hit and of the memcpy beside it, counted by valgrind and therefore free of
noise."""

import pathlib
import re
import shutil
import tempfile

from .build import Failure

BLOCKS = 40
SIZES = (8, 512, 4096)


def counting(function, out):
    """Return the words that run a program and count, at each rank, what `function` and its callees
    execute, in files that begin with `out`."""
    return [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={out}.%p",
        "--collect-atstart=no",
        f"--toggle-collect={function}",
    ]


def counted(out):
    """Return the instructions of the rank that executed most."""
    out = pathlib.Path(out)
    totals = [
        re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)
        for path in out.parent.glob(f"{out.name}.*")
    ]
    found = [int(total.group(1)) for total in totals if total]
    if not found:
        raise Failure("valgrind counted nothing")
    return max(found)


def count(launch, function, size, folder):
    out = pathlib.Path(folder) / f"{function}-{size}"
    rows = launch.rows(
        "bench_hit",
        {"sizes": size, "entries": 1000, "blocks": BLOCKS, "metadata-index": 0},
        wrap=counting(function, out),
        cached=launch.build.preload().exists(),
        # Time is stretched under valgrind, so the clock must not trigger calls for progress.
        options={"max_storage": "1G", "progress_time": "1000s"},
    )
    # The warm-up's blocks are counted, too.
    operations = (BLOCKS + BLOCKS // 10 + 1) * rows[0]["block_operations"]
    return counted(out) / operations


def measure(launch, _arguments):
    if not shutil.which("valgrind"):
        raise Failure("instructions: valgrind is not installed")
    results = []
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
            hit = count(launch, "bench_hit_block", size, folder)
            copy = count(launch, "bench_memcpy_block", size, folder)
        results.append(
            {
                "size": size,
                "hit_instructions": hit,
                "memcpy_instructions": copy,
                "difference": hit - copy,
            }
        )
    return results, {}, {}
