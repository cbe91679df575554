# SPDX-License-Identifier: BSD-3-Clause
"""Prints expressions with the parentheses that C requires and those that -Wall would otherwise warn
about, but no others."""

import re

from pycparser import c_ast, c_generator

from . import upc_ast

# Precedence of what a node prints; binary operators, from 3 on, follow pycparser's table.
COMMA, ASSIGNMENT, CONDITIONAL, BINARY, CAST, UNARY, POSTFIX = 0, 1, 2, 3, 20, 21, 22
_SIZEOF = frozenset(
    {"sizeof", "_Alignof", "__alignof__", "upc_blocksizeof", "upc_elemsizeof", "upc_localsizeof"}
)
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_BITWISE = frozenset("&|^")
_SHIFTS = frozenset({"<<", ">>"})
_LINE_BREAK = re.compile(r"\s*\n(?:\x01\d+\x02)? *")
_LONG_LIST = 100  # columns beyond which an initialiser is broken into lines


class ExpressionPrinter(c_generator.CGenerator):
    def visit(self, node: c_ast.Node) -> str:
        method = self._methods.get(node.__class__)
        if method is None:
            method = self._methods[node.__class__] = getattr(
                self, "visit_" + node.__class__.__name__, self.generic_visit
            )
        return method(node)

    def _level(self, n: c_ast.Node) -> int:
        """Return the precedence of an expression's text."""
        if isinstance(n, c_ast.BinaryOp):
            return BINARY + self.precedence_map[n.op]
        if isinstance(n, c_ast.Constant):
            return UNARY if n.value.startswith("-") else POSTFIX
        if isinstance(n, c_ast.UnaryOp):
            return POSTFIX if n.op in ("p++", "p--") else UNARY
        return _LEVELS.get(n.__class__, POSTFIX)

    def _operand(self, n: c_ast.Node, level: int) -> str:
        text = self._visit_expr(n, allow_comma=True)
        return f"({text})" if self._level(n) < level else text

    def _visit_expr(self, n: c_ast.Node, *, allow_comma: bool = False) -> str:
        if isinstance(n, c_ast.InitList):
            return self._braced(n)
        if isinstance(n, c_ast.ExprList) and not allow_comma:
            return f"({self.visit(n)})"
        if isinstance(n, c_ast.Compound):  # pycparser's own form of a statement expression
            return f"({self._flat(self._braces(n))})"
        return self.visit(n)

    def _condition(self, n: c_ast.Node) -> str:
        """Print a controlling expression; an assignment gets its own parentheses."""
        if isinstance(n, c_ast.ExprList):
            return ", ".join(
                [self._visit_expr(e) for e in n.exprs[:-1]]
                + [self._operand(n.exprs[-1], CONDITIONAL)]
            )
        return self._operand(n, CONDITIONAL)

    @staticmethod
    def _flat(text: str) -> str:
        """Put statements on one line, as inside an expression."""
        return _LINE_BREAK.sub(" ", text)

    def visit_ID(self, n: c_ast.Node) -> str:
        return n.name

    def visit_Raw(self, n: c_ast.Node) -> str:
        return n.text

    def visit_ArrayRef(self, n: c_ast.Node) -> str:
        return (
            f"{self._operand(n.name, POSTFIX)}[{self._visit_expr(n.subscript, allow_comma=True)}]"
        )

    def visit_StructRef(self, n: c_ast.Node) -> str:
        return self._operand(n.name, POSTFIX) + n.type + self.visit(n.field)

    def visit_FuncCall(self, n: c_ast.Node) -> str:
        return (
            f"{self._operand(n.name, POSTFIX)}({self.visit(n.args) if n.args is not None else ''})"
        )

    def visit_UnaryOp(self, n: c_ast.Node) -> str:
        if n.op in _SIZEOF:
            return f"{n.op}({self._visit_expr(n.expr, allow_comma=True)})"
        if n.op in ("p++", "p--"):
            return self._operand(n.expr, POSTFIX) + n.op[1:]
        operand = self._operand(n.expr, CAST if n.op not in ("++", "--") else UNARY)
        if n.op[0] == "_":
            return f"{n.op} {operand}"
        return (
            f"{n.op}({operand})" if operand[0] == n.op[0] and n.op[0] in "+-&" else n.op + operand
        )

    def visit_Cast(self, n: c_ast.Node) -> str:
        return f"({self.visit(n.to_type)}) {self._operand(n.expr, CAST)}"

    def visit_BinaryOp(self, n: c_ast.Node) -> str:
        return f"{self._binary_operand(n, n.left, False)} {n.op} {self._binary_operand(n, n.right, True)}"

    def _binary_operand(self, n: c_ast.Node, operand: c_ast.Node, on_right: bool) -> str:
        text = self._operand(operand, self._level(n) + on_right)
        if text.startswith("(") and self._level(operand) < self._level(n) + on_right:
            return text
        return f"({text})" if self._surprising(n.op, operand, on_right) else text

    @staticmethod
    def _surprising(operator: str, operand: c_ast.Node, on_right: bool) -> bool:
        """Return whether a compiler would suggest parentheses around this operand."""
        if isinstance(operand, c_ast.UnaryOp):
            return (
                operand.op == "!"
                and not on_right
                and (operator in _COMPARISONS or operator in _BITWISE)
            )
        if not isinstance(operand, c_ast.BinaryOp):
            return False
        if operator == "||":
            return operand.op == "&&"
        if operator in _BITWISE:
            return operand.op != operator
        if operator in _SHIFTS:
            return True
        return operator in _COMPARISONS and operand.op in _COMPARISONS

    def visit_TernaryOp(self, n: c_ast.Node) -> str:
        cond = self._operand(n.cond, BINARY)
        iffalse = self._operand(n.iffalse, CONDITIONAL)
        return (
            f"{cond} ?: {iffalse}"
            if n.iftrue is None
            else f"{cond} ? {self._operand(n.iftrue, CONDITIONAL)} : {iffalse}"
        )

    def visit_Assignment(self, n: c_ast.Node) -> str:
        return f"{self._operand(n.lvalue, UNARY)} {n.op} {self._operand(n.rvalue, ASSIGNMENT)}"

    def visit_StatementExpr(self, n: c_ast.Node) -> str:
        self._flat_depth += 1
        text = self._flat(self._braces(n.compound))
        self._flat_depth -= 1
        return f"({text})"

    def visit_Range(self, n: c_ast.Node) -> str:
        return f"{self._visit_expr(n.first)} ... {self._visit_expr(n.last)}"

    def visit_CompoundLiteral(self, n: c_ast.Node) -> str:
        return f"({self.visit(n.type)}){self._braced(n.init)}"

    def visit_InitList(self, n: c_ast.Node) -> str:
        return ", ".join(self._visit_expr(e) for e in n.exprs)

    def _braced(self, n: c_ast.Node) -> str:
        """Print an initialiser list; a long one is broken into lines."""
        items = [self._visit_expr(e) for e in n.exprs]
        if self._flat_depth or sum(map(len, items)) + 2 * len(items) < _LONG_LIST:
            return "{" + ", ".join(items) + "}"
        indent = "\n" + self._make_indent() + "    "
        lines, width = [], _LONG_LIST
        for item in items:
            if width + len(item) >= _LONG_LIST:
                lines.append("")
                width = 0
            lines[-1] += item + ", "
            width += len(item) + 2
        return "{" + indent + indent.join(line.rstrip() for line in lines).rstrip(",") + "}"


_LEVELS = {
    c_ast.ExprList: COMMA,
    c_ast.Assignment: ASSIGNMENT,
    c_ast.TernaryOp: CONDITIONAL,
    upc_ast.Range: CONDITIONAL,
    c_ast.Cast: CAST,
}
