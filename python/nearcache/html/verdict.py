"""The verdict in plain words, and the key figures."""

from ..report_counts import api, bytes_text, hit_rate, hits, processes, saved_ns
from .histograms import repeats
from .scale import percent, seconds_text

# Shares of gets from which a kind of miss is worth a sentence: the thresholds at which the library's tuner acts.
WORTH_SAYING = 0.05


def headline(document):
    """How much faster or slower the run was than an uncached one would have been, as the library estimates."""
    verdict, totals = document["verdict"], document["totals"]
    if totals.get("hits_old"):
        return "The program breaks the cache's contract: it was served old data."
    saved, wall = verdict["saved_seconds"], document["wall_seconds"]["mean"]
    lost = not verdict["helped"] and saved < 0
    uncached = wall + saved
    # an estimate of no time at all, or of many runs' time, is none that a factor could be made of
    if not (verdict["helped"] or lost) or wall <= 0 or not 0 < uncached < 1000 * wall:
        return fallback(verdict)
    factor = uncached / wall if verdict["helped"] else wall / uncached
    how = "faster" if verdict["helped"] else "slower"
    if factor < 1.05:
        return f"{fallback(verdict)[:-1]}: less than 5% {how} than uncached ({scale_seconds(uncached)}, estimated)."
    return f"About {factor:.1f} times {how} than uncached ({scale_seconds(uncached)}, estimated)."


def scale_seconds(value):
    return seconds_text(1e9 * value)


def fallback(verdict):
    if verdict["helped"]:
        return "The cache helped."
    return "The cache cost time." if verdict["saved_seconds"] < 0 else "The cache did not help."


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def sentences(document):
    """What the figures mean, the most important first."""
    totals = document["totals"]
    found = [sentence(document["verdict"]["text"])]
    gets = totals.get("gets", 0)
    if not gets:
        return found
    line = f"Of {gets:,} gets {percent(hit_rate(totals))} were hits"
    if totals.get("bytes_requested"):
        line += f"; {percent(totals.get('bytes_from_cache', 0) / totals['bytes_requested'])} of the bytes asked for came from the cache"
    found.append(line + ".")
    again = repeats(((document.get("details") or {}).get("reuse") or {}).get("classes") or [])
    if again is not None:
        found.append(
            f"About {percent(again)} of the gets repeat an earlier one of their rank: an endless cache would serve no more than these."
        )
    return (
        found
        + (openshmem_advice(totals) if api(document) == "OpenSHMEM" else advice(totals))
        + caution(document)
    )


def advice(totals):
    """Which kinds of misses stand in the way, and which option is about them."""
    shares = {
        name: totals.get(name, 0) / totals["gets"]
        for name in ("conflicting", "capacity", "failing", "bypassed")
    }
    found = []
    if shares["conflicting"] >= WORTH_SAYING:
        found.append(
            f"{percent(shares['conflicting'])} of the gets evicted from the index: a larger index may help."
        )
    if shares["capacity"] + shares["failing"] >= WORTH_SAYING:
        found.append(
            f"{percent(shares['capacity'] + shares['failing'])} of the gets found no free storage or were not worth the copy: "
            "more storage (max_storage) may help."
        )
    if shares["bypassed"] >= WORTH_SAYING:
        found.append(
            f"{percent(shares['bypassed'])} of the gets were passed straight to MPI: own rank, cheap target, over the size limit, "
            "unknown layout or no open epoch."
        )
    return found


def openshmem_advice(totals):
    """The same for the page cache."""
    found = []
    if totals.get("puts"):
        found.append(
            f"{totals['puts']:,} puts were written back by {totals.get('network_puts', 0):,} transfers; "
            f"{totals.get('puts_bypassed', 0):,} went past the cache."
        )
    if totals.get("lines_ahead"):
        found.append(
            f"{percent(totals.get('lines_ahead_used', 0) / totals['lines_ahead'])} of the lines fetched ahead were used."
        )
    if totals.get("bypassed", 0) / totals["gets"] >= WORTH_SAYING:
        found.append(
            f"{percent(totals['bypassed'] / totals['gets'])} of the gets went past the cache: PEs within reach of loads and stores, "
            "transfers above shmem_max_transfer, uncached ranges."
        )
    return found


def caution(document):
    if not document["verdict"]["saved_seconds"]:
        return []
    off = "--shmem off" if api(document) == "OpenSHMEM" else "--mode off"
    return [
        f"Saved time is an estimate: where {processes(document)[1]} share cores, waiting counts as cost. Compare with a run under {off}."
    ]


def storage_tile(document):
    """The largest storage of the run: totals hold the level at the end, when windows may have been freed."""
    points = ((document.get("details") or {}).get("timeline") or {}).get("points") or []
    levels = [
        document["totals"],
        *points,
        {
            name: sum(window["counters"].get(name, 0) for window in document["windows"])
            for name in ("storage_bytes", "stored_bytes")
        },
    ]
    size, stored = (
        max(level.get(name, 0) for level in levels) for name in ("storage_bytes", "stored_bytes")
    )
    return (
        bytes_text(size),
        "storage",
        f"all {processes(document)[1]}, at most; {bytes_text(stored)} in use",
    )


def tiles(document):
    """(figure, what it is, more about it)"""
    totals, ranks = document["totals"], max(document["ranks"], 1)
    wall = document["wall_seconds"]
    one, several = processes(document)
    found = [
        (
            percent(hit_rate(totals)),
            "hit ratio",
            f"{hits(totals):,} of {totals.get('gets', 0):,} gets",
        )
    ]
    if totals.get("bytes_requested"):
        found.append(
            (
                bytes_text(totals.get("bytes_from_cache", 0)),
                "from the cache",
                f"of {bytes_text(totals['bytes_requested'])} asked for",
            )
        )
    saved = saved_ns(totals) / ranks
    found += [
        (seconds_text(abs(saved)), f"{'lost' if saved < 0 else 'saved'} a {one}", "estimated"),
        (
            seconds_text(totals.get("remote_ns", 0) / ranks),
            "spent on remote gets",
            f"a {one}, from sampled gets",
        ),
        (
            f"{wall['mean']:.3f} s",
            "time of the run",
            f"{wall['min']:.3f} to {wall['max']:.3f} s over {several}",
        ),
        storage_tile(document),
    ]
    return found
