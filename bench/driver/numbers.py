# SPDX-License-Identifier: BSD-3-Clause
"""Medians with 95% confidence intervals by order statistics, which assume no distribution."""

import math


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def summarise(values):
    """Return {median, ci95, repetitions}; the interval's ranks are n/2 -+ 0.98 sqrt(n) (binomial,
    normal approximation)."""
    ordered = sorted(values)
    count = len(ordered)
    below = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
    return {
        "median": median(ordered),
        "ci95": [ordered[below], ordered[count - 1 - below]],
        "repetitions": count,
    }


def batches(values, count=20):
    size = max(1, len(values) // count)
    return [values[i : i + size] for i in range(0, size * (len(values) // size), size)]


def ratio_of_medians(above, below):
    """Return the ratio of two medians measured pair by pair, with an interval from the ratios of 20
    batches of pairs."""
    each = [median(a) / median(b) for a, b in zip(batches(above), batches(below))]
    spread = summarise(each)["ci95"]
    return {"median": median(above) / median(below), "ci95": spread, "repetitions": len(above)}


def paired_difference(above, below):
    return summarise([a - b for a, b in zip(above, below)])


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def fit_cost(times):
    """Return L and G of `L + size*G` fitted to {size: median ns} by least squares of the relative
    error."""
    rows = [(1 / t, size / t) for size, t in times.items()]
    aa, ab, bb = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a, b = (sum(r[i] for r in rows) for i in (0, 1))
    determinant = aa * bb - ab * ab
    return (a * bb - b * ab) / determinant, (aa * b - ab * a) / determinant
