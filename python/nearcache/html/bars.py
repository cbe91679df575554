# SPDX-License-Identifier: BSD-3-Clause
"""Bars over classes or ranks, side by side or stacked, with their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from .svg import Frame, Ticks, tag

Series = Sequence[tuple[str, Sequence[float]]]  # (mark, values of the bands)

GAP = 0.18  # share of a band left free on either side of its bars
ROUND = 2.0  # px, corner radius of a bar
WIDEST = 56.0  # px: with two ranks, bars would otherwise look like walls


def _bar(frame: Frame, left: float, right: float, low: float, high: float, mark: str) -> Markup:
    """Draw a bar from value `low` up to `high`; a value other than zero stays visible."""
    over = max(0.0, right - left - WIDEST) / 2
    left, right = left + over, right - over
    top, bottom = frame.y(high), frame.y(low)
    if high > low and bottom - top < 1:
        top = bottom - 1.0
    width = max(right - left, 1.0)
    return tag(
        "rect",
        x=left,
        y=top,
        width=width,
        height=bottom - top,
        rx=ROUND if width > 8 and bottom - top > 4 else None,
        class_=mark,
    )


def stacked(frame: Frame, series: Series) -> Markup:
    """Draw one bar per band; `series` are (mark, values) from the bottom up."""
    parts: list[Markup] = []
    base: list[float] = [0] * frame.bands
    for mark, values in series:
        for band, value in enumerate(values):
            if value:
                parts.append(
                    _bar(
                        frame,
                        frame.x(band + GAP),
                        frame.x(band + 1 - GAP),
                        base[band],
                        base[band] + value,
                        mark,
                    )
                )
        base = [low + value for low, value in zip(base, values)]
    return Markup("").join(parts)


def beside(frame: Frame, series: Series) -> Markup:
    """Draw a bar per series in every band."""
    parts, width = [], (1 - 2 * GAP) / len(series)
    for i, (mark, values) in enumerate(series):
        for band, value in enumerate(values):
            left = band + GAP + i * width
            if value:
                parts.append(_bar(frame, frame.x(left), frame.x(left + width) - 1, 0, value, mark))
    return Markup("").join(parts)


def ranges(frame: Frame, lows: Sequence[float], highs: Sequence[float]) -> Markup:
    """Draw lines from the lowest to the highest value of each band."""
    return Markup("").join(
        tag(
            "line",
            x1=frame.x(band + 0.5),
            x2=frame.x(band + 0.5),
            y1=frame.y(low),
            y2=frame.y(high),
            class_="range",
        )
        for band, (low, high) in enumerate(zip(lows, highs))
        if high > low
    )


def chart(
    name: str,
    width_class: str,
    width: int,
    title: str,
    description: str,
    y_ticks: Ticks,
    labels: Sequence[str],
    draw: Callable[[Frame], Markup],
    tips: bool = True,
    height: int = 230,
) -> Markup:
    """Draw a chart with `labels` centred below its bands; `draw(frame)` returns the marks."""
    frame = Frame(width, height, len(labels), y_ticks[-1][0])
    axes = frame.y_axis(y_ticks) + frame.x_axis(
        [(band + 0.5, label) for band, label in enumerate(labels)]
    )
    return frame.drawing(
        f"{name}-{width_class}", title, description, axes, draw(frame), tips=name if tips else None
    )
