# SPDX-License-Identifier: BSD-3-Clause
"""Ticks, and texts of quantities on axes and in tables."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..report_counts import bytes_text
from .svg import Ticks

Text = Callable[[float], str]


def count_text(value: float) -> str:
    """Format a count for an axis, in at most five characters."""
    for limit, divisor, unit in (
        (1e15, 1e15, "P"),
        (1e12, 1e12, "T"),
        (1e9, 1e9, "G"),
        (1e6, 1e6, "M"),
        (1e3, 1e3, "k"),
    ):
        if value >= limit:
            return (
                f"{value / divisor:.1f}".rstrip("0").rstrip(".") + unit
                if value / divisor < 100
                else f"{value / divisor:.0f}{unit}"
            )
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}".rstrip("0")


def percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"  # not 0.0%: there are some
    return f"{100 * share:.1f}%"


def whole_bytes(value: float) -> str:
    """Format bytes without needless decimals: 64 KiB, 1.5 MiB."""
    return bytes_text(value).replace(".0 ", " ")


def seconds_text(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:,.0f} {unit}"
    return f"{ns:.0f} ns"


def _step(top: float, bases: tuple[int, ...]) -> float:
    """Return the smallest step, one of `bases` times a power of the last base, that reaches `top`
    in at most five steps."""
    factor = bases[-1]
    size = factor ** math.floor(math.log(top / 5, factor))
    return next(
        base * size
        for base in (*bases, *(factor * base for base in bases))
        if base * size * 5 >= top
    )


def ticks(top: float, text: Text = count_text) -> Ticks:
    """Return ticks from 0 to at least `top`, in steps of 1, 2 or 5 times a power of ten, and of at
    least 1, as counts are whole."""
    step = max(_step(top, (1, 2, 5, 10)), 1) if top > 0 else 1
    return [(i * step, text(i * step)) for i in range(max(1, math.ceil(top / step)) + 1)]


def ticks_of_bytes(top: float) -> Ticks:
    step = max(_step(top, (1, 2)), 1) if top > 0 else 1
    return [(i * step, whole_bytes(i * step)) for i in range(max(1, math.ceil(top / step)) + 1)]


def ticks_of_share() -> Ticks:
    return [(i / 4, f"{25 * i}%") for i in range(5)]


def ticks_of_time(span_ns: float, bands: int) -> Ticks:
    """Return round times along the x axis, in bands: (position, text)."""
    size, unit = (1e9, "s") if span_ns >= 2e9 else (1e6, "ms")
    if span_ns >= 600e9:
        size, unit = 60e9, "min"
    span = span_ns / size
    step = _step(span, (1, 2, 5, 10)) if span > 0 else 1
    return (
        [
            (i * step / span * bands, f"{i * step:.6g} {unit}" if i else "0")
            for i in range(int(span / step + 1e-9) + 1)
        ]
        if span > 0
        else []
    )


def class_text(start: float, text: Text = count_text) -> str:
    """Format a class of counts from `start` up to twice as many: 4-7."""
    return (
        text(start)
        if start < 2
        else f"{text(start)}-{text(2 * start - 1)}"
        if start < 1000
        else f"{text(start)}+"
    )
