# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache advise`: run a program once with a trace and say whether caching would help, how, and
how much.

measure.py    runs the program, or takes traces at hand; asks nearcache-simulate
openshmem.py  the same for OpenSHMEM and UPC, whose cache is another one
judgement.py  from its answers (answers.py) to advice (advice.py), by
  traced_run.py, times.py    the run, and how long it would take without a cache
  safety.py                  which promises it shows to be safe
  savings.py, sharing.py     what each mode saves, and one cache for the ranks of a node
  estimates.py               plain functions of numbers
text.py       advice in words
"""

from .command import advise

__all__ = ["advise"]
