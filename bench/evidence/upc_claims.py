# SPDX-License-Identifier: BSD-3-Clause
"""Claims of the thesis on a UPC runtime (2020), answered by UPC compared with C and plain OpenSHMEM
on this machine."""

from driver.numbers import geometric_mean

from .answer import at_least, at_most, each, given, one
from .claim import Claim
from .table import values, where


def by_cache(data, call, measure):
    rows = where(data["transfers"], call=call)
    if not rows:
        raise LookupError(call)
    return {cache: measure(where(rows, cache=cache)) for cache in values(rows, "cache")}


def transfers(data, call):
    """Return the geometric mean over all sizes of the ratio to plain OpenSHMEM."""
    found = by_cache(data, call, lambda rows: geometric_mean([row["ratio"] for row in rows]))
    small = by_cache(data, call, lambda rows: one(rows, "ratio", bytes=1))
    large = by_cache(data, call, lambda rows: max(rows, key=lambda row: row["bytes"])["ratio"])
    text = {
        f"cache {cache}": f"{added(mean)} in the mean, 1 B {added(small[cache])}, 4 MiB {added(large[cache])}"
        for cache, mean in found.items()
    }
    return at_most(1.03, max(found.values()), "time over OpenSHMEM's - " + each(text))


def added(ratio):
    percents = round(100 * (ratio - 1), 1)
    return f"{percents:+.1f}%" if percents else "0.0%"


def by_threads(data, program, column, above, below):
    """Return {threads: ratio of one case's value to another's}."""
    rows = where(data["kernels"], program=program)
    if not rows:
        raise LookupError(program)
    return {
        threads: one(rows, column, threads=threads, case=above)
        / one(rows, column, threads=threads, case=below)
        for threads in values(rows, "threads")
    }


def said(found):
    """Format values by threads: "0.96 (1), 1.02 (2)"."""
    return ", ".join(f"{value:.2f} ({threads})" for threads, value in found.items())


def cpi(data):
    found = by_threads(data, "cpi", "seconds", "UPC", "C, one thread's share")
    alone = {threads: value for threads, value in found.items() if threads <= 2}
    return at_most(
        1.0264,
        max(alone.values()),
        "time over C's, by threads (4 share two cores) - " + said(found),
    )


def triad(data):
    found = by_threads(
        data, "stream-triad", "mb_per_s", "pointers to shared", "private pointers, as C"
    )
    return at_least(0.95, min(found.values()), "bandwidth over C's, by threads - " + said(found))


def random_access(data):
    cases = {
        case: by_threads(data, "random-access", "updates_per_s", case, "OpenSHMEM in C")
        for case in ("UPC", "UPC, cache", "UPC, upc_atomic")
    }
    text = each({case: said(found) for case, found in cases.items()})
    return given("updates over OpenSHMEM's, by threads - " + text)


def wrong(data):
    rows = [row for row in data["kernels"] if row.get("wrong_percent") is not None]
    if not rows:
        raise LookupError("wrong_percent")
    worst = max(rows, key=lambda row: row["wrong_percent"])
    return at_most(
        1,
        worst["wrong_percent"],
        f"at most {worst['wrong_percent']:.1g}% ({worst['case'].split(':')[0]}, {worst['threads']} threads)",
    )


def claim(figure, text, answer):
    return Claim(figure, "UPC thesis, VI", text, answer)


CLAIMS = (
    claim(
        "transfers",
        "A get takes 0.03% (Open MPI) and 1.7% (MVAPICH2-X) longer than in Berkeley UPC; our goal: at most 3% over plain OpenSHMEM",
        lambda data: transfers(data, "upc_memget"),
    ),
    claim(
        "transfers",
        "A put of 1 B takes 3.2 to 3.8% less than in Berkeley UPC; our goal: at most 3% over plain OpenSHMEM",
        lambda data: transfers(data, "upc_memput, upc_fence"),
    ),
    claim(
        "kernels",
        "cpi differs by less than 2.64% from Berkeley UPC (here: from C)",
        cpi,
    ),
    claim(
        "kernels",
        "STREAM's triad: 63% more bandwidth than Berkeley UPC at 64 threads, 4.6 to 36% less at 128; our goal: 95% of C's",
        triad,
    ),
    claim(
        "kernels",
        "RandomAccess performs well beside Berkeley UPC while all threads are near the network card (no number; here: beside OpenSHMEM in C)",
        random_access,
    ),
    claim(
        "kernels",
        "RandomAccess loses updates; HPC Challenge allows an error in 1% of the words (no number in the text)",
        wrong,
    ),
)
