# SPDX-License-Identifier: BSD-3-Clause
"""The cache paper's synthetic programs (PGAS 2015, section V.A): copy, rand-gets, rand-puts and
prefetch, plain and cached in turn."""

from .numbers import median, summarise
from .openshmem import CACHED, NETWORKS, PLAIN, beside, in_turn, seconds, speedup

DISTANCES = (0, 1, 2, 4, 8, 12, 14, 16, 24, 32, 48, 64)
QUICK_DISTANCES = (0, 4, 14, 32, 64)
ADAPTIVE = -1


def measure(launch, arguments, networks=None):
    quick = arguments.quick
    networks = networks or (["tcp"] if quick else list(NETWORKS))
    results, summary, details = [], {}, {}
    for network in networks:
        rows, figures, more = on(launch, network, quick)
        results += [{"network": network, **row} for row in rows]
        if network == "tcp":
            summary, details = figures, more
        else:
            details[network] = figures
    # Exactly one pass over the arrays, so that the counts are the transfers of 10,000 elements.
    totals = launch.counted("copy")
    summary = {
        "copy_speedup_tcp": summary.pop("copy_speedup_tcp"),
        "copy_gets": totals["network_gets"] + totals["bypassed"],
        "copy_puts": totals["network_puts"] + totals["puts_bypassed"],
        **summary,
    }
    return results, summary, details


def on(launch, network, quick):
    """Return rows, summary and details of one network."""
    few, many = (3, 5) if quick else (5, 15)
    copies = pair(launch, network, few, "copy", "--repetitions", 3 if quick else 11)
    # Where nothing can be gained, both sides run in turn within a run: separate runs differ by more
    # than the effect in question.
    gets, puts = (
        beside(launch, network, program, [], {}, few)[0] for program in ("rand_gets", "rand_puts")
    )
    each = in_turn(
        {
            PLAIN: lambda: launch.side(PLAIN, network, "rand_puts", ["--each"]),
            CACHED: lambda: launch.side(CACHED, network, "rand_puts"),
        },
        few,
    )
    rows = [
        row("copy", copies),
        {"program": "rand_gets", **gets},
        {"program": "rand_puts", **puts},
        row("rand_puts, plain with a quiet each", each),
    ]
    swept = sweep(launch, network, QUICK_DISTANCES if quick else DISTANCES, many)
    prefetch_rows, prefetch_figures, details = prefetch(swept)
    figures = {
        "copy_speedup_tcp": rows[0]["speedup"]["median"],
        "rand_gets_ratio": 1 / gets["speedup"]["median"],
        "rand_puts_speedup": rows[3]["speedup"]["median"],
        "rand_puts_over_one_quiet": 1 / puts["speedup"]["median"],
        **prefetch_figures,
    }
    return rows + prefetch_rows, figures, details


def pair(launch, network, repetitions, program, *words):
    return in_turn(
        {
            side: lambda side=side: launch.side(side, network, program, words)
            for side in (PLAIN, CACHED)
        },
        repetitions,
    )


def sweep(launch, network, distances, repetitions):
    runs = {PLAIN: lambda: launch.side(PLAIN, network, "prefetch", ["--distance", 0])}
    for k in (*distances, ADAPTIVE):
        runs[k] = lambda k=k: launch.side(CACHED, network, "prefetch", ["--distance", k])
    return in_turn(runs, repetitions)


def row(program, runs):
    return {
        "program": program,
        "plain_s": summarise(seconds(runs[PLAIN])),
        "cached_s": summarise(seconds(runs[CACHED])),
        "speedup": speedup(runs[PLAIN], runs[CACHED]),
    }


def prefetch(swept):
    """Return the total speedup by distance, and how the adaptive distance compares with the best
    fixed one."""
    times = {k: seconds(runs) for k, runs in swept.items() if k not in (PLAIN, ADAPTIVE)}
    best = best_distance(times)
    adaptive = seconds(swept[ADAPTIVE])
    rows = [
        {
            "program": "prefetch",
            "distance": "adaptive" if k == ADAPTIVE else k,
            "plain_s": summarise(seconds(swept[PLAIN])),
            "cached_s": summarise(seconds(runs)),
            "speedup": speedup(swept[PLAIN], runs),
        }
        for k, runs in swept.items()
        if k != PLAIN
    ]
    plain, least = median(seconds(swept[PLAIN])), median(times[best])
    over_best = summarise(over_best_of_other_rounds(times, adaptive))
    figures = {
        "prefetch_best_speedup": plain / min(least, median(adaptive)),
        "prefetch_adaptive_over_best": over_best["median"],
    }
    details = {
        "prefetch_best_distance": best,
        "prefetch_speedup_without_hints": plain / median(times[0]),
        "prefetch_best_over_no_hints": median(times[0]) / least,
        "prefetch_adaptive_over_best": over_best,
        "prefetch_adaptive_over_least_median": median(adaptive) / least,
        "prefetch_adaptive_distance_at_end": median(
            [run["distance_at_end"] for run in swept[ADAPTIVE]]
        ),
    }
    return rows, figures, details


def best_distance(times):
    return min(times, key=lambda k: median(times[k]))


def over_best_of_other_rounds(times, adaptive):
    """Return the ratio of the adaptive to the best fixed distance, round by round.

    The best distance is chosen by the other rounds. The minimum of many scattered times is lower
    than any of them will be again, so a distance chosen by the round in which it is compared would
    seem better than it is.
    """
    ratios = []
    for at, adapted in enumerate(adaptive):
        best = best_distance(
            {k: values[:at] + values[at + 1 :] or values for k, values in times.items()}
        )
        ratios.append(adapted / times[best][at])
    return ratios
