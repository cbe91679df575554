"""The alignment that a static shared object asks for by its type, _Alignas or an attribute: its pointer in C has none of them (C11 6.7.5)."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types, upc_ast
from .part import Part
from .rewrite import innermost
from .typenames import number

if TYPE_CHECKING:
    from .constants import Constants
    from .expressions import Expressions
    from .typenames import Typenames

EVERY_OBJECTS = 16  # the least that the runtime gives (src/upc/statics.cpp)
LARGEST = 4096  # that of a thread's part of shared memory (src/upc/arena.h)
ATTRIBUTE = re.compile(r"\b(?:aligned|__aligned__)\b\s*(\()?")


def _asked_for(text):
    """What the attributes of a text ask for, as they spell it; an `aligned` alone is the most that any type of the machine needs."""
    for found in ATTRIBUTE.finditer(text):
        if found[1] is None:
            yield "__BIGGEST_ALIGNMENT__"
            continue
        depth, end = 1, found.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[found.end() : end - 1].strip()


def _attributes(node):
    """Those of a declaration, and of all parts of its declarator."""
    while isinstance(
        node, (c_ast.Decl, c_ast.Typedef, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl)
    ):
        yield from node.attributes or ()
        node = node.type


def _may_be_large(kind):
    """Whether the alignment of a type may be more than every object has; attributes of a typedef are known by its missing size."""
    if kind.is_array:
        return _may_be_large(kind.element)
    if kind.is_record:
        return not kind.body.plain or any(
            _may_be_large(member) for _, member, _ in kind.body.fields or ()
        )
    return kind.is_unknown or kind.is_arithmetic and kind.size is None


def _is_aligned_by_typedef(kind):
    node = kind.alias and kind.alias.symbol.origin  # None of system headers' typedefs
    return node is not None and any(
        any(_asked_for(getattr(each, "text", ""))) for each in _attributes(node)
    )


class Alignments(Part):
    """Of declarations of shared objects."""

    constants: Constants
    expressions: Expressions
    typenames: Typenames

    def asked_for(self, node, kind):
        """The syntax of what a declaration asks for, beyond what every object has; a list."""
        dimensions = kind.dimensions() if kind.is_array else []
        made = [self._alignof(each) for each in dimensions if _is_aligned_by_typedef(each)]
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
        for each in _attributes(node):
            for text in _asked_for(getattr(each, "text", "")):
                try:
                    made += self._known(int(text, 0), node)
                except ValueError:
                    made.append(upc_ast.Raw(f"({text})"))
        return made

    def _of_type(self, kind):
        asks = _may_be_large(kind) or _is_aligned_by_typedef(kind)
        return [self._alignof(kind)] if asks else []

    def _alignof(self, kind):
        return c_ast.UnaryOp("_Alignof", self.typenames.typename(kind.unqualified()))

    def _known(self, value, node):
        if value > LARGEST:
            self.unit.error(
                node.coord,
                f"'{node.name}' is aligned to {value} bytes: a shared object can be to {LARGEST} at the most",
            )
        elif value < 0 or value & (value - 1):
            self.unit.error(node.coord, f"the alignment of '{node.name}' is no power of 2: {value}")
        return [number(value)] if value > EVERY_OBJECTS else []

    @staticmethod
    def largest(asked_for):
        """The syntax of the largest of some."""
        made = asked_for[0]
        for each in asked_for[1:]:
            made = c_ast.TernaryOp(c_ast.BinaryOp(">", made, each), made, each)
        return made
