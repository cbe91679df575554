# SPDX-License-Identifier: BSD-3-Clause
"""Processes that tests started indirectly."""

from pathlib import Path


def is_running(number):
    """False for a process of which only its exit status is left: who reaps orphans may be slow."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
