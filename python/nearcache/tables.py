# SPDX-License-Identifier: BSD-3-Clause
"""The tables of options, counters and known host defects, as the library itself prints them
(share/nearcache/tables.json)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from . import home, values
from .errors import NearcacheError
from .host_defects import HostDefect


@dataclass(frozen=True)
class Option:
    name: str
    scope: str
    type: str
    default: str
    least: str  # the range of a number; empty for other types
    most: str
    unit: str
    help: str

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return "NEARCACHE_" + self.name.upper()

    @property
    def info_key(self) -> str:
        return "nearcache_" + self.name if self.scope == "window" else ""

    @property
    def values(self) -> list[str]:
        """Return the values of an enumerated type, read from its help (`...: off, transparent,
        always or user`)."""
        if self.type not in ("mode", "policy", "share_use", "rma_use", "rma_fabric"):
            return []
        return re.split(r", | or ", self.help.rpartition(": ")[2])

    @property
    def range(self) -> str:
        return f"{self.least} to {self.most}" if self.least else ""

    def check(self, text: str, said_as: str = "") -> None:
        """Raise an error that lists what is allowed unless `text` is a value of this option.

        `said_as` is the option's name in the message; by default the flag.
        """
        if self.values:
            allowed = "" if text.lower() in self.values else ", ".join(self.values)
        else:
            allowed = values.problem(self.type, text, self.least, self.most)
        if allowed:
            raise NearcacheError(
                f"{said_as or self.flag}: '{text}' is not allowed; allowed: {allowed}"
            )


@dataclass(frozen=True)
class Counter:
    name: str
    kind: str
    unit: str
    help: str


@dataclass(frozen=True)
class Tables:
    options: tuple[Option, ...]
    counters: tuple[Counter, ...]
    host_defects: tuple[HostDefect, ...]

    def option(self, name: str) -> Option | None:
        for option in self.options:
            if option.name == name:
                return option
        return None


def parse(text: str, source: object = "tables") -> Tables:
    try:
        document = json.loads(text)
        return Tables(
            tuple(Option(**row) for row in document["options"]),
            tuple(Counter(**row) for row in document["counters"]),
            tuple(HostDefect(**row) for row in document["host_defects"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise NearcacheError(
            f"{source} is not a table of options and counters of this version: {error}"
        ) from None


def load() -> Tables:
    path = home.find().tables
    try:
        return parse(path.read_text(encoding="utf-8"), path)
    except UnicodeDecodeError as error:
        raise NearcacheError(
            f"{path} is not a table of options and counters of this version: {error}"
        ) from None
    except OSError as error:
        raise NearcacheError(
            f"cannot read the table of options: {error}. Build it: cmake --build build"
        ) from None
