# SPDX-License-Identifier: BSD-3-Clause
"""Lowers expressions: shared lvalues become gets and puts, pointer-to-shared arithmetic becomes
calls, everything else stays as it is.

Each visitor returns a Value or, for a shared lvalue, a Place. Operands are lowered once, so that
each side effect happens once.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pycparser import c_ast

from . import types
from .arithmetic_types import INT, SIZE, arithmetic
from .constants import constant_type, is_zero
from .convert import Place, Value
from .keywords import old_name_hint
from .part import Part
from .tree import SETJMP, called_names
from .typenames import call, identifier, number, size_type
from .upc_ast import Range

if TYPE_CHECKING:
    from .accesses import Accesses
    from .convert import Conversions, Found
    from .declare import Declarations
    from .forall import Forall
    from .initializers import Initializers
    from .layouts import Layouts
    from .local_loops import LocalLoops
    from .operators import Operators
    from .rewrite import Rewriting
    from .statements import Statements
    from .statics import Statics
    from .system_headers import SystemHeaders
    from .typenames import Typenames
    from .unit import Unit

FUNCTION_NAMES = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"}
KNOWN_NAMES = FUNCTION_NAMES | {"NCUPC_NULL"}


def _reads_shared(value: Value) -> bool:
    """Return whether code that reads shared objects is part of a value whose type is known."""
    return not value.type.is_unknown and any(
        name.startswith("NCUPC_") for name in called_names(value.node)
    )


class Expressions(Part):
    """Lowers primary and postfix expressions and assignments; the parts responsible lower all
    others."""

    accesses: Accesses
    conversions: Conversions
    declarations: Declarations
    layouts: Layouts
    forall: Forall
    initializers: Initializers
    local_loops: LocalLoops
    operators: Operators
    rewriting: Rewriting
    statements: Statements
    statics: Statics
    system_headers: SystemHeaders
    typenames: Typenames

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self._visitors: dict[str, Callable[..., Found]] = {}
        self._implicit: set[str] = set()  # implicitly declared names already reported
        # functions called only in operands of sizeof that are not in the output
        self._unevaluated: set[str] = set()

    def connect(self, parts: Mapping[str, Part]) -> None:
        super().connect(parts)
        for part in (self, self.operators):
            self._visitors.update(
                {name[6:]: getattr(part, name) for name in dir(part) if name.startswith("visit_")}
            )
        self._visitors["Cast"] = self.conversions.cast

    def leave_unevaluated(self, functions: Iterable[str]) -> None:
        """Note that calls of these functions are in operands that are not in the output."""
        self._unevaluated.update(functions)

    def needs_a_function(self, value: Value) -> bool:
        """Return whether a value is read by a statement expression at file scope, where C has none.
        If it is an operand that is not evaluated, its type will do."""
        return self.unit.function.symbol is None and _reads_shared(value)

    def unevaluated(self) -> set[str]:
        return self._unevaluated

    def knows(self, node: c_ast.Node) -> bool:
        """Return whether the node is an expression."""
        return type(node).__name__ in self._visitors

    def expression(self, node: c_ast.Node, unused: bool = False) -> Found:
        """Lower an expression; return a Value, or a Place if it designates a shared object."""
        method = self._visitors.get(type(node).__name__)
        if method is None:
            return Value(node, types.Unknown())
        if node.coord is not None:
            self.unit.coord = node.coord
        if unused and isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--"):
            node.op = node.op[1:]
        if unused and isinstance(node, c_ast.ExprList):
            return self.visit_ExprList(node, unused=True)
        return method(node)

    def value(self, node: c_ast.Node, unused: bool = False) -> Value:
        """Lower an expression and take its value: shared objects are read, arrays and functions
        become pointers."""
        return self.accesses.loaded(self.expression(node, unused))

    def constant(self, node: c_ast.Node) -> c_ast.Node:
        """Return the syntax of an index or a case label, which may be GNU C's range."""
        if not isinstance(node, Range):
            return self.value(node).node
        node.first, node.last = self.value(node.first).node, self.value(node.last).node
        return node

    def condition(self, node: c_ast.Node) -> c_ast.Node:
        return self.conversions.truth(self.value(node))

    def type_of_operand(self, node: c_ast.Node) -> types.Type:
        """Return the type of an expression that is not evaluated, or of a type name."""
        if isinstance(node, c_ast.Typename):
            return self.layouts.complete(self.declarations.type_of(node.type), node)
        coord = self.unit.coord
        kind = self.expression(copy.deepcopy(node)).type
        self.unit.coord = coord
        return kind

    # Primary expressions

    def visit_Constant(self, node: c_ast.Node) -> Value:
        if node.type == "string":
            return Value(
                node, types.Array(cast(types.Type, arithmetic(["char"])), None, None), lvalue=True
            )
        if node.type == "char":
            return Value(node, INT)
        kind = (
            constant_type(node)
            if "int" in node.type and "_Complex" not in node.type
            else arithmetic(node.type.split())
        )
        return Value(node, kind or types.Unknown(), null=is_zero(node))

    def visit_ID(self, node: c_ast.Node) -> Found:
        name = node.name
        if name in ("THREADS", "MYTHREAD"):
            return Value(node, INT)
        symbol = self.unit.scope.find(name)
        if symbol is None:
            if name in FUNCTION_NAMES and self.unit.function.is_main:  # it has another name in C
                return self.visit_Constant(c_ast.Constant("string", '"main"', node.coord))
            if not (name.startswith("__builtin_") or name in KNOWN_NAMES or name in self._implicit):
                self._implicit.add(name)
                self.unit.error(node.coord, f"'{name}' is not declared{old_name_hint(name)}")
            return Value(node, types.Unknown())
        if symbol.kind == "constant":
            return Value(node, INT, null=False)
        node.name = symbol.c_name
        if symbol.kind == "object" and symbol.type.is_shared:
            self.accesses.begins_an_object(node)
            return Place(node, symbol.type)
        return Value(node, symbol.type, lvalue=symbol.kind == "object")

    def visit_ExprList(self, node: c_ast.Node, unused: bool = False) -> Value:
        *before, last = node.exprs
        node.exprs = [self.value(each, unused=True).node for each in before]
        value = self.value(last, unused)
        node.exprs.append(value.node)
        return Value(node, value.type)

    def visit_CompoundLiteral(self, node: c_ast.Node) -> Value:
        kind = self.declarations.type_of(node.type.type)
        if kind.is_shared:
            self.unit.error(node.coord, "a compound literal cannot be shared")
        node.type = self.rewriting.rewritten_typename(node.type)
        node.init = self.initializers.initializer(node.init, kind)
        if isinstance(node.init, c_ast.InitList):
            return Value(node, kind, lvalue=True)
        node.type = self.typenames.typename(types.Array(kind, None, 1))
        node.init = c_ast.InitList([node.init])
        return Value(c_ast.UnaryOp("*", node), kind, lvalue=True)

    def visit_InitList(self, node: c_ast.Node) -> Value:
        self.unit.error(node.coord, "a list in braces is not an expression")
        return Value(node, types.Unknown())

    def visit_StatementExpr(self, node: c_ast.Node) -> Value:
        node.compound, kind = self.statements.valued(node.compound)
        return Value(node, kind)

    def visit_GenericSelection(self, node: c_ast.Node) -> Found:
        called = set(called_names(node.expr))
        control = self.value(node.expr)
        kinds = [
            each.type and self.declarations.type_of(each.type.type) for each in node.associations
        ]
        if control.type.is_pointer_to_shared or any(
            kind is not None and kind.is_pointer_to_shared for kind in kinds
        ):
            return self._chosen(node, control, kinds)
        node.expr = control.node
        if _reads_shared(control):  # which static initialisers may not, though nothing is evaluated
            pointer = self.typenames.typename(types.Pointer(control.type.unqualified()))
            node.expr = c_ast.UnaryOp("*", c_ast.Cast(pointer, c_ast.Constant("int", "0")))
            self.leave_unevaluated(called)
        results = []
        for each in node.associations:
            value = self.expression(each.expr)
            value = self.accesses.loaded(value) if isinstance(value, Place) else value
            each.expr = value.node
            if each.type is not None:
                each.type = self.rewriting.rewritten_typename(each.type)
            results.append(value)
        chosen = next(
            (
                value
                for value, kind in zip(results, kinds)
                if kind is not None and types.compatible(kind, control.type)
            ),
            None,
        )
        if chosen is None:
            chosen = next(
                (value for value, kind in zip(results, kinds) if kind is None), results[0]
            )
        if control.type.is_unknown:
            return Value(node, types.Unknown())
        return Value(node, chosen.type, lvalue=chosen.lvalue)

    def _chosen(
        self, node: c_ast.Node, control: Value, kinds: Sequence[types.Type | None]
    ) -> Found:
        """Choose the association of a _Generic here, as C cannot tell pointers-to-shared apart."""
        default = None
        for each, kind in zip(node.associations, kinds):
            if kind is None:
                default = each
            elif types.compatible(kind, control.type):
                return self.expression(each.expr)
        if default is None:
            self.unit.error(node.coord, f"_Generic has no association for '{control.type}'")
            return control
        return self.expression(default.expr)

    # Postfix expressions

    def visit_ArrayRef(self, node: c_ast.Node) -> Found:
        local = self.local_loops.local(node)
        found = self.expression(node.name)
        if isinstance(found, Place) and found.type.is_arithmetic and found.type.size is None:
            return self._shared_vector_element(node, found)
        base, index = self.accesses.loaded(found), self.value(node.subscript)
        if index.type.is_pointer and not base.type.is_pointer:
            base, index = index, base
            node.name, node.subscript = node.subscript, node.name
        if base.type.is_pointer_to_shared:
            if not types.may_index(index.type):
                self.unit.error(
                    node.coord, f"the subscript is not an integer but of type '{index.type}'"
                )
            return Place(
                self.accesses.added(base.node, index.node, base.type.target, index.type),
                base.type.target,
                local=local,
            )
        if index.type.is_pointer_to_shared:
            self.unit.error(node.coord, f"the subscript is a pointer-to-shared ('{index.type}')")
        node.name, node.subscript = base.node, index.node
        return Value(
            node, base.type.target if base.type.is_pointer else types.Unknown(), lvalue=True
        )

    def _shared_vector_element(self, node: c_ast.Node, vector: Place) -> Place:
        """Lower the subscript of a shared vector (GNU C's vector_size), whose element only the C
        compiler knows."""
        whole = self.typenames.typename(types.Pointer(vector.type.unqualified()))
        first = c_ast.ArrayRef(c_ast.UnaryOp("*", c_ast.Cast(whole, number(0))), number(0))
        kind = types.Unknown(c_ast.TypeOf("__typeof__", first))
        index = c_ast.Cast(size_type(), self.value(node.subscript).node)
        offset = c_ast.BinaryOp("*", index, self.typenames.size(kind))
        quals = vector.type.quals & {"strict", "relaxed", "const", "volatile"}
        return Place(
            call("ncupc_field", vector.pointer, offset), kind.qualified(quals, types.INDEFINITE)
        )

    def visit_StructRef(self, node: c_ast.Node) -> Found:
        base = self.expression(node.name)
        if node.type == "->":
            base = self.accesses.loaded(base)
            if base.type.is_pointer_to_shared:
                base = Place(base.node, base.type.target)
            elif base.type.is_pointer:
                return self._private_member(node, base, base.type.target)
            elif not base.type.is_unknown:
                self.unit.error(
                    node.coord, f"-> needs a pointer to a struct or union, not a '{base.type}'"
                )
                return Value(node, types.Unknown())
        if isinstance(base, Place):
            return self._shared_member(node, base)
        return self._private_member(node, base, base.type)

    def _member(
        self, node: c_ast.Node, kind: types.Type
    ) -> tuple[types.Type, c_ast.Node | None] | None:
        found = kind.field(node.field.name) if kind.is_record else None
        if found is None and not kind.is_unknown:
            what = f"'{kind}' has no member '{node.field.name}'"
            if kind.is_record and kind.body.fields is None:
                what = f"'{kind}' is incomplete"
            self.unit.error(
                node.coord,
                what
                if kind.is_record
                else f"'{node.field.name}' is asked of a '{kind}', no struct or union",
            )
        return found

    def _private_member(self, node: c_ast.Node, base: Value, kind: types.Type) -> Value:
        node.name = base.node
        found = self._member(node, kind)
        return Value(node, found[0] if found else types.Unknown(), lvalue=True)

    def _shared_member(self, node: c_ast.Node, base: Place) -> Found:
        found = self._member(node, base.type)
        if found is None:
            return Value(node, types.Unknown())
        kind, bits = found
        member = node.field.name
        quals = base.type.quals & {"strict", "relaxed", "const", "volatile"}
        shared = kind.qualified(quals, types.INDEFINITE)
        if bits is not None:
            return Place(base.pointer, shared, bits=(base.type, member))
        pointer, record, path = base.path or (base.pointer, base.type, "")
        path = f"{path}.{member}" if path else member
        offset = call("__builtin_offsetof", self.typenames.value_type(record), identifier(path))
        return Place(call("ncupc_field", pointer, offset), shared, path=(pointer, record, path))

    def visit_FuncCall(self, node: c_ast.Node) -> Value:
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        given = node.args.exprs if node.args is not None else []
        if name in ("offsetof", "__builtin_offsetof") and self.unit.scope.find(name) is None:
            if len(given) != 2 or not isinstance(given[0], c_ast.Typename):
                self.unit.error(node.coord, f"{name} takes a type and a member")
                return Value(number(0), SIZE)
            node.args.exprs[0] = self.rewriting.rewritten_typename(node.args.exprs[0])
            return Value(node, SIZE)
        if name == "bupc_assert_type" and self.unit.scope.find(name) is None:
            return self._assert_type(node)
        is_va_arg = name in ("__builtin_va_arg", "va_arg") and len(given) == 2
        if is_va_arg and isinstance(given[1], c_ast.Typename):
            kind = self.declarations.type_of(given[1].type)
            node.args.exprs = [
                self.value(given[0]).node,
                self.rewriting.rewritten_typename(given[1]),
            ]
            return Value(node, kind.unqualified())
        function = self._called(node, name)
        kind = function.type.target if function.type.is_pointer else function.type
        node.name = function.node
        parameters = kind.parameters if kind.is_function else None
        if node.args is not None:
            node.args.exprs = self._arguments(given, parameters, kind, name)
        if parameters is not None and len(given) < len(parameters):
            self.unit.error(
                node.coord,
                f"too few arguments to '{name or 'the function'}': {len(given)} of {len(parameters)}",
            )
        if name in SETJMP:
            return Value(self.forall.landing(node), INT)
        return Value(
            node,
            kind.result.unqualified() if kind.is_function else self._builtin_result(name),
        )

    def _assert_type(self, node: c_ast.Node) -> Value:
        """Lower Berkeley's test whether two types, or those of unevaluated expressions, are the
        same: to 1, or to 0 with a warning."""
        given = node.args.exprs if node.args is not None else []
        if len(given) != 2:
            self.unit.error(
                node.coord, f"bupc_assert_type takes two types or expressions, not {len(given)}"
            )
            return Value(number(0), INT)
        one, other = map(self.type_of_operand, given)
        for each in given:
            self.leave_unevaluated(called_names(each))
        found = types.identical(one, other) and self.statics.same_multiples(one, other)
        if found is None:
            self.unit.error(
                node.coord,
                "bupc_assert_type: upcc does not know these types, only the C compiler does",
            )
        elif not found:
            self.unit.warn(
                node.coord, f"bupc_assert_type: '{one}' and '{other}' are different types"
            )
        return Value(number(int(found is True)), INT)

    def _called(self, node: c_ast.Node, name: str) -> Value:
        if name and self.unit.scope.find(name) is None:
            if old_name_hint(name):
                self.unit.error(node.coord, f"'{name}' is not declared{old_name_hint(name)}")
            # a builtin, or a function for which the C compiler warns
            return Value(node.name, types.Unknown())
        return self.value(node.name)

    def _arguments(
        self,
        given: Sequence[c_ast.Node],
        parameters: Sequence[types.Type] | None,
        kind: types.Type,
        name: str,
    ) -> list[c_ast.Node]:
        made = []
        for position, argument in enumerate(given):
            if isinstance(argument, c_ast.Typename):
                made.append(self.rewriting.rewritten_typename(argument))
                continue
            value = self.value(argument)
            if parameters is not None and position < len(parameters):
                what = (
                    f"argument {position + 1} of '{name}'" if name else f"argument {position + 1}"
                )
                made.append(
                    self.conversions.converted(value, parameters[position], argument.coord, what)
                )
            else:
                if parameters is not None and not kind.variadic and position == len(parameters):
                    self.unit.error(
                        argument.coord,
                        f"too many arguments to '{name or 'the function'}': {len(given)} for {len(parameters)}",
                    )
                if value.type.is_pointer_to_shared and self._is_printf_like(name, kind):
                    self.unit.warn(
                        argument.coord,
                        f"argument {position + 1} of '{name}', which takes any number of arguments, is a pointer-to-shared: "
                        "the C library does not know what that is. Pass upc_threadof and upc_addrfield of it, or cast it",
                    )
                made.append(value.node)
        return made

    def _is_printf_like(self, name: str, kind: types.Type) -> bool:
        """Return whether a function is variadic and declared by a system header. One written in UPC
        may take pointers-to-shared by va_arg."""
        symbol = self.unit.scope.find(name) if name else None
        return (
            kind.is_function
            and kind.variadic
            and symbol is not None
            and self.system_headers.declares(symbol)
        )

    @staticmethod
    def _builtin_result(name: str) -> types.Type:
        return (
            INT
            if name in ("__builtin_types_compatible_p", "__builtin_constant_p")
            else types.Unknown()
        )

    # Assignment and casts

    def visit_Assignment(self, node: c_ast.Node) -> Value:
        target = self.expression(node.lvalue)
        self.operators.must_be_lvalue(node.lvalue, target)
        value = self.value(node.rvalue)
        coord = node.coord
        if node.op != "=":
            return self._compound_assignment(node, target, value)
        what = (
            f"assignment to '{node.lvalue.name}'"
            if isinstance(node.lvalue, c_ast.ID)
            else "assignment"
        )
        right = self.conversions.converted(value, target.type, coord, what)
        if isinstance(target, Place):
            self.unit.coord = coord
            return Value(self.accesses.stored(target, right), target.type.unqualified())
        node.lvalue, node.rvalue = target.node, right
        return Value(node, target.type.unqualified())

    def _compound_assignment(self, node: c_ast.Node, target: Found, value: Value) -> Value:
        operator = node.op[:-1]
        if isinstance(target, Place):
            self.unit.coord = node.coord
            return self.operators.update_shared(target, operator, value)
        if not target.type.is_pointer_to_shared:
            node.lvalue, node.rvalue = target.node, value.node
            if value.type.is_pointer_to_shared:
                self.unit.error(node.coord, f"{node.op} with a pointer-to-shared")
            return Value(node, target.type.unqualified())
        if operator not in "+-" or not types.may_index(value.type):
            self.unit.error(node.coord, f"operator {node.op} on '{target.type}' and '{value.type}'")
        return self.operators.moved(target, self.accesses.steps(operator, value))
