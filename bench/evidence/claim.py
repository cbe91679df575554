"""What a paper says, and the function that takes our answer from the figures' tables."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Claim:
    figure: str  # whose table answers it
    section: str  # of the paper
    text: str  # the claim, in our words, with the paper's number
    answer: Callable  # {number of the figure: rows} -> Answer
