# SPDX-License-Identifier: BSD-3-Clause
"""Lowers upc_forall (UPC 1.3, 6.6.2): a `for` whose body is executed by one thread per iteration.

If the loop counts by one and its affinity follows the count, the iterations of other threads are
skipped at once, so that a thread's time does not grow with the number of threads.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import types
from .constants import is_integer
from .part import Part
from .scope import Scope
from .tree import mentions
from .typenames import call, difference_type, identifier, number

if TYPE_CHECKING:
    from .declare import Declarations
    from .expressions import Expressions
    from .local_loops import LocalLoops
    from .scope import Symbol
    from .statements import Statements
    from .typenames import Typenames
    from .unit import Unit


def _counter(node: c_ast.Node) -> tuple[str, c_ast.Node, bool] | None:
    """Return (name, bound, inclusive) of a loop that increments a variable by one up to a bound
    that does not name it; else None."""
    step, condition = node.next, node.cond
    match step:
        case c_ast.UnaryOp(op="p++" | "++", expr=c_ast.ID()):
            name = step.expr.name
        case c_ast.Assignment(op="+=", lvalue=c_ast.ID(), rvalue=c_ast.Constant(value="1")):
            name = step.lvalue.name
        case _:
            return None
    if not (
        isinstance(condition, c_ast.BinaryOp)
        and condition.op in ("<", "<=")
        and isinstance(condition.left, c_ast.ID)
        and condition.left.name == name
        and not mentions(condition.right, name)
    ):
        return None
    return name, condition.right, condition.op == "<="


class Forall(Part):
    """Lowers the loops, and what a longjmp out of them needs."""

    declarations: Declarations
    expressions: Expressions
    local_loops: LocalLoops
    statements: Statements
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._number = 0

    def landing(self, node: c_ast.Node) -> c_ast.Node:
        """Lower a call of setjmp. A longjmp to it skips the ends of the upc_forall loops in
        between, so their count is reset to its value here."""
        self.unit.function.jumps_land = True
        return call("NCUPC_LANDED", number(self.unit.function.controlled), node)

    def statement(self, node: c_ast.Node) -> c_ast.Node:
        """Lower a upc_forall."""
        coord = node.coord
        self.unit.scope = Scope(self.unit.scope)
        head = c_ast.For(None, copy.deepcopy(node.cond), copy.deepcopy(node.next), None)
        shares = node.affinity is not None and not isinstance(node.affinity, c_ast.Continue)
        self.unit.function.controlled += shares
        declares_count = isinstance(node.init, c_ast.DeclList)
        before = self.statements.loop_head(node)
        mine = others = by_runs = None
        if shares:
            self._number += 1
            local, again = self.local_loops.of(head, node.affinity, node.stmt), None
            if local is not None:
                again = copy.deepcopy(node.stmt)
            flag = f"ncupc_forall{self._number}"
            skip = self._skipping(head, node.affinity)
            mine = self._affinity(node.affinity, flag)
            others = skip(mine.args.exprs[1]) if skip is not None else None
        body = self.statements.body(node.stmt)
        if shares and local is not None:
            by_runs = self.local_loops.by_runs(local, again, declares_count, identifier(flag))
        self.unit.scope = self.unit.scope.parent
        self.unit.function.controlled -= shares
        if mine is not None:
            before.insert(0, call("NCUPC_FORALL", identifier(flag)))
            before[0].coord = coord
            if not isinstance(body, c_ast.Compound):
                body = c_ast.Compound([body], body.coord)
            body = c_ast.Compound([c_ast.If(mine, body, others, coord)], coord)
        if by_runs is not None:
            test, block = by_runs
            before += node.init.decls if declares_count and node.init is not None else []
            before += [node.init] if not declares_count and node.init is not None else []
            node.init = None
        made = c_ast.For(node.init, node.cond, node.next, body, coord)
        if by_runs is not None:
            made = c_ast.If(test, block, made, coord)
        return c_ast.Compound([*before, made], coord) if before else made

    def _affinity(self, node: c_ast.Node, flag: str) -> c_ast.Node:
        value = self.expressions.value(node)
        kind = value.type
        if kind.is_pointer_to_shared:
            return call("NCUPC_MINE_PTR", identifier(flag), value.node)
        if not types.may_index(kind):
            self.unit.error(
                node.coord,
                f"the affinity of upc_forall must be an integer, a pointer-to-shared or continue, not a '{kind}'",
            )
        return call("NCUPC_MINE_INT", identifier(flag), value.node)

    def _is_fixed(self, node: c_ast.Node) -> bool:
        """Return whether an expression of private variables and constants, without effects, can be
        evaluated again."""
        match node:
            case c_ast.Constant():
                # with a fraction, the last iteration would be a different one
                return is_integer(node)
            case c_ast.ID():
                symbol = self.unit.scope.find(node.name)
                return (
                    node.name in ("THREADS", "MYTHREAD")
                    or symbol is not None
                    and (
                        symbol.kind == "constant"
                        or symbol.type.is_arithmetic
                        and not symbol.type.is_shared
                        and not symbol.type.floating
                        and "volatile" not in symbol.type.quals
                    )
                )
            case c_ast.BinaryOp():
                return (
                    node.op in "+-*/" and self._is_fixed(node.left) and self._is_fixed(node.right)
                )
            case c_ast.Cast():
                kind = self.declarations.type_of(node.to_type.type)
                return kind.is_arithmetic and not kind.floating and self._is_fixed(node.expr)
        return False

    def _skipping(
        self, head: c_ast.Node, affinity: c_ast.Node
    ) -> Callable[[c_ast.Node], c_ast.Node | None] | None:
        """Return a function from the lowered affinity to the statement that skips other threads'
        iterations; else None. Nothing has been lowered yet."""
        found = _counter(head)
        if found is None:
            return None
        name, bound, inclusive = found
        symbol = self.unit.scope.find(name)
        if symbol is None or not self._is_counter(symbol) or not self._is_fixed(bound):
            return None
        bound = copy.deepcopy(bound)
        match affinity:
            case c_ast.ID(name=other) if other == name:
                array = None
            case c_ast.UnaryOp(
                op="&",
                expr=c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=c_ast.ID(name=other)),
            ) if other == name:
                pass
            case _:
                return None
        return lambda affinity: self._skip(name, bound, inclusive, array, affinity)

    @staticmethod
    def _is_counter(symbol: Symbol) -> bool:
        kind = symbol.type
        return (
            symbol.kind == "object"
            and kind.is_arithmetic
            and not kind.floating
            and not kind.is_shared
            and (kind.size or 0) >= 4
            and "volatile" not in kind.quals
        )

    def _skip(
        self, name: str, bound: c_ast.Node, inclusive: bool, array: str | None, affinity: c_ast.Node
    ) -> c_ast.Node | None:
        left = c_ast.BinaryOp(
            "-",
            c_ast.Cast(difference_type(), self.expressions.value(bound).node),
            c_ast.Cast(difference_type(), identifier(name)),
        )
        if inclusive:
            left = c_ast.BinaryOp("+", left, number(1))
        if array is None:
            return call("NCUPC_SKIP_INT", identifier(name), left)
        symbol = self.unit.scope.find(array)
        if symbol is None:
            return None
        kind = types.decayed(symbol.type)
        if not kind.is_pointer_to_shared or kind.target.is_array or kind.target.is_void:
            return None
        if symbol.type.is_pointer and symbol.type.is_shared:
            return None  # the pointer itself would have to be read again
        return call(
            "NCUPC_SKIP_PTR",
            identifier(name),
            left,
            copy.deepcopy(affinity),
            self.typenames.block_size(kind.target),
        )
