# SPDX-License-Identifier: BSD-3-Clause
"""The alignment that a static shared object requests by its type, _Alignas or an attribute: in C,
it is a pointer without any of these (C11 6.7.5)."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types, upc_ast
from .declare import attributes_of
from .part import Part
from .rewrite import innermost
from .typenames import number

if TYPE_CHECKING:
    from .constants import Constants
    from .expressions import Expressions
    from .typenames import Typenames

EVERY_OBJECTS = 16  # the minimum guaranteed by the runtime (src/upc/statics.cpp)
LARGEST = 4096  # alignment of a thread's part of shared memory (src/upc/arena.h)
ATTRIBUTE = re.compile(r"\b(?:aligned|__aligned__)\b\s*(\()?")


def _asked_for(text: str) -> Iterator[str]:
    """Yield the alignments requested by the attributes in a text, as spelled. A bare `aligned`
    requests the largest alignment of any type on the machine."""
    for found in ATTRIBUTE.finditer(text):
        if found[1] is None:
            yield "__BIGGEST_ALIGNMENT__"
            continue
        depth, end = 1, found.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[found.end() : end - 1].strip()


def _may_be_large(kind: types.Type) -> bool:
    """Return whether a type's alignment may exceed that of every object."""
    if kind.aligned:
        return True
    if kind.is_array:
        return _may_be_large(kind.element)
    if kind.is_record:
        return not kind.body.plain or any(
            _may_be_large(member) for _, member, _ in kind.body.fields or ()
        )
    return kind.is_unknown or kind.is_arithmetic and kind.size is None


class Alignments(Part):
    """Finds the alignment of shared objects' declarations."""

    constants: Constants
    expressions: Expressions
    typenames: Typenames

    def asked_for(self, node: c_ast.Node, kind: types.Type) -> list[c_ast.Node]:
        """Return a list of the syntax of the alignments that a declaration requests beyond that of
        every object."""
        dimensions = kind.dimensions() if kind.is_array else []
        made = [self._alignof(each) for each in dimensions if each.aligned]
        made += self._of_type(types.element_of(kind))
        for each in [*(node.align or ()), *(innermost(node.type).align or ())]:
            if isinstance(each.alignment, c_ast.Typename):
                made += self._of_type(self.expressions.type_of_operand(each.alignment))
            else:
                value = self.constants.evaluate(each.alignment)
                if value is None:
                    made.append(self.expressions.value(copy.deepcopy(each.alignment)).node)
                else:
                    made += self._known(value, node)
        for attribute in attributes_of(node):
            for text in _asked_for(attribute):
                try:
                    made += self._known(int(text, 0), node)
                except ValueError:
                    made.append(upc_ast.Raw(f"({text})"))
        return made

    def _of_type(self, kind: types.Type) -> list[c_ast.Node]:
        return [self._alignof(kind)] if _may_be_large(kind) else []

    def _alignof(self, kind: types.Type) -> c_ast.Node:
        return c_ast.UnaryOp("_Alignof", self.typenames.typename(kind.unqualified()))

    def _known(self, value: int, node: c_ast.Node) -> list[c_ast.Node]:
        if value > LARGEST:
            self.unit.error(
                node.coord,
                f"'{node.name}' is aligned to {value} bytes: a shared object can be aligned to {LARGEST} at most",
            )
        elif value < 0 or value & (value - 1):
            self.unit.error(
                node.coord, f"the alignment of '{node.name}' is not a power of 2: {value}"
            )
        return [number(value)] if value > EVERY_OBJECTS else []

    @staticmethod
    def largest(asked_for: Sequence[c_ast.Node]) -> c_ast.Node:
        """Return the syntax of the largest of some alignments."""
        made = asked_for[0]
        for each in asked_for[1:]:
            made = c_ast.TernaryOp(c_ast.BinaryOp(">", made, each), made, each)
        return made
