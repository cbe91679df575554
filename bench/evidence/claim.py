# SPDX-License-Identifier: BSD-3-Clause
"""A claim of a paper, and the function that derives our answer from the figures' tables."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Claim:
    figure: str  # the figure whose table answers it
    section: str  # section of the paper
    text: str  # the claim in our words, with the paper's number
    answer: Callable  # {number of the figure: rows} -> Answer
