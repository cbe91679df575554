"""Processes that tests started indirectly."""

import time
from pathlib import Path


def is_running(number):
    """False for a process of which only its exit status is left: who reaps orphans may be slow."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def have_ended(numbers, patience=10):
    """Waits until none of them is running, or for so many seconds; whether none is."""
    deadline = time.monotonic() + patience
    while any(map(is_running, numbers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, numbers))
