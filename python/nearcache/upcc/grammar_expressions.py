# SPDX-License-Identifier: BSD-3-Clause
"""Grammar of GNU C's and UPC's expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycparser import c_ast

from . import keywords, upc_ast
from .grammar_declarations import DeclarationGrammar

if TYPE_CHECKING:
    from .lexer import Token

_ASSIGNMENTS = frozenset(
    "EQUALS XOREQUAL TIMESEQUAL DIVEQUAL MODEQUAL PLUSEQUAL MINUSEQUAL LSHIFTEQUAL RSHIFTEQUAL ANDEQUAL OREQUAL".split()
)
_PRECEDENCE = {
    kind: level
    for level, kinds in enumerate(
        (
            "LOR",
            "LAND",
            "OR",
            "XOR",
            "AND",
            "EQ NE",
            "GT GE LT LE",
            "RSHIFT LSHIFT",
            "PLUS MINUS",
            "TIMES DIVIDE MOD",
        )
    )
    for kind in kinds.split()
}
_NO_OPERATOR = -1


class ExpressionGrammar(DeclarationGrammar):
    def _starts_expression(self, tok: Token | None = None) -> bool:
        kind = (tok or self._peek() or self._list[-1]).type
        return kind in keywords.EXPRESSION_START

    def _parse_assignment_expression(self) -> c_ast.Node:
        expr = self._parse_conditional_expression()
        if self._list[self._index].type in _ASSIGNMENTS:
            operator = self._advance().value
            return c_ast.Assignment(operator, expr, self._parse_assignment_expression(), expr.coord)
        return expr

    def _parse_conditional_expression(self) -> c_ast.Node:
        cond = self._parse_binary_expression()
        if self._list[self._index].type != "CONDOP":
            return cond
        self._index += 1
        iftrue = None if self._peek_type() == "COLON" else self._parse_expression()  # GNU's a ?: b
        self._expect("COLON")
        # An assignment in the last operand is valid only in C++; the error is reported at its '='.
        return c_ast.TernaryOp(cond, iftrue, self._parse_conditional_expression(), cond.coord)

    def _parse_binary_expression(
        self, min_prec: int = 0, lhs: c_ast.Node | None = None
    ) -> c_ast.Node:
        if lhs is None:
            lhs = self._parse_cast_expression()
        while True:
            tok = self._list[self._index]
            level = _PRECEDENCE.get(tok.type, _NO_OPERATOR)
            if level < min_prec:
                return lhs
            self._index += 1
            rhs = self._parse_cast_expression()
            while _PRECEDENCE.get(self._list[self._index].type, _NO_OPERATOR) > level:
                rhs = self._parse_binary_expression(level + 1, rhs)
            lhs = c_ast.BinaryOp(tok.value, lhs, rhs, lhs.coord)

    def _parse_cast_expression(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind == "ID" or kind in keywords.CONSTANTS:
            return self._parse_postfix_expression()
        return (
            super()._parse_cast_expression() if kind == "LPAREN" else self._parse_unary_expression()
        )

    def _try_parse_paren_type_name(self) -> tuple[c_ast.Node, int, Token, list[c_ast.Node]] | None:
        if self._list[self._index].type != "LPAREN" or not self._starts_declaration(self._peek(2)):
            return None
        mark = self._index
        tok = self._advance()
        typename = self._parse_type_name()
        self._expect("RPAREN")
        return typename, mark, tok, []

    def _parse_unary_expression(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind in ("PLUSPLUS", "MINUSMINUS"):
            tok = self._advance()
            return c_ast.UnaryOp(tok.value, self._parse_unary_expression(), self._tok_coord(tok))
        if kind in keywords.UNARY_OPERATORS:
            tok = self._advance()
            return c_ast.UnaryOp(tok.value, self._parse_cast_expression(), self._tok_coord(tok))
        if kind in keywords.SIZEOF_LIKE:
            return self._parse_sizeof()
        if kind == "LAND":
            tok = self._advance()
            return c_ast.UnaryOp("&&", self._parse_identifier_or_typeid(), self._tok_coord(tok))
        return self._parse_postfix_expression()

    def _parse_sizeof(self) -> c_ast.Node:
        tok = self._advance()
        typename = self._try_parse_paren_type_name()
        if typename is not None:
            if self._peek_type() != "LBRACE":
                return c_ast.UnaryOp(tok.value, typename[0], self._tok_coord(tok))
            self._reset(typename[1])
        return c_ast.UnaryOp(tok.value, self._parse_unary_expression(), self._tok_coord(tok))

    def _parse_postfix_expression(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind == "ID":
            tok = self._advance()
            expr = c_ast.ID(tok.value, self._tok_coord(tok))
        elif kind == "LPAREN":
            expr = self._parse_compound_literal() or self._parse_primary_expression()
        else:
            expr = self._parse_primary_expression()
        while True:
            kind = self._list[self._index].type
            if kind == "LPAREN":
                expr = self._parse_call(expr)
            elif kind == "LBRACKET":
                self._index += 1
                index = self._parse_expression()
                self._expect("RBRACKET")
                expr = c_ast.ArrayRef(expr, index, expr.coord)
            elif kind == "PERIOD" or kind == "ARROW":
                expr = self._parse_member(expr)
            elif kind == "PLUSPLUS" or kind == "MINUSMINUS":
                expr = c_ast.UnaryOp("p" + self._advance().value, expr, expr.coord)
            else:
                return expr

    def _parse_compound_literal(self) -> c_ast.Node | None:
        typename = self._try_parse_paren_type_name()
        if typename is None:
            return None
        if self._peek_type() != "LBRACE":
            self._expected("an expression" if self._peek_type() is None else "'{'")
        return c_ast.CompoundLiteral(
            typename[0], self._parse_initializer(), [], self._tok_coord(typename[2])
        )

    def _parse_call(self, function: c_ast.Node) -> c_ast.Node:
        self._index += 1
        arguments = (
            None if self._peek_type() == "RPAREN" else self._parse_argument_expression_list()
        )
        self._expect("RPAREN")
        return c_ast.FuncCall(function, arguments, function.coord)

    def _parse_argument_expression_list(self) -> c_ast.Node:
        """Parse the arguments of a call; GNU's built-in functions also take types."""
        arguments = [self._parse_argument()]
        while self._accept("COMMA"):
            arguments.append(self._parse_argument())
        return c_ast.ExprList(arguments, arguments[0].coord)

    def _parse_argument(self) -> c_ast.Node:
        return (
            self._parse_type_name()
            if self._starts_declaration()
            else self._parse_assignment_expression()
        )

    def _parse_member(self, expr: c_ast.Node) -> c_ast.Node:
        operator = self._advance().value
        tok = self._peek()
        # UPC's keywords are not reserved in the C headers that declare the structure.
        if tok is None or tok.type not in ("ID", "TYPEID", "SHARED", "STRICT", "RELAXED"):
            self._parse_error("Invalid struct reference", None)
        self._index += 1
        return c_ast.StructRef(
            expr, operator, c_ast.ID(tok.value, self._tok_coord(tok)), expr.coord
        )

    def _parse_primary_expression(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind in keywords.CONSTANTS:
            return self._parse_constant()
        if kind == "LPAREN":
            if self._peek_type(2) == "LBRACE":
                coord = self._tok_coord(self._advance())
                expr = upc_ast.StatementExpr(self._parse_compound_statement(), coord)
            else:
                self._advance()
                expr = self._parse_expression()
            self._expect("RPAREN")
            return expr
        if kind == "TYPEID":
            self._parse_error(
                f"expected an expression, '{self._list[self._index].value}' is a type", self._here()
            )
        return super()._parse_primary_expression()

    def _parse_constant(self) -> c_ast.Node:
        tok = self._advance()
        if tok.type in keywords.CHARACTER_CONSTANTS or tok.type == "INT_CONST_CHAR":
            return c_ast.Constant("char", tok.value, self._tok_coord(tok))
        kind = (
            _integer_type(tok.value)
            if tok.type in keywords.INTEGER_CONSTANTS
            else _floating_type(tok)
        )
        return c_ast.Constant(kind, tok.value, self._tok_coord(tok))


def _integer_type(text: str) -> str:
    """Return the type named by an integer constant's suffix, in pycparser's spelling; imaginary
    ones are _Complex."""
    suffix = (
        text.lstrip("0123456789abcdefABCDEFxX").lower()
        if text[:2] in ("0x", "0X")
        else text.lstrip("0123456789bB").lower()
    )
    kind = "unsigned " * suffix.count("u") + "long " * suffix.count("l") + "int"
    return "_Complex " + kind if "i" in suffix or "j" in suffix else kind


def _floating_type(tok: Token) -> str:
    digits = "0123456789.+-" if tok.type == "FLOAT_CONST" else "0123456789abcdefABCDEF.+-xX"
    text = tok.value
    if tok.type == "FLOAT_CONST":
        suffix = text.lstrip(digits)
        if suffix[:1] in ("e", "E"):
            suffix = suffix[1:].lstrip(digits)
    else:
        suffix = text[max(text.find("p"), text.find("P")) + 1 :].lstrip("0123456789+-")
    suffix = suffix.lower()
    imaginary = suffix.endswith(("i", "j")) or suffix.startswith(("i", "j"))
    kind = _FLOATING_TYPES.get(suffix.strip("ij"), "double")
    return "_Complex " + kind if imaginary else kind


_FLOATING_TYPES = {
    "f": "float", "l": "long double", "q": "__float128", "w": "__float80", "df": "_Decimal32", "dd": "_Decimal64",
    "dl": "_Decimal128", "f16": "_Float16", "f32": "_Float32", "f64": "_Float64", "f128": "_Float128",
    "f32x": "_Float32x", "f64x": "_Float64x", "f128x": "_Float128x", "bf16": "__bf16",
}  # fmt: skip
