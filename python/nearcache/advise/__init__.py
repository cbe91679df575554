# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache advise`: run a program once with a trace and say whether caching would help, how, and
how much.

measure.py    runs the program, or takes traces at hand; asks nearcache-simulate
openshmem.py  the same for OpenSHMEM and UPC, whose cache is another one
judgement.py  from its answers to advice (advice.py): plain functions of numbers (estimates.py)
text.py       advice in words
"""

from .command import advise

__all__ = ["advise"]
