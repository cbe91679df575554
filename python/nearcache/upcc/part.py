"""What the parts of the lowering have in common.

A part is given the file's Unit and, under their names, the parts that its class annotates. What it offers to others are its methods
without an underscore; of another part nothing else is used (tests/upc/test_parts.py). lower.py makes the parts and gives them to each other.
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
        """The names of the parts that it uses: an annotation `name: Class` each."""
        return tuple(inspect.get_annotations(cls))

    def connect(self, parts: Mapping[str, Part]) -> None:
        """parts: all of them, by name."""
        for name in self.needs():
            setattr(self, name, parts[name])
