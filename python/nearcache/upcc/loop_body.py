# SPDX-License-Identifier: BSD-3-Clause
"""What a loop counts and what its body does, determined before it is lowered."""

from __future__ import annotations

from pycparser import c_ast

from . import pragmas, upc_ast
from .tree import mentions


def counter(head: c_ast.Node) -> tuple[str, c_ast.Node, bool, int] | None:
    """Return (name, bound, inclusive, step) of a loop that adds a positive constant to a variable
    up to a bound; else None.

    The bound does not name the variable, as it would then change in each iteration.
    """
    step, condition = head.next, head.cond
    match step:
        case c_ast.UnaryOp(op="p++" | "++", expr=c_ast.ID(name=name)):
            by = 1
        case c_ast.Assignment(
            op="+=", lvalue=c_ast.ID(name=name), rvalue=c_ast.Constant(type="int", value=value)
        ) if value.isdecimal() and (value == "0" or value[0] != "0"):
            by = int(value)
        case _:
            return None
    if not (
        0 < by < 1 << 20
        and isinstance(condition, c_ast.BinaryOp)
        and condition.op in ("<", "<=")
        and isinstance(condition.left, c_ast.ID)
        and condition.left.name == name
        and not mentions(condition.right, name)
    ):
        return None
    return name, condition.right, condition.op == "<=", by


class Body:
    """What the body of a loop does."""

    def __init__(self, node: c_ast.Node) -> None:
        self.may_be_repeated = True  # False if the text contains anything that may occur only once
        self.changed: set[str] = set()  # variables that the body assigns
        self.calls = False
        self.declared: set[str] = set()
        self.targets: list[c_ast.Node] = []  # other lvalues that it stores to
        waiting = [(node, False)]
        while waiting:
            each, breaks = waiting.pop()
            self._see(each, breaks)
            breaks = breaks or isinstance(
                each, (c_ast.For, c_ast.While, c_ast.DoWhile, c_ast.Switch)
            )
            waiting += [(child, breaks) for _, child in each.children()]

    def _see(self, node: c_ast.Node, breaks: bool) -> None:
        match node:
            case c_ast.Assignment(lvalue=lvalue):
                self._store(lvalue)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--", expr=expr):
                self._store(expr)
            case c_ast.FuncCall():
                self.calls = True
            case c_ast.Break():
                self.may_be_repeated &= breaks
            case c_ast.Decl():
                self.declared.add(node.name)
                self.may_be_repeated &= not {"static", "extern"} & set(node.storage or ())
            case c_ast.Pragma():
                self.may_be_repeated &= pragmas.mode(node) is not None
            case (
                c_ast.Label()
                | c_ast.Goto()
                | c_ast.Return()
                | c_ast.Typedef()
                | c_ast.FuncDef()
                | c_ast.StaticAssert()
                | c_ast.UnaryOp(op="&&")
                | upc_ast.Asm()
                | upc_ast.ComputedGoto()
                | upc_ast.LocalLabels()
                | upc_ast.Raw()
                | upc_ast.UpcForall()
                | upc_ast.UpcSync()
            ):
                self.may_be_repeated = False
            case c_ast.Struct() | c_ast.Union():
                self.may_be_repeated &= node.decls is None
            case c_ast.Enum():
                self.may_be_repeated &= node.values is None

    def _store(self, lvalue: c_ast.Node) -> None:
        if isinstance(lvalue, c_ast.ID):
            self.changed.add(lvalue.name)
        else:
            self.targets.append(lvalue)
