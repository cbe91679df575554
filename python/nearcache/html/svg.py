# SPDX-License-Identifier: BSD-3-Clause
"""Writes SVG: elements with escaped attributes and texts, and the frame (axes, scales) of a
chart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

FONT = 13  # px; drawings are never scaled down, so that no text is smaller than 12 px
# The width of digits depends on the font; DejaVu Sans, the widest common one, takes 0.64 of the
# font size.
GLYPH = 0.64 * FONT

Ticks = Sequence[tuple[float, str]]  # (value or position, text)


def number(value: float) -> str:
    """Format a coordinate briefly. Raises an error if it is not a finite number."""
    if not math.isfinite(value):
        raise ValueError(f"{value} where a number belongs")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Return an element; `class_` becomes class, `stroke_width` stroke-width."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value) if isinstance(value, float) else value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(children)
    return Markup(f"<{name}{words}>{inside}</{name}>" if inside else f"<{name}{words}/>")


def text_width(text: str) -> float:
    return GLYPH * len(text)


def _touch(places: Sequence[tuple[float, float, str]]) -> bool:
    """Return whether labels (tick, middle, text) come closer than one character to each other."""
    return any(
        right - left < (text_width(a) + text_width(b)) / 2 + GLYPH
        for (_, left, a), (_, right, b) in zip(places, places[1:])
    )


def steps_path(
    edges: Sequence[float],
    values: Sequence[float | None],
    base: Sequence[float] | None = None,
) -> str:
    """Return the path of a staircase through `values`, each between two `edges`; None is a gap.
    With `base`, it encloses the area down to it."""
    path, drawing = [], False
    for left, right, value in zip(edges, edges[1:], values):
        if value is None:
            drawing = False
            continue
        path.append(f"{'L' if drawing else 'M'}{number(left)} {number(value)}H{number(right)}")
        drawing = True
    if base is not None and path:
        back = [
            f"V{number(low)}H{number(left)}"
            for left, low in zip(reversed(edges[:-1]), reversed(base))
        ]
        path += [*back, "Z"]
    return "".join(path)


class Frame:
    """The plotting area of a chart with equally wide bands on the x axis (time slots, classes,
    ranks)."""

    def __init__(
        self,
        width: float,
        height: float,
        bands: int,
        top: float,
        left: float = 66,
        right: float = 10,
        upper: float = 10,
        lower: float = 28,
    ) -> None:
        self.width, self.height, self.bands, self.top = width, height, bands, top
        self.left, self.right, self.upper, self.lower = left, width - right, upper, height - lower

    def x(self, band: float) -> float:
        """Return the x coordinate of a band's left edge; `band` may be fractional."""
        return self.left + (self.right - self.left) * band / max(self.bands, 1)

    def y(self, value: float) -> float:
        return self.lower - (self.lower - self.upper) * value / (self.top or 1)

    @property
    def edges(self) -> list[float]:
        return [self.x(band) for band in range(self.bands + 1)]

    def y_axis(self, ticks: Ticks) -> Markup:
        """Draw horizontal lines with their labels: (value, text) pairs."""
        parts = []
        for value, text in ticks:
            y = self.y(value)
            parts.append(
                tag(
                    "line",
                    x1=float(self.left),
                    x2=float(self.right),
                    y1=y,
                    y2=y,
                    class_="axis" if value == 0 else "grid",
                )
            )
            parts.append(
                tag(
                    "text",
                    escape(text),
                    x=float(self.left - 8),
                    y=y + 0.35 * FONT,
                    text_anchor="end",
                )
            )
        return Markup("").join(parts)

    def x_axis(self, ticks: Ticks) -> Markup:
        """Draw labels below: (position in bands, text) pairs. Where they would touch, only every
        second, third, ... is shown."""
        places = [
            (
                self.x(band),
                min(max(self.x(band), text_width(text) / 2), self.width - text_width(text) / 2),
                text,
            )
            for band, text in ticks
        ]
        every = next(
            (n for n in range(1, len(places)) if not _touch(places[::n])), max(len(places), 1)
        )
        parts = []
        for tick, x, text in places[::every]:
            parts.append(
                tag(
                    "line",
                    x1=tick,
                    x2=tick,
                    y1=float(self.lower),
                    y2=self.lower + 4.0,
                    class_="axis",
                )
            )
            parts.append(
                tag("text", escape(text), x=x, y=float(self.lower + 20), text_anchor="middle")
            )
        return Markup("").join(parts)

    def drawing(
        self, name: str, title: str, description: str, *parts: str, tips: str | None = None
    ) -> Markup:
        """Return the whole SVG. `tips` names the texts that are shown over its bands."""
        cross = (
            tag(
                "rect",
                x=float(self.left),
                y=float(self.upper),
                width=0.0,
                height=float(self.lower - self.upper),
                class_="cross",
            )
            if tips
            else ""
        )
        return tag(
            "svg",
            tag("title", escape(title), id=f"{name}-t"),
            tag("desc", escape(description), id=f"{name}-d"),
            *parts,
            cross,
            viewBox=f"0 0 {number(self.width)} {number(self.height)}",
            role="img",
            aria_labelledby=f"{name}-t {name}-d",
            data_tips=tips,
            data_bands=self.bands if tips else None,
            data_left=float(self.left) if tips else None,
            data_right=float(self.right) if tips else None,
            tabindex=0 if tips else None,
        )
