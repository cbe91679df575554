# SPDX-License-Identifier: BSD-3-Clause
"""Loops of upc_forall by runs of the thread's own iterations, without a test in each, and in which
accesses to the thread's own elements are plain C that the C compiler vectorises.

Such a loop counts by a constant step, and its affinity is that of element i of an array, or the
count itself. Each thread's iterations then come in runs: those of one block or, if each element is
a block, those a multiple of THREADS apart. The elements of a run are contiguous in the thread's own
memory. An access x[i] in the body is to this thread, in each of its iterations, if

- x has the block size of the affinity's array (for an integer affinity: 1), and
- x begins where that array begins, on the same thread with the same phase. Declared arrays begin on
  thread 0 with phase 0, so this is known; for a pointer to shared, it is tested before the loop,

since the thread of element i follows from i, the block size and the beginning alone, whatever an
element is. The subscript must be the count itself, and neither it nor such a pointer may change in
the body.

The loop is therefore printed twice: by runs, after the test, and in its ordinary form, for what the
test rejects and for loops within another upc_forall, whose iterations all belong to one thread.
Strict accesses, and all others that are not such an x[i], are lowered as elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from pycparser import c_ast

from . import types
from .constants import is_integer
from .loop_body import Body, counter
from .part import Part
from .typenames import call, difference_type, identifier, number

if TYPE_CHECKING:
    from .accesses import Accesses
    from .convert import Value
    from .expressions import Expressions
    from .scope import Symbol
    from .statements import Statements
    from .typenames import Typenames
    from .unit import Unit


class Loop:
    """A loop that may be printed by runs, with what is found out while its body is lowered."""

    def __init__(
        self,
        number: int,
        count: Symbol,
        bound: c_ast.Node,
        inclusive: bool,
        step: int,
        base: Symbol | None,
        block: types.Block,
    ) -> None:
        self.count, self.bound, self.inclusive, self.step = count, bound, inclusive, step
        self.base = base  # symbol of the affinity's array; None for an integer affinity
        self.block = block  # of the array's elements
        self.index, self.run = f"ncupc_k{number}", f"ncupc_i{number}"
        self.length, self.unit = f"ncupc_n{number}", f"ncupc_unit{number}"
        self.stride, self.begin = f"ncupc_stride{number}", f"ncupc_begin{number}"
        self.end = f"ncupc_end{number}"
        # symbol: (name of the pointer to its element at the beginning of a run, declaration)
        self.found: dict[Symbol, tuple[str, c_ast.Node]] = {}


def begins_at_zero(symbol: Symbol | None) -> bool:
    """Return whether the symbol is a declared array, which begins on thread 0 with phase 0."""
    return symbol is None or symbol.type.is_array


class LocalLoops(Part):
    """Finds such loops, knows which accesses of their bodies are local, and makes the loops by
    runs."""

    accesses: Accesses
    expressions: Expressions
    statements: Statements
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._loop: Loop | None = None  # the loop whose body is being lowered
        self._body: Any = None  # the Body of the current loop
        self._stores_to_private = True  # whether the body may store through a private pointer
        self._number = 0

    def of(self, head: c_ast.Node, affinity: c_ast.Node, stmt: c_ast.Node) -> Loop | None:
        """Return the Loop; None if it cannot be printed by runs. Only the init clause has been
        lowered."""
        found = counter(head)
        if found is None or self.unit.function.addressed is None:
            return None
        name, bound, inclusive, step = found
        self._body = Body(stmt)
        if not self._body.may_be_repeated:
            return None
        self._stores_to_private = not all(map(self._is_shared, self._body.targets))
        count = self.unit.scope.find(name)
        if not (self._is_count(count) and self._is_bound(bound)):
            return None
        match affinity:
            case c_ast.ID(name=other) if other == name:
                base, block = None, types.CYCLIC
            case (
                c_ast.UnaryOp(
                    op="&",
                    expr=c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=c_ast.ID(name=other)),
                )
                | c_ast.BinaryOp(op="+", left=c_ast.ID(name=array), right=c_ast.ID(name=other))
            ) if other == name:
                base = self._array(array)
                if base is None:
                    return None
                block = types.decayed(base.type).target.block
            case _:
                return None
        self._number += 1
        return Loop(self._number, count, copy.deepcopy(bound), inclusive, step, base, block)

    def _is_count(self, symbol: Symbol | None) -> TypeGuard[Symbol]:
        """Return whether a symbol is an integer variable of the function that only the loop
        changes."""
        if symbol is None or symbol.kind != "object" or not self._is_private(symbol):
            return False
        kind = symbol.type
        return (
            kind.is_arithmetic
            and not kind.floating
            and kind.size in (4, 8)
            and not self._may_change(symbol)
            and not self._is_global(symbol)
        )

    def _is_private(self, symbol: Symbol) -> bool:
        return not symbol.type.is_shared and not {"volatile", "_Atomic"} & set(symbol.type.quals)

    def _is_global(self, symbol: Symbol) -> bool:
        return self.unit.globals.names.get(symbol.name) is symbol or bool(
            {"static", "extern"} & set(symbol.storage or ())
        )

    def _may_change(self, symbol: Symbol) -> bool:
        """Return whether the body may change a private variable: directly or, for a global one, by
        a function or a pointer."""
        name, body = symbol.name, self._body
        if (
            name in body.changed
            or name in body.declared
            or name in (self.unit.function.addressed or ())
        ):
            return True
        return self._is_global(symbol) and (body.calls or self._stores_to_private)

    def _is_shared(self, lvalue: c_ast.Node) -> bool:
        """Return whether an lvalue that is not lowered yet is certainly in shared memory."""
        kind = self._lvalue_type(lvalue)
        return kind is not None and kind.is_shared

    def _lvalue_type(self, node: c_ast.Node) -> types.Type | None:
        """Return the type of a variable from outside the body, or of its subscripts, members or *;
        None for all else."""
        match node:
            case c_ast.ID(name=name):
                symbol = self.unit.scope.find(name) if name not in self._body.declared else None
                return symbol.type if symbol is not None and symbol.kind == "object" else None
            case c_ast.BinaryOp(op="+" | "-"):
                return self._lvalue_type(node.left)
            case c_ast.ArrayRef():
                return self._pointed_to(node.name)
            case c_ast.UnaryOp(op="*"):
                return self._pointed_to(node.expr)
            case c_ast.StructRef():
                whole = (
                    self._lvalue_type(node.name)
                    if node.type == "."
                    else self._pointed_to(node.name)
                )
                member = (
                    whole.field(node.field.name) if whole is not None and whole.is_record else None
                )
                if whole is None or member is None:
                    return None
                return member[0].qualified((), types.INDEFINITE) if whole.is_shared else member[0]
        return None

    def _pointed_to(self, node: c_ast.Node) -> types.Type | None:
        kind = self._lvalue_type(node)
        kind = None if kind is None else types.decayed(kind)
        return kind.target if kind is not None and kind.is_pointer else None

    def _is_bound(self, node: c_ast.Node) -> bool:
        """Return whether an expression has one value throughout, without effects."""
        match node:
            case c_ast.Constant():
                return is_integer(node)  # a fraction would be truncated
            case c_ast.ID(name="THREADS" | "MYTHREAD"):
                return True
            case c_ast.ID():
                symbol = self.unit.scope.find(node.name)
                return symbol is not None and (
                    symbol.kind == "constant"
                    or symbol.kind == "object"
                    and self._is_private(symbol)
                    and symbol.type.is_arithmetic
                    and not symbol.type.floating
                    and not self._may_change(symbol)
                )
            case c_ast.BinaryOp():
                return (
                    node.op in ("+", "-", "*", "/", "%")
                    and self._is_bound(node.left)
                    and self._is_bound(node.right)
                )
            case c_ast.UnaryOp(op="-"):
                return self._is_bound(node.expr)
        return False

    def _array(self, name: str) -> Symbol | None:
        """Return the symbol of an array of shared elements, or of a private pointer to such that
        the body does not change; else None."""
        symbol = self.unit.scope.find(name)
        if symbol is None or symbol.kind != "object" or name in self._body.declared:
            return None
        kind = types.decayed(symbol.type)
        if not kind.is_pointer_to_shared or kind.target.is_array or kind.target.is_void:
            return None
        if symbol.type.is_pointer and (not self._is_private(symbol) or self._may_change(symbol)):
            return None
        return symbol

    # While the body is lowered

    def local(self, node: c_ast.Node) -> Callable[[], c_ast.Node] | None:
        """Return a function that makes the C of a local access; None if the access is not local.

        `node` is x[i], a c_ast.ArrayRef that is not lowered yet.
        """
        loop = self._loop
        if loop is None:
            return None
        match node:
            case c_ast.ArrayRef(name=c_ast.ID(name=array), subscript=c_ast.ID(name=name)):
                pass
            case _:
                return None
        if self.unit.scope.find(name) is not loop.count:
            return None
        symbol = self._array(array)
        if symbol is None:
            return None
        element = types.decayed(symbol.type).target
        if not element.is_arithmetic or not element.block.same(loop.block):
            return None
        return lambda: self._access(loop, symbol, element)

    def _access(self, loop: Loop, symbol: Symbol, element: types.Type) -> c_ast.Node:
        if symbol not in loop.found:
            loop.found[symbol] = self._pointer(loop, symbol, element)
        index = identifier(loop.index)
        if loop.step != 1:
            index = c_ast.BinaryOp("*", index, identifier(loop.unit))
        return c_ast.ArrayRef(identifier(loop.found[symbol][0]), index)

    def _pointer(self, loop: Loop, symbol: Symbol, element: types.Type) -> tuple[str, c_ast.Node]:
        at = self.accesses.added(self._base(symbol), identifier(loop.run), element)
        return self.accesses.operand_temporary(
            call("NCUPC_OWN", self.typenames.value_type(element), at)
        )

    def _base(self, symbol: Symbol) -> c_ast.Node:
        return self.expressions.value(identifier(symbol.name)).node

    # Output

    def by_runs(
        self, loop: Loop, stmt: c_ast.Node, declares_count: bool, controls: c_ast.Node
    ) -> tuple[c_ast.Node, c_ast.Node]:
        """Return (condition, block) of the loop by runs.

        `stmt` is the body, not lowered yet; `controls` is the first condition.
        """
        self._loop = loop
        try:
            body = self.statements.body(stmt)
        finally:
            self._loop = None
        count, bound = identifier(loop.count.c_name), self.expressions.value(loop.bound)
        return self._test(loop, count, bound, controls), self._block(
            loop, count, bound, body, declares_count
        )

    def _test(self, loop: Loop, count: c_ast.Node, bound: Value, made: c_ast.Node) -> c_ast.Node:
        tests = []
        if not (loop.count.type.signed and bound.type.is_arithmetic and bound.type.signed):
            # C's comparison and the signed one must agree
            compare = "<=" if loop.inclusive else "<"
            tests.append(
                c_ast.BinaryOp(
                    "==",
                    c_ast.BinaryOp(compare, count, bound.node),
                    c_ast.BinaryOp(
                        compare,
                        c_ast.Cast(difference_type(), count),
                        c_ast.Cast(difference_type(), bound.node),
                    ),
                )
            )
        for symbol in loop.found:
            if symbol is loop.base or (begins_at_zero(symbol) and begins_at_zero(loop.base)):
                continue
            other = None if begins_at_zero(symbol) else self._base(symbol)
            base = None if begins_at_zero(loop.base) else self._base(cast("Symbol", loop.base))
            tests.append(
                call("NCUPC_BEGINS_ALIKE", other, base)
                if other is not None and base is not None
                else call("NCUPC_BEGINS_AT_ZERO", base if other is None else other)
            )
        for test in tests:
            made = c_ast.BinaryOp("&&", made, test)
        return made

    def _block(
        self, loop: Loop, count: c_ast.Node, bound: Value, body: c_ast.Node, declares_count: bool
    ) -> c_ast.Node:
        """Return the block of the loop by runs:

        { const ptrdiff_t begin = i, end = n, stride = ...; ptrdiff_t run = begin, length;
          while ((length = NCUPC_RUN(run, end, base, block, step, stride)) > 0) {
            pointers; for (ptrdiff_t k = 0; k < length; ++k) { i = run + k * stride; body }
            run += length * stride; }
          i = what it is after the last iteration; }
        """
        end = c_ast.Cast(difference_type(), bound.node)
        if loop.inclusive:
            end = c_ast.BinaryOp("+", end, number(1))
        block = (
            number(1)
            if loop.base is None
            else self.typenames.block_size(types.decayed(loop.base.type).target)
        )
        base = call("ncupc_make", number(0), number(0), number(0))
        if loop.base is not None:
            base = self._base(loop.base)
        names = {name: identifier(name) for name in (loop.run, loop.index, loop.length)}
        run, index, length = names[loop.run], names[loop.index], names[loop.length]
        stride, begin = identifier(loop.stride), identifier(loop.begin)
        made = [
            self._number_variable(loop.begin, count, fixed=True),
            self._number_variable(loop.end, end, fixed=True),
            self._number_variable(
                loop.stride, call("ncupc_stride", block, number(loop.step)), fixed=True
            ),
            self._number_variable(loop.run, begin),
            self._number_variable(loop.length, number(0)),
        ]
        if loop.step != 1 and loop.found:
            made.append(
                self._number_variable(
                    loop.unit, call("ncupc_unit", block, number(loop.step), stride), fixed=True
                )
            )
        step = c_ast.BinaryOp("+", run, c_ast.BinaryOp("*", index, stride))
        each = c_ast.Compound([c_ast.Assignment("=", count, step), body])
        loops = c_ast.For(
            c_ast.DeclList([self._number_variable(loop.index, number(0))]),
            c_ast.BinaryOp("<", index, length),
            c_ast.UnaryOp("++", index),
            each,
        )
        next_run = call(
            "ncupc_run",
            c_ast.UnaryOp("&", run),
            identifier(loop.end),
            copy.deepcopy(base),
            copy.deepcopy(block),
            number(loop.step),
            stride,
        )
        made.append(
            c_ast.While(
                c_ast.BinaryOp(">", c_ast.Assignment("=", length, next_run), number(0)),
                c_ast.Compound(
                    [
                        *[declaration for _, declaration in loop.found.values()],
                        loops,
                        c_ast.Assignment("+=", run, c_ast.BinaryOp("*", length, stride)),
                    ]
                ),
            )
        )
        if not declares_count:
            after = call("ncupc_after", begin, identifier(loop.end), number(loop.step))
            made.append(c_ast.Assignment("=", count, after))
        return c_ast.Compound(made, self.unit.coord)

    def _number_variable(self, name: str, init: c_ast.Node, fixed: bool = False) -> c_ast.Node:
        quals = ["const"] if fixed else []
        return c_ast.Decl(
            name,
            quals,
            [],
            [],
            [],
            c_ast.TypeDecl(name, quals, None, c_ast.IdentifierType(["ptrdiff_t"])),
            init,
            None,
            self.unit.coord,
        )
