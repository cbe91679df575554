# SPDX-License-Identifier: BSD-3-Clause
"""Base class of the lowering's parts.

A part receives the file's Unit and, under their names, the parts that its class annotates. Its
methods without a leading underscore are its interface; nothing else of another part is used
(tests/upc/test_parts.py). lower.py creates the parts and connects them to each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .unit import Unit


class Part:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    @classmethod
    def needs(cls) -> tuple[str, ...]:
        """Return the names of the parts that it uses: one per annotation `name: Class`."""
        return tuple(inspect.get_annotations(cls))

    def connect(self, parts: Mapping[str, Part]) -> None:
        """Connect the part to those that it needs. parts: all of them, by name."""
        for name in self.needs():
            setattr(self, name, parts[name])
