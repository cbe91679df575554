# SPDX-License-Identifier: BSD-3-Clause
"""Figures, and studies that measure for several figures together."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Figure:
    """A figure. `number` is the paper's; a table has a name instead. `file` is the name of CSV and
    SVG without suffix."""

    number: str
    file: str
    title: str
    paper: str  # what the paper shows, and in which section
    here: str  # how ours is made, and what differs; `facts` fill the {names} in it
    draw: Callable  # rows -> matplotlib figure
    facts: Callable = lambda rows: {}  # rows -> counts of this run, so that text and data agree

    def described(self, rows):
        return self.here.format(**self.facts(rows))

    @property
    def name(self):
        if self.number.isdigit():
            return f"Fig. {self.number}"
        return self.number.capitalize() if self.number.isalpha() else self.number  # fft3d


@dataclass(frozen=True)
class Study:
    """A joint measurement: `measure(laboratory)` returns {number of the figure: rows}.

    `seconds` are the approximate durations of a quick and a full run on two cores, for the progress
    bar.
    """

    name: str
    figures: tuple
    measure: Callable
    seconds: tuple
    openshmem: bool = False  # measures OpenSHMEM programs, on the build's OpenSHMEM
