# SPDX-License-Identifier: BSD-3-Clause
"""Which promises a run shows to be safe."""

from __future__ import annotations

from .advice import DEFAULT
from .answers import Example, Rule, SafetyWindow


def rule_of(window: SafetyWindow, mode: str) -> Rule:
    """Return the rule of a mode. pre: `mode` is one of PROMISES."""
    return window["always"] if mode == "always" else window["user"]


def safe_mode(window: SafetyWindow, complete: bool) -> tuple[str, list[str]]:
    """Return the strongest promise that this run shows to be safe, else the default, and the
    reasons against a stronger one."""
    always, user = window["always"], window["user"]
    if not complete:
        return DEFAULT, [
            "traces of some ranks are missing or incomplete, so no mode that needs a promise can be recommended"
        ]
    if window["writes_while_read"] == 0:
        return "always", [
            "nobody wrote to it from the first get to the last"
            if window["puts"] + window["stores"]
            else "it was never written to"
        ]
    if always["stale"] == 0:
        return "always", [
            "it was written during the period in which it was read, but no rank read again what had been written: `always` is safe for runs like this one, "
            "`user` for all that keep their phases apart"
        ]
    why = f"with `always`, {always['stale']:,} gets would have returned old data" + (
        f": rank {always['example']['reader']} read {always['example']['bytes']} B at {always['example']['displacement']} of rank "
        f"{always['example']['target']}, and {writer(always['example'])} wrote there in the meantime"
        if always["example"]
        else ""
    )
    if user["stale"] == 0:
        return "user", ["writing and reading phases alternate", why]
    return DEFAULT, ["it was written during the period in which it was read", why]


def writer(example: Example) -> str:
    return (
        f"its owner, rank {example['writer']},"
        if example["stored_by_owner"]
        else f"rank {example['writer']}, by a put,"
    )
