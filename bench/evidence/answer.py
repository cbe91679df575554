# SPDX-License-Identifier: BSD-3-Clause
"""Our figures' answer to a claim of the paper: a text with numbers from the CSV files, and whether
ours are worse."""

from dataclasses import dataclass

from .table import where

WORSE, GOOD, GIVEN = "worse", "as good or better", "for comparison"


@dataclass(frozen=True)
class Answer:
    verdict: str
    text: str


def at_least(bound, value, text):
    return Answer(GOOD if value >= bound else WORSE, text)


def at_most(bound, value, text):
    return Answer(GOOD if value <= bound else WORSE, text)


def given(text):
    return Answer(GIVEN, text)


def holds(true, text):
    return Answer(GOOD if true else WORSE, text)


def one(rows, column, **wanted):
    """Return a column's value in the one matching row. Raises LookupError if there is none: the
    claim then stays unanswered."""
    found = where(rows, **wanted)
    if len(found) != 1 or found[0][column] is None:
        raise LookupError(f"{column} of {wanted}")
    return found[0][column]


def column(rows, name, **wanted):
    found = [row[name] for row in where(rows, **wanted) if row[name] is not None]
    if not found:
        raise LookupError(f"{name} of {wanted}")
    return found


def percent(share):
    return f"{100 * share:.1f}%" if share < 0.1 else f"{100 * share:.0f}%"


def times(value):
    return f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def each(texts):
    """Join {name: text} into one line."""
    return "; ".join(f"{name}: {text}" for name, text in texts.items())
