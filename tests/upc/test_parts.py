"""The parts of the lowering use of each other what they say: the parts that their classes annotate, and no more of them than methods without an underscore."""

import ast
import inspect
import sys
from pathlib import Path

import pytest

pytest.importorskip("pycparser", minversion="3.0")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from nearcache.upcc import lower  # noqa: E402
from nearcache.upcc.unit import Unit  # noqa: E402


def used_of_others(kind):
    """(part, name) of every self.part.name in a class."""
    for node in ast.walk(ast.parse(inspect.getsource(kind))):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and isinstance(node.value.value, ast.Name)
            and node.value.value.id == "self"
            and node.value.attr in lower.PARTS
        ):
            yield node.value.attr, node.attr


@pytest.mark.parametrize("name", lower.PARTS)
def test_a_part_uses_what_it_says_and_no_privates(name):
    kind = lower.PARTS[name]
    parts = lower.connected(Unit(None, False, "t.upc", False))
    used = set(used_of_others(kind))
    assert sorted({part for part, _ in used}) == sorted(kind.needs())
    for part, attribute in used:
        assert not attribute.startswith("_") and callable(getattr(parts[part], attribute)), (
            f"{name} uses {part}.{attribute}"
        )


def test_parts_hold_nothing_of_each_other_but_what_they_need():
    parts = lower.connected(Unit(None, False, "t.upc", False))
    for name, part in parts.items():
        held = {
            each
            for each in vars(part)
            if any(vars(part)[each] is other for other in parts.values())
        }
        assert held == set(part.needs()), name
