# SPDX-License-Identifier: BSD-3-Clause
"""Interprets pragmas: UPC's mode of accesses, and whether structs are packed."""

import re

from pycparser import c_ast

PACK = re.compile(r"pack\s*\((.*)\)")
LOOP = re.compile(r"GCC\s+(?:ivdep|unroll|novector)\b")
LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)


def text_of(node: c_ast.Node) -> str:
    string = (
        node.string.value.strip('"') if isinstance(node.string, c_ast.Constant) else node.string
    )
    return string or ""


def mode(node: c_ast.Node) -> bool | None:
    """Return True for `#pragma upc strict`, False for relaxed, None for other pragmas."""
    words = text_of(node).split()
    if len(words) >= 2 and words[0] == "upc" and words[1] in ("strict", "relaxed"):
        return words[1] == "strict"
    return None


def without_lost(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Return the items of a block without the pragmas about a loop that no loop follows any more,
    as it has been lowered to several statements."""
    kept: list[c_ast.Node] = []
    for item in reversed(items):
        about_a_loop = isinstance(item, c_ast.Pragma) and LOOP.match(text_of(item))
        if not about_a_loop or kept and isinstance(kept[-1], (*LOOPS, c_ast.Pragma)):
            kept.append(item)
    return kept[::-1]


class Packing:
    """Follows `#pragma pack`: only the C compiler knows the members' offsets in structs declared
    under its effect."""

    def __init__(self) -> None:
        self._stack = [""]

    @property
    def changed(self) -> bool:
        return bool(self._stack[-1])

    def follow(self, node: c_ast.Node) -> None:
        match = PACK.match(text_of(node))
        if match is None:
            return
        words = [word.strip() for word in match[1].split(",") if word.strip()]
        if words[:1] == ["pop"]:
            del self._stack[max(1, len(self._stack) - 1) :]
            return
        if words[:1] == ["push"]:
            self._stack.append(self._stack[-1])
        numbers = [word for word in words if not word.isidentifier()]  # the others are labels
        if numbers or not words:
            self._stack[-1] = numbers[-1] if numbers else ""
