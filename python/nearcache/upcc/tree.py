# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of a tree before it is lowered."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from . import upc_ast

# they return more than once
SETJMP = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp"}


def nodes_of(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield a node and all below it, without recursion: expressions may be deep."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [child for _, child in each.children()]


def mentions(node: c_ast.Node, name: str) -> bool:
    """Return whether an expression names a variable."""
    return any(isinstance(each, c_ast.ID) and each.name == name for each in nodes_of(node))


def called_names(node: c_ast.Node) -> Iterator[str]:
    """Yield the names of the functions that an expression calls."""
    for each in nodes_of(node):
        if isinstance(each, c_ast.FuncCall) and isinstance(each.name, c_ast.ID):
            yield each.name.name


def addressed_names(body: c_ast.Node) -> set[str] | None:
    """Return the names whose address a function takes; None if its variables may change by means
    other than C's expressions."""
    found = set()
    for node in nodes_of(body):
        match node:
            case upc_ast.Asm() | c_ast.FuncDef():
                return None
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in SETJMP:
                return None
            # addresses of parts are irrelevant: the variables in question have none
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                found.add(name)
    return found
