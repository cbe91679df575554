# SPDX-License-Identifier: BSD-3-Clause
"""Grammar of GNU C's and UPC's statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycparser import c_ast
from pycparser.ast_transforms import fix_switch_cases

from . import keywords, upc_ast
from .grammar_expressions import ExpressionGrammar

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

_FORALL_CLAUSES = "upc_forall needs four clauses: init; condition; increment; affinity"


class StatementGrammar(ExpressionGrammar):
    def _starts_statement(self) -> bool:
        if self._peek_type() == "ATTRIBUTE_BEGIN":
            return super()._starts_statement()
        return self._peek_type() not in ("RBRACE", None) and not self._starts_declaration()

    def _is_label(self) -> bool:
        return self._peek_type() in ("ID", "TYPEID") and self._list[self._index + 1].type == "COLON"

    def _parse_block_item(self) -> c_ast.Node | list[c_ast.Node]:
        kind = self._peek_type()
        if kind == "ATTRIBUTE_BEGIN":
            return super()._parse_block_item()
        if kind == "_STATIC_ASSERT":
            return self._parse_static_assert()
        if kind == "LOCAL_LABEL":
            return self._parse_local_labels()
        if kind == "TYPEID" and self._is_label():
            return self._parse_labeled_statement()
        return self._parse_declaration() if self._starts_declaration() else self._parse_statement()

    def _parse_local_labels(self) -> c_ast.Node:
        coord = self._tok_coord(self._advance())
        names = [self._parse_identifier_or_typeid().name]
        while self._accept("COMMA"):
            names.append(self._parse_identifier_or_typeid().name)
        self._expect("SEMI")
        return upc_ast.LocalLabels(names, coord)

    def _parse_statement(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind == "UPC_FORALL":
            return self._parse_forall()
        if kind in keywords.SYNC_STATEMENTS:
            return self._parse_sync()
        if kind == "ASM":
            coord = self._here()
            node = upc_ast.Asm(self._parse_balanced(), coord)
            self._expect("SEMI")
            return node
        if kind == "GOTO" and self._peek_type(2) == "TIMES":
            coord = self._tok_coord(self._advance())
            self._advance()
            target = self._parse_expression()
            self._expect("SEMI")
            return upc_ast.ComputedGoto(target, coord)
        if kind == "GOTO" and self._peek_type(2) == "TYPEID":
            self._list[self._index + 1].type = "ID"
            return self._parse_goto()
        if self._is_label():
            return self._parse_labeled_statement()
        if kind == "ELSE":
            self._parse_error("'else' without a previous 'if'", self._here())
        if kind in ("IF", "SWITCH"):
            return self._parse_selection_statement()
        if kind is None or (kind not in _STATEMENT_KEYWORDS and not self._starts_expression()):
            self._expected("a statement" if kind in (None, "RBRACE") else "an expression")
        return super()._parse_statement()

    def _parse_goto(self) -> c_ast.Node:
        coord = self._tok_coord(self._advance())
        name = self._advance().value
        self._expect("SEMI")
        return c_ast.Goto(name, coord)

    def _parse_labeled_statement(self) -> c_ast.Node:
        coord = self._here()
        if self._is_label():
            name = self._advance().value
            self._advance()
            attributes = self._label_attributes()
            return c_ast.Label(name, self._labeled(coord), coord, attributes=attributes)
        if self._advance().type == "DEFAULT":
            self._expect("COLON")
            return c_ast.Default([self._labeled(coord)], coord)
        value = self._parse_range()
        self._expect("COLON")
        return c_ast.Case(value, [self._labeled(coord)], coord)

    def _label_attributes(self) -> list[c_ast.Node]:
        """Parse GNU's attributes after a label's colon; those before a declaration or `;` do not
        belong to the label."""
        if self._peek_type() != "ATTRIBUTE_BEGIN":
            return []
        mark = self._index
        attributes = self._parse_attribute_specifier_sequence()
        if self._accept("SEMI"):
            if "fallthrough" not in attributes[0].text:
                self._reset(self._index - 1)
                return attributes
        elif not self._starts_declaration():
            return attributes
        self._reset(mark)
        return []

    def _labeled(self, coord: Coord) -> c_ast.Node:
        return (
            self._parse_pragmacomp_or_statement()
            if self._starts_statement()
            else c_ast.EmptyStatement(coord)
        )

    def _parse_selection_statement(self) -> c_ast.Node:
        tok = self._advance()
        self._expect("LPAREN")
        cond = self._parse_expression()
        self._expect("RPAREN")
        stmt = self._parse_pragmacomp_or_statement()
        if tok.type == "SWITCH":
            return fix_switch_cases(c_ast.Switch(cond, stmt, self._tok_coord(tok)))
        otherwise = self._parse_pragmacomp_or_statement() if self._accept("ELSE") else None
        return c_ast.If(cond, stmt, otherwise, self._tok_coord(tok))

    # UPC

    def _parse_sync(self) -> c_ast.Node:
        tok = self._advance()
        expr = None
        if tok.type == "UPC_FENCE":
            if self._peek_type() != "SEMI":
                self._parse_error("upc_fence takes no expression", self._here())
        else:
            expr = self._parse_expression_opt()
        self._expect("SEMI")
        return upc_ast.UpcSync(tok.value[len("upc_") :], expr, self._tok_coord(tok))

    def _parse_iteration_statement(self) -> c_ast.Node:
        if self._peek_type() != "FOR":
            return super()._parse_iteration_statement()
        coord = self._tok_coord(self._advance())
        self._push_scope()  # scope of the first clause's declarations
        init, cond, step = self._parse_three_clauses(
            coord, "for needs three clauses: init; condition; increment"
        )
        if self._peek_type() == "SEMI":
            self._parse_error(
                "for has three clauses: only upc_forall has an affinity", self._here()
            )
        self._expect("RPAREN")
        stmt = self._parse_pragmacomp_or_statement()
        self._pop_scope()
        return c_ast.For(init, cond, step, stmt, coord)

    def _parse_forall(self) -> c_ast.Node:
        coord = self._tok_coord(self._advance())
        self._push_scope()
        init, cond, step = self._parse_three_clauses(coord, _FORALL_CLAUSES)
        self._expect_clause_end(_FORALL_CLAUSES)
        affinity = self._parse_affinity()
        stmt = self._parse_pragmacomp_or_statement()
        self._pop_scope()
        return upc_ast.UpcForall(init, cond, step, affinity, stmt, coord)

    def _parse_three_clauses(
        self, coord: Coord, too_few: str
    ) -> tuple[c_ast.Node | None, c_ast.Node | None, c_ast.Node | None]:
        """Parse `(init; cond; next`, for both kinds of loop; `too_few` is the message for a
        parenthesis that closes too early."""
        self._expect("LPAREN")
        if self._starts_declaration():
            init = c_ast.DeclList(self._parse_declaration(), coord)
        else:
            init = self._parse_expression_opt()
            self._expect_clause_end(too_few)
        cond = self._parse_expression_opt()
        self._expect_clause_end(too_few)
        return init, cond, self._parse_expression_opt()

    def _expect_clause_end(self, too_few: str) -> None:
        if self._peek_type() == "RPAREN":
            self._parse_error(too_few, self._here())
        self._expect("SEMI")

    def _parse_affinity(self) -> c_ast.Node | None:
        tok = self._accept("CONTINUE")
        affinity = c_ast.Continue(self._tok_coord(tok)) if tok else self._parse_expression_opt()
        if self._peek_type() == "SEMI":
            self._parse_error(_FORALL_CLAUSES, self._here())
        if self._peek_type() != "RPAREN" and affinity is None:
            self._expected("an integer, a pointer to shared or 'continue' as the affinity")
        self._expect("RPAREN")
        return affinity


_STATEMENT_KEYWORDS = frozenset(
    "LBRACE IF SWITCH WHILE DO FOR GOTO BREAK CONTINUE RETURN CASE DEFAULT PPPRAGMA _PRAGMA SEMI ATTRIBUTE_BEGIN".split()
)
