# SPDX-License-Identifier: BSD-3-Clause
"""The verdict in plain words, and the key figures."""

from __future__ import annotations

from ..report_counts import api, by_dropped, bytes_text, hit_rate, hits, processes, saved_ns
from ..report_parts import Details, Report, Verdict, Window
from ..values import MOST_INDEX, MOST_STORAGE, size
from .histograms import repeats
from .scale import percent, seconds_text

# Shares of gets from which a kind of miss deserves a sentence: the thresholds at which the
# library's tuner acts.
WORTH_SAYING = 0.05
WORTH_NAMING = 0.25  # share of the fetched bytes dropped by acquires
# Storage filled to this share has no room for further requests: the free space lies between
# entries.
FULL = 0.75


def headline(document: Report) -> str:
    """Say how much faster or slower the run was than an uncached one would have been, by the
    library's estimate."""
    verdict, totals = document["verdict"], document["totals"]
    if totals.get("hits_old"):
        return "The program breaks the cache's contract: it was served stale data."
    saved, wall = verdict["saved_seconds"], document["wall_seconds"]["mean"]
    lost = not verdict["helped"] and saved < 0
    uncached = wall + saved
    # an estimate of zero, or of many times the run time, gives no meaningful factor
    if not (verdict["helped"] or lost) or wall <= 0 or not 0 < uncached < 1000 * wall:
        return fallback(verdict)
    factor = uncached / wall if verdict["helped"] else wall / uncached
    how = "faster" if verdict["helped"] else "slower"
    if factor < 1.05:
        return f"{fallback(verdict)[:-1]}: less than 5% {how} than uncached ({scale_seconds(uncached)}, estimated)."
    times = f"{factor:.1f}" if factor < 9.95 else f"{factor:.0f}"
    return f"About {times} times {how} than uncached ({scale_seconds(uncached)}, estimated)."


def scale_seconds(value: float) -> str:
    return seconds_text(1e9 * value)


def fallback(verdict: Verdict) -> str:
    if verdict["helped"]:
        return "The cache helped."
    return "The cache cost time." if verdict["saved_seconds"] < 0 else "The cache did not help."


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def sentences(document: Report) -> list[str]:
    """Return what the figures mean, the most important first."""
    totals = document["totals"]
    found = [sentence(document["verdict"]["text"])]
    gets = totals.get("gets", 0)
    if not gets:
        return found
    own = totals.get("own_gets", 0)
    if own >= gets:
        return [*found, f"All {gets:,} gets were of a rank's own memory, which needs no cache."]
    of_others = f" of other ranks' memory ({own:,} of a rank's own are not counted)" if own else ""
    line = f"Of {gets - own:,} gets{of_others} {percent(hit_rate(totals))} were hits"
    if totals.get("bytes_requested"):
        line += f"; {percent(totals.get('bytes_from_cache', 0) / totals['bytes_requested'])} of the requested bytes came from the cache"
    found.append(line + ".")
    again = repeats(((document.get("details") or {}).get("reuse") or {}).get("classes") or [])
    if again is not None:
        found.append(
            f"About {percent(again)} of the gets repeat an earlier one of their rank: even an infinite cache "
            "that fetches only what was requested would serve no more than these."
        )
    return (
        found
        + (openshmem_advice(document) if api(document) == "OpenSHMEM" else advice(document))
        + caution(document)
    )


def levels(document: Report) -> tuple[int, int, int]:
    """Return the largest level of the storage, its use, and the largest level of the index.

    The totals are those at the end, when windows may have been freed.
    """
    points = ((document.get("details") or {}).get("timeline") or {}).get("points") or []
    names = ("storage_bytes", "stored_bytes", "index_entries")
    by_window = {
        name: sum(window["counters"].get(name, 0) for window in document["windows"])
        for name in names
    }
    found = [document["totals"], *points, by_window]
    storage, stored, index = (max(level.get(name, 0) for level in found) for name in names)
    return storage, stored, index


def windows_with(document: Report, *misses: str) -> list[Window]:
    """Return the cached windows that account for these kinds of misses. Others, such as idle ones,
    say nothing about whether more room would help."""

    def count(window: Window) -> int:
        return sum(window["counters"].get(name, 0) for name in misses)

    cached = [window for window in document["windows"] if not window.get("bypass")]
    least = max(1.0, WORTH_SAYING * sum(map(count, cached)))
    return [window for window in cached if count(window) >= least]


def trial(document: Report, option: str, together: int, concerned: list[Window]) -> str:
    """Return a sentence with the command that starts with twice the size; empty if no more is
    allowed. `together`: the size now, of all windows on all ranks; `concerned`: the windows that
    need more."""
    level = "storage_bytes" if option == "storage" else "index_entries"
    cached = sum(not window.get("bypass") for window in document["windows"])
    sizes = [window["counters"].get(level, 0) // max(1, window["ranks"]) for window in concerned]
    # They may have been larger before their end, as the mean of all windows at its largest shows.
    each = max(1, together // max(1, document["ranks"] * cached), *sizes)
    twice = 1 << (2 * each - 1).bit_length()
    if twice > (MOST_STORAGE if option == "storage" else MOST_INDEX):
        return ""
    value = size(twice) if option == "storage" else str(twice)
    return f" Try: `nearcache run --{option} {value} -- COMMAND`"


def advice(document: Report) -> list[str]:
    """Return which kinds of misses prevail, and the command that should reduce them if the figures
    suggest one."""
    totals = document["totals"]
    shares = {
        name: totals.get(name, 0) / totals["gets"]
        for name in ("conflicting", "capacity", "failing", "bypassed")
    }
    storage, stored, index = levels(document)
    found = []
    if shares["conflicting"] >= WORTH_SAYING and index:
        found.append(
            f"{percent(shares['conflicting'])} of the gets caused evictions from the index: a larger one may help."
            + trial(document, "index", index, windows_with(document, "conflicting"))
        )
    turned_away = shares["capacity"] + shares["failing"]
    if turned_away >= WORTH_SAYING and storage:
        said = f"{percent(turned_away)} of the gets caused evictions from the storage or were not stored"
        concerned = windows_with(document, "capacity", "failing")
        its_storage, its_stored = (
            sum(window["counters"].get(name, 0) for window in concerned)
            for name in ("storage_bytes", "stored_bytes")
        )
        filled = max(stored / storage, its_stored / its_storage if its_storage else 0.0)
        found.append(
            f"{said}, and it was full: more may help.{trial(document, 'storage', storage, concerned)}"
            if filled >= FULL
            else f"{said}, though {percent(1 - filled)} of it stayed free: they were not worth the copy, so more would not help."
        )
    if shares["bypassed"] >= WORTH_SAYING:
        found.append(
            f"{percent(shares['bypassed'])} of the gets were passed straight to MPI: own rank, cheap target, above the size limit, "
            "unknown layout or no open epoch."
        )
    return found


def most_dropped(document: Report) -> str:
    """Say which acquires wasted much of the fetched data; empty if none did."""
    details: Details = document.get("details") or {}
    rows = by_dropped(details.get("acquires") or [])
    fetched = document["totals"].get("bytes_from_network", 0)
    dropped = sum(row["bytes_dropped"] for row in rows)
    if not rows or dropped < WORTH_NAMING * fetched or not fetched:
        return ""
    return (
        f"Acquires dropped {bytes_text(dropped)} of {bytes_text(fetched)} fetched, "
        f"{percent(rows[0]['bytes_dropped'] / dropped)} of it after {rows[0]['call']}."
    )


def openshmem_advice(document: Report) -> list[str]:
    """Like advice(), but for the page cache."""
    totals, found = document["totals"], []
    if dropped := most_dropped(document):
        found.append(dropped)
    if totals.get("puts"):
        found.append(
            f"{totals['puts']:,} puts were written back by {totals.get('network_puts', 0):,} transfers; "
            f"{totals.get('puts_bypassed', 0):,} bypassed the cache."
        )
    if totals.get("lines_ahead"):
        found.append(
            f"{percent(totals.get('lines_ahead_used', 0) / totals['lines_ahead'])} of the lines fetched ahead were used."
        )
    if totals.get("bypassed", 0) / totals["gets"] >= WORTH_SAYING:
        found.append(
            f"{percent(totals['bypassed'] / totals['gets'])} of the gets bypassed the cache: PEs within reach of loads and stores, "
            "transfers above `shmem_max_transfer`, uncached ranges."
        )
    return found


def caution(document: Report) -> list[str]:
    if not document["verdict"]["saved_seconds"]:
        return []
    off = "--shmem off" if api(document) == "OpenSHMEM" else "--mode off"
    return [
        f"Saved time is an estimate: where {processes(document)[1]} share cores, waiting counts as cost. Compare with a run under `{off}`."
    ]


def storage_tile(document: Report) -> tuple[str, str, str]:
    """Return the tile with the largest storage of the run."""
    most, stored, _ = levels(document)
    used = "valid at a time" if api(document) == "OpenSHMEM" else "in use"
    return (
        bytes_text(most),
        "storage",
        f"all {processes(document)[1]} together, at its largest; {bytes_text(stored)} {used}",
    )


def tiles(document: Report) -> list[tuple[str, str, str]]:
    """Return the tiles: (figure, what it is, more about it)."""
    totals, ranks = document["totals"], max(document["ranks"], 1)
    wall = document["wall_seconds"]
    one, several = processes(document)
    own = totals.get("own_gets", 0)
    of_others = f" of other {several}' memory" if own else ""
    found = [
        (
            percent(hit_rate(totals)),
            "hit ratio",
            f"{hits(totals):,} of {totals.get('gets', 0) - own:,} gets{of_others}",
        )
    ]
    if totals.get("bytes_requested"):
        found.append(
            (
                bytes_text(totals.get("bytes_from_cache", 0)),
                "from the cache",
                f"of {bytes_text(totals['bytes_requested'])} requested",
            )
        )
    saved = saved_ns(totals) / ranks
    found += [
        (seconds_text(abs(saved)), f"{'lost' if saved < 0 else 'saved'} per {one}", "estimated"),
        (
            seconds_text(totals.get("remote_ns", 0) / ranks),
            "spent on remote gets",
            f"per {one}, from sampled gets",
        ),
        (
            f"{wall['mean']:.3f} s",
            "run time",
            f"{wall['min']:.3f} to {wall['max']:.3f} s over {several}",
        ),
        storage_tile(document),
    ]
    return found
