# SPDX-License-Identifier: BSD-3-Clause
"""Words the advice, for a terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from ..plain import plain_lines
from ..report_counts import how_many, window_label
from ..values import size
from .advice import DEFAULT, Advice, WindowAdvice
from .answers import Cost

WHOLE, NOTHING = "For the whole program", "No options needed"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000 * value:.1f} ms"


def headline(advice: Advice) -> str:
    if advice.verdict == "unknown" and not any(window.undecided for window in advice.windows):
        return "No verdict: the program's windows were left alone, and nothing is known about their gets."
    if advice.verdict == "unknown":
        return (
            "No verdict: this run did not measure what a get costs. State what it costs where the program is to run with --model L,G "
            "(ns and ns per byte), or run longer."
        )
    if not advice.helps:
        return "Caching would not make this run faster."
    share = (
        min(100.0, 100 * advice.saved_seconds / advice.wall_seconds) if advice.wall_seconds else 0
    )
    return f"Caching would help: {range_of(advice)} of {seconds(advice.wall_seconds)} per rank ({share:.0f}%)."


def range_of(saved: Advice | WindowAdvice) -> str:
    """Return the saving in words: a range from the quickest to the mean get if these differ because
    the machine was busy."""
    return range_text(saved.saved_seconds_least, saved.saved_seconds)


def range_text(least: float, most: float) -> str:
    """Return a time in words: both figures only if they clearly differ."""
    if least >= 0.8 * most:
        return f"about {seconds(most)}"
    return f"{seconds(least)} to {seconds(most)}"


def gets_of(window: WindowAdvice) -> str:
    own = f"; {window.own_gets:,} of own memory not counted" if window.own_gets else ""
    return f"{window.gets:,} gets, {100 * window.repeats:.0f}% repeats{own}"


def window_lines(window: WindowAdvice) -> Iterator[str]:
    title = f"window {window_label(window.id)}"
    if not window.helps:
        yield f"{title}: {'it depends' if window.undecided else 'leave it as it is'} ({gets_of(window)})"
    else:
        mode = f"{window.mode}, the default" if window.mode == DEFAULT else window.mode
        yield f"{title}: mode {mode}, saves {range_of(window)} per rank ({gets_of(window)})"
    yield from (f"    {reason}" for reason in window.reasons)
    if window.danger:
        yield f"    Warning: {window.danger}"
    if window.helps and window.mode == "user":
        yield (
            f"    call nearcache_invalidate(win) on every rank when a reading phase begins, after the barrier or fence that ends the "
            f"writing ({window.invalidations:,} times in this run)"
        )
    if window.helps and window.storage_bytes:
        yield f"    storage {size(window.storage_bytes)} per rank, index {window.index_entries:,} entries"
        if window.curve:
            yield "    saved by storage: " + ", ".join(
                f"{share:.0%} at {size_about(at)}" for at, share in thinned(window.curve)
            )


def thinned(curve: list[tuple[int, float]], most: int = 6) -> list[tuple[int, float]]:
    """Return a few points of a curve, up to the first that saves as much as unlimited storage."""
    best = max((share for _, share in curve), default=0.0)
    end = next((at for at, point in enumerate(curve) if point[1] > best - 0.005), 0)
    shown = [point for point in curve[: end + 1] if point[1] >= 0.02] or curve[: end + 1]
    step = max(1, -(-len(shown) // most))
    return shown[::-1][::step][::-1]


def size_about(value: int) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value} B"


def option_words(settings: Mapping[str, str | int]) -> list[str]:
    values = {
        name: size(int(value)) if name == "storage" else str(value)
        for name, value in settings.items()
    }
    return [word for name, value in values.items() for word in (f"--{name}", value)]


def keys_of(window: WindowAdvice) -> dict[str, str]:
    """Return the info keys to set, by name; empty if the window follows the advice by default."""
    keys = {"nearcache_mode": window.mode} if window.sets_mode else {}
    if window.shared and window.shared.helps:
        keys.update(nearcache_share="node")
    elif window.apart:
        keys.update(nearcache_share="off")
    if window.storage_bytes:
        keys.update(
            nearcache_storage=size(window.storage_bytes),
            nearcache_index=str(window.index_entries),
        )
    return keys


def what_to_set(advice: Advice, command: Sequence[str] | None, tag: str | None) -> Iterator[str]:
    if not advice.helps:
        return
    helped = {window.id: keys_of(window) for window in advice.windows if window.helps}
    if advice.settings or not any(helped.values()):
        words = shlex.join(
            [
                "nearcache",
                "run",
                *(["--mpi", tag] if tag else []),
                *option_words(advice.settings),
                "--",
                *(command or ["mpiexec", "...", "./program"]),
            ]
        )
        yield f"{WHOLE if advice.settings else NOTHING}:  {words}"
    else:
        yield "Windows differ, so give each its own info keys when it is created:"
    for number, keys in helped.items():
        calls = "; ".join(f'MPI_Info_set(info, "{key}", "{value}")' for key, value in keys.items())
        if calls:
            yield f"In the program (window {window_label(number)}):  {calls}"


def windows_without_gets(advice: Advice) -> Iterator[str]:
    idle = [window for window in advice.windows if not window.gets]
    if idle:
        own = sum(window.own_gets for window in idle)
        yield (
            f"{'window' if len(idle) == 1 else 'windows'} {', '.join(window_label(window.id) for window in idle)}: no rank read another rank's memory"
            + (f" ({own:,} gets of own memory)" if own else "")
        )


def least_of(cost: Cost) -> str:
    """Return what the quickest gets cost, if others took longer; else an empty text."""
    least = cost.get("least")
    if cost["from"] != "trace" or not least or least["latency_ns"] >= 0.8 * cost["latency_ns"]:
        return ""
    return f"; the quickest {least['latency_ns']:,.0f} ns + {least['ns_per_byte']:.2f} ns/B"


def render(
    advice: Advice,
    command: Sequence[str] | None = None,
    width: int = 100,
    tag: str | None = None,
) -> str:
    """Return the advice as text. `tag` is that of the preload object that the user named."""
    cost = advice.cost
    ranks = how_many(advice.ranks, ("rank", "ranks"))
    about = f"{advice.program}, {ranks}, "
    if cost["from"] == "assumed":
        about += seconds(advice.run_seconds)
    else:
        about += seconds(advice.wall_seconds)
        if advice.served >= 0.01:
            about += (
                f" without a cache (this run, in which {advice.served:.0%} of the gets were served by one, "
                f"took {seconds(advice.run_seconds)})"
            )
        about += (
            f"; a get costs {cost['latency_ns']:,.0f} ns + {cost['ns_per_byte']:.2f} ns/B "
            f"({'measured' if cost['from'] == 'trace' else 'given'}{least_of(cost)}), all of them {seconds(advice.get_seconds)} per rank if none is cached"
        )
    paragraphs = [[headline(advice)], [about + "."]]
    paragraphs += [list(window_lines(window)) for window in advice.windows if window.gets]
    paragraphs += [[line] for line in windows_without_gets(advice)]
    paragraphs += [
        [f"Windows that Nearcache left alone: {reason}."] for reason in advice.left_alone
    ]
    paragraphs += [[line] for line in what_to_set(advice, command, tag)]
    paragraphs += [[f"Note: {note}."] for note in advice.notes]
    if any(window.helps and window.mode in ("always", "user") for window in advice.windows):
        paragraphs.append(
            [
                "What was safe in this run is safe in others only if they write and read in the same way: `always` and `user` are "
                "promises that the program makes (docs/semantics.md)."
            ]
        )
    return (
        "\n\n".join("\n".join(wrapped(line, width) for line in lines) for lines in paragraphs)
        + "\n"
    )


def wrapped(line: str, width: int) -> str:
    if "MPI_Info_set" in line or line.startswith((WHOLE, NOTHING)):
        return line  # to be copied
    line = plain_lines(line)  # program names, and reasons taken from a report
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
