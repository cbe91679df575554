# SPDX-License-Identifier: BSD-3-Clause
"""UPC: transfers compared with those of the OpenSHMEM below, barriers, collectives, element loops
cached and uncached, a loop over own elements compared with C, and translation."""

import time

from .numbers import geometric_mean, summarise
from .openshmem import CACHED, PLAIN, in_turn, speedup
from .upc_build import UpcLaunch
from .upc_source import write_source

PROGRAM = "bench_upc"
# Numbered as in bench_upc.upc.
GET, PUT, PUT_ALONE, BARRIER, BROADCAST, REDUCE, SUM, FILL, COPY, HISTOGRAM, POLL = range(11)
TRIAD, TRIAD_BLOCKED = 11, 12
SIZES = [1 << k for k in range(23)]  # 1 B .. 4 MiB
QUICK_SIZES = SIZES[::3] + [SIZES[-1]]
COLLECTIVE_SIZES = [8, 64, 512, 4096, 32768, 262144, 1 << 20]
LINES = 5000


def measure(launch, arguments):
    quick = arguments.quick
    launch = UpcLaunch(launch.build)
    rows, summary, details = transfers(launch, quick)
    more, figures = collectives(launch, quick)
    summary.update(figures)
    loop_rows, figures, loop_details = loops(launch, quick)
    summary.update(figures)
    own_rows, figures, own_details = own_elements(launch, quick)
    summary.update(figures)
    row, figures = translation(launch, quick)
    summary.update(figures)
    return (
        [*rows, *more, *loop_rows, *own_rows, row],
        summary,
        {**details, **loop_details, **own_details},
    )


# --- transfers -----------------------------------------------------------------------------------------------------------------


def repetitions(size, quick):
    """Return the number of repetitions that takes a second or two: a transfer takes about 20 us,
    plus 1 ns per byte."""
    least, most = (60, 400) if quick else (200, 4000)
    return max(least, int(most * 20e3 / (20e3 + size)))


def ratio_by_pairs(run):
    """Return the ratio of a call and the one beside it: a disturbance affects both, and large
    transfers most."""
    return summarise([above / below for above, below in zip(run["upc_ns"], run["raw_ns"])])


def transfers(launch, quick):
    """Time each kind with the cache on, when every transfer misses, and off; the figure is the
    worse of the two."""
    rows, means = [], {}
    for name, what in {
        "upc_memget": GET,
        "upc_memput, upc_fence": PUT,
        "upc_memput": PUT_ALONE,
    }.items():
        for side in (PLAIN, CACHED):
            ratios = []
            for size in QUICK_SIZES if quick else SIZES:
                run = launch.side(
                    side,
                    "tcp",
                    PROGRAM,
                    ["--what", what, "--size", size, "--repetitions", repetitions(size, quick)],
                )
                ratios.append(ratio_by_pairs(run))
                rows.append(
                    {
                        "call": name,
                        "cache": "on" if run["caching"] else "off",
                        "bytes": size,
                        "upc_ns": summarise(run["upc_ns"]),
                        "shmem_ns": summarise(run["raw_ns"]),
                        "ratio": ratios[-1],
                    }
                )
            means[what, side] = geometric_mean([ratio["median"] for ratio in ratios])
    summary = {
        "get_overhead_ratio": max(means[GET, side] for side in (PLAIN, CACHED)),
        "put_overhead_ratio": max(means[PUT, side] for side in (PLAIN, CACHED)),
    }
    details = {
        f"{name}_overhead_ratio_{'uncached' if side == PLAIN else 'cached'}": means[what, side]
        for name, what in {"get": GET, "put": PUT, "put_alone": PUT_ALONE}.items()
        for side in (PLAIN, CACHED)
    }
    return rows, summary, details


# --- barriers and collectives --------------------------------------------------------------------------------------------------


def collectives(launch, quick):
    rows, figures = [], {}
    count = 300 if quick else 2000
    for threads in (2, 4):
        found = microseconds(launch, threads, BARRIER, 8, count)
        rows.append({"call": "upc_barrier", "threads": threads, "bytes": 0, "us": found})
        figures[f"barrier_us_{threads}"] = found["median"]
    for name, what in {"upc_all_broadcast": BROADCAST, "upc_all_reduceD": REDUCE}.items():
        for threads in (2, 4):
            for size in COLLECTIVE_SIZES[::2] if quick else COLLECTIVE_SIZES:
                found = microseconds(
                    launch, threads, what, size, max(20, count * 8192 // (8192 + size))
                )
                rows.append({"call": name, "threads": threads, "bytes": size, "us": found})
    return rows, figures


def microseconds(launch, threads, what, size, count):
    run = launch.of(threads).side(
        CACHED, "tcp", PROGRAM, ["--what", what, "--size", size, "--repetitions", count]
    )
    return summarise([ns / 1000 for ns in run["upc_ns"]])


# --- loops ---------------------------------------------------------------------------------------------------------------------


def loops(launch, quick):
    """Time loops over the other thread's array, element by element.

    Only reading counts as a figure: the cost of a put without a cache depends on the network's
    buffers.
    """
    rows, details = [], {}
    for name, what in {
        "sum += a[i]": SUM,
        "a[i] = f(i)": FILL,
        "b[i] = a[i]": COPY,
        "sum += a[i], histogram": HISTOGRAM,
        "strict read": POLL,
    }.items():
        words = ["--what", what, "--elements", 20000 if quick or what == POLL else 100000]
        runs = in_turn(
            {
                side: lambda side=side, words=words: launch.side(side, "tcp", PROGRAM, words)
                for side in (PLAIN, CACHED)
            },
            3 if quick else 7,
        )
        gained = speedup(runs[PLAIN], runs[CACHED])
        rows.append(
            {
                "loop": name,
                "elements": words[-1],
                "uncached_s": summarise([run["seconds"] for run in runs[PLAIN]]),
                "cached_s": summarise([run["seconds"] for run in runs[CACHED]]),
                "speedup": gained,
            }
        )
        details[what] = gained["median"]
    return (
        rows,
        {"sequential_sum_speedup_tcp": details[SUM]},
        {
            "fill_speedup_tcp": details[FILL],
            "copy_speedup_tcp": details[COPY],
            "histogram_speedup_tcp": details[HISTOGRAM],
            "strict_read_speedup_tcp": details[POLL],
        },
    )


# --- own elements --------------------------------------------------------------------------------------------------------------


def own_elements(launch, quick):
    """Time STREAM's triad by upc_forall over the thread's own elements, compared with C: in the
    processor's caches, where instructions count, and outside of them."""
    rows, figures = [], {}
    for what, name in {
        TRIAD: "upc_triad_over_c",
        TRIAD_BLOCKED: "upc_triad_blocked_over_c",
    }.items():
        means = []
        for elements in (4096, 1 << 20):
            words = ["--what", what, "--elements", elements]
            words += ["--repetitions", (50 if quick else 300) * (1 if elements > 4096 else 20)]
            run = launch.side(PLAIN, "tcp", PROGRAM, words)
            ratio = ratio_by_pairs(run)
            rows.append(
                {
                    "loop": "a[i] = b[i] + alpha * c[i]",
                    "block": 1 if what == TRIAD else 4096,
                    "elements": elements,
                    "upc_ns": summarise(run["upc_ns"]),
                    "c_ns": summarise(run["raw_ns"]),
                    "ratio": ratio,
                }
            )
            means.append(ratio["median"])
        figures[name] = max(means)
    return (
        rows,
        {"upc_triad_over_c": figures["upc_triad_over_c"]},
        {"upc_triad_blocked_over_c": figures["upc_triad_blocked_over_c"]},
    )


# --- translation ---------------------------------------------------------------------------------------------------------------


def translation(launch, quick):
    """Time the translation of a generated source by `upcc --translate`, including the start of
    Python and the preprocessor."""
    source = write_source(launch.folder / "translated.upc", LINES)
    took = []
    for _ in range(3 if quick else 7):
        begin = time.monotonic()
        launch.upcc(["--translate", source, "-o", source.with_suffix(".c")], "translating")
        took.append(time.monotonic() - begin)
    found = summarise(took)
    lines = len(source.read_text(encoding="utf-8").splitlines())
    return {"translated": source.name, "lines": lines, "seconds": found}, {
        f"translate_{LINES}_lines_s": found["median"]
    }
