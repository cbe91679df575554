# SPDX-License-Identifier: BSD-3-Clause
"""Makes foreign texts (names of programs, windows and files) safe to print: removes what a terminal
would take for a command."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def plain(text: object) -> str:
    """Return the text on one line."""
    return CONTROL.sub("?", " ".join(str(text).split()))


def plain_lines(text: str) -> str:
    """Return the text with its lines kept."""
    return "\n".join(CONTROL.sub("?", line) for line in text.split("\n"))
