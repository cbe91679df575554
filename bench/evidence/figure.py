"""What a figure is, and what is measured together for several of them."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Figure:
    """`number` is the paper's; a table has a name instead. `file` is the name of CSV and SVG without suffix."""

    number: str
    file: str
    title: str
    paper: str  # what the paper shows, with the section that says it
    here: str  # how ours is made, and what differs; {names} in it are filled from `facts`
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
    """Measured at once: `measure(laboratory)` returns {number of the figure: rows}. `seconds`: what a quick and a full run take
    about, on two cores; the progress bar goes by it."""

    name: str
    figures: tuple
    measure: Callable
    seconds: tuple
    openshmem: bool = False  # of OpenSHMEM programs, on the OpenSHMEM of the build
