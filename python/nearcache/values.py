# SPDX-License-Identifier: BSD-3-Clause
"""Parses options' values by type, accepting the same texts as the library (src/base/text.cpp,
path_pattern.cpp)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
BYTES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
DIGITS = 30  # of a whole number; a longer one is out of range for every option
TIMES = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# What options `storage` and `index` allow at most; who advises values for them must stay within.
MOST_STORAGE, MOST_INDEX = 32 << 30, 1 << 28
MOST_LATENCY_NS, MOST_NS_PER_BYTE = 1e9, 1e6


def _with_unit(text: str, units: Mapping[str, float], ending: str = "") -> float | None:
    found = re.fullmatch(rf"({NUMBER})([a-z]*?){ending}", text.lower())
    if not found or found[2] not in units:
        return None
    whole = len(found[1]) < DIGITS and found[1].isdigit() and float(units[found[2]]).is_integer()
    return int(found[1]) * int(units[found[2]]) if whole else float(found[1]) * units[found[2]]


def size(value: int) -> str:
    """Bytes as an option takes them: 64k, 2M."""
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)):
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return str(value)


def read_bytes(text: str) -> float | None:
    return _with_unit(text, BYTES, "(?:ib|b)?")


def read_heap_size(text: str) -> int | None:
    """Return the bytes of a UPC thread's shared heap. A plain number means megabytes, as for
    Berkeley's upcc and upcrun."""
    size = read_bytes(text + "M" if text.isdigit() else "".join(text.split()))
    return int(size) if size and float(size).is_integer() else None


def read_power(text: str) -> float | None:
    value = read_bytes(text)
    return (
        value
        if value and float(value).is_integer() and int(value) & (int(value) - 1) == 0
        else None
    )


def read_time(text: str) -> float | None:
    return _with_unit(text, TIMES)


def read_count(text: str) -> int | None:
    """Return the number; None if ill-formed, or too long for Python to convert cheaply and so out
    of every range."""
    return int(text) if re.fullmatch(rf"[0-9]{{1,{DIGITS}}}", text) else None


def read_ratio(text: str) -> float | None:
    return float(text) if re.fullmatch(NUMBER, text.lower()) else None


def read_bool(text: str) -> bool | None:
    return {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }.get(text.lower())


def read_model(text: str) -> str | None:
    if not text:
        return text
    latency, per_byte = (read_ratio(part) for part in (*text.split(",", 1), "")[:2])
    good = (
        latency is not None
        and per_byte is not None
        and latency <= MOST_LATENCY_NS
        and per_byte <= MOST_NS_PER_BYTE
    )
    return text if good else None


def read_path(text: str) -> str | None:
    return text if re.fullmatch(r"(?:[^%]|%[phrj%])*", text, re.S) else None


def read_interface(text: str) -> str | None:
    return text if re.fullmatch(r"[^/ \t\n]{0,15}", text) else None


def read_provider(text: str) -> str | None:
    return text if re.fullmatch(r"[^/, \t\n]{0,23}", text) else None


# By type: a function that parses a text (None if it is ill-formed), and a description of what is
# allowed.
TYPES = {
    "bool": (read_bool, "true or false"),
    "count": (read_count, "a whole number"),
    "bytes": (read_bytes, "a number of bytes, optionally with suffix k, M, G or T,"),
    "power": (read_power, "a power of two, optionally with suffix k, M, G or T,"),
    "time": (read_time, "a time with ns, us, ms or s"),
    "ratio": (read_ratio, "a number"),
    "model": (
        read_model,
        f"L,G in ns (at most {MOST_LATENCY_NS:.0e}) and ns/byte (at most {MOST_NS_PER_BYTE:.0e}), such as 1900,0.17".replace(
            "e+0", "e"
        ),
    ),
    "interface": (read_interface, "the name of a network interface"),
    "provider": (read_provider, "the name of a provider of libfabric"),
    "path": (
        read_path,
        "a path with %p (process), %h (host), %r (rank), %j (job) and %% for a percent sign",
    ),
}


def problem(kind: str, text: str, least: str = "", most: str = "") -> str:
    """Return what is allowed if `text` is ill-formed or out of range; else ""."""
    read, allowed = TYPES[kind]
    value = read(text)
    if least:
        allowed += f" from {least} to {most}"
    return "" if value is not None and (not least or _within(read, value, least, most)) else allowed


def _within(read: Callable[[str], Any], value: Any, least: str, most: str) -> bool:
    return bool(read(least) <= value <= read(most))
