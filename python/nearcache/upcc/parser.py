# SPDX-License-Identifier: BSD-3-Clause
"""Parses preprocessed UPC (with GNU C's extensions) into a syntax tree of pycparser and upc_ast
nodes.

parse() is the interface. The grammar is pycparser's, extended in layers: tokens (lookahead, scopes,
messages), grammar_specifiers, grammar_declarations, grammar_expressions and grammar_statements;
UpcParser here adds the external declarations.

System headers are needed only for their declarations: bodies of functions defined in headers are
skipped, and a declaration that cannot be parsed (a future compiler extension) is skipped to its
end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pycparser import c_ast

from . import upc_ast
from .diagnostics import UpcError, UpcErrors
from .grammar_statements import StatementGrammar
from .lexer import UpcLexer
from .tokens import Specifiers, no_specifiers

# continues a declaration after a structure's brace
_BEHIND_A_TYPE = frozenset({"SEMI", "ID", "ATTRIBUTE_BEGIN", "TIMES"})
_MOST_ERRORS = 20  # per file; further errors mostly follow from these


class UpcParser(StatementGrammar):
    """A parser of one text. After parse(), `skipped` lists the errors of the system headers'
    declarations that were skipped."""

    def __init__(
        self, system_files: Iterable[str] = (), header_bodies: bool = False, old_names: bool = False
    ) -> None:
        # C23 for what headers already use: f(...) without parameters, enum E : type.
        super().__init__(lexer=UpcLexer, dialect="c23")
        self.clex.system_files = frozenset(system_files)
        self.clex.old_names = old_names
        # whether to parse function bodies in system headers, too
        self.header_bodies = header_bodies
        self.skipped: list[UpcError] = []
        self._errors: list[UpcError] = []
        # names in declarations that could not be parsed; using one later is not reported as another
        # error
        self._lost: set[str] = set()

    def parse(self, text: str, filename: str = "", debug: bool = False) -> c_ast.Node:
        self.skipped, self._errors, self._lost = [], [], set()
        self._start(self.clex.read_all(text, filename), filename)
        external = []
        while self._peek() is not None and len(self._errors) < _MOST_ERRORS:
            external += self._parse_or_skip()
        if len(self._errors) > 1:
            raise UpcErrors([entry for error in self._errors for entry in error.diagnostics])
        if self._errors:
            raise self._errors[0]
        return c_ast.FileAST(external)

    def _in_system_file(self) -> bool:
        return self._list[self._index].filename in self.clex.system_files

    def _parse_or_skip(self) -> list[c_ast.Node]:
        """Parse an external declaration. One that cannot be parsed is skipped, so that errors in
        others are also found."""
        start, system = self._index, self._in_system_file()
        try:
            return self._parse_external_declaration()
        except UpcError as error:
            if system:
                self.skipped.append(error)
            elif not any(error.message == f"unknown type name '{name}'" for name in self._lost):
                self._errors.append(error)
        while len(self._restore) > 1:
            self._pop_scope()
        wrong = self._index
        self._reset(start)
        self._skip_external_declaration(system)
        while not system and self._index <= wrong and self._peek() is not None:
            self._skip_external_declaration(system)
        self._lost.update(tok.value for tok in self._list[start : self._index] if tok.type == "ID")
        return []

    def _skip_external_declaration(self, system: bool) -> None:
        """Skip to the end of the declaration: its `;` or its body. Does not skip from a system
        header into the file that includes it."""
        depth, before, is_body = 0, None, False
        while self._peek() is not None:
            kind = self._advance().type
            if kind == "LBRACE" and depth == 0:
                is_body = before in ("RPAREN", "SEMI")
            depth += (kind in ("LBRACE", "LPAREN", "LBRACKET")) - (
                kind in ("RBRACE", "RPAREN", "RBRACKET")
            )
            ends = kind == "SEMI" or (
                kind == "RBRACE" and (is_body or self._peek_type() not in _BEHIND_A_TYPE)
            )
            if depth <= 0 and (ends or (system and not self._in_system_file())):
                return
            before = kind

    def _parse_external_declaration(self) -> list[c_ast.Node]:
        kind = self._peek_type()
        if kind == "ATTRIBUTE_BEGIN":
            attributes = self._parse_attribute_specifier_sequence()
            if self._accept("SEMI"):
                return [c_ast.AttributeDeclaration(attributes, attributes[0].coord)]
            return self._attribute_declarations(self._parse_external_declaration(), attributes)
        if kind == "SEMI":
            self._advance()
            return []
        if kind == "ASM":
            coord = self._here()
            node = upc_ast.Asm(self._parse_balanced(), coord)
            self._expect("SEMI")
            return [node]
        if kind == "_STATIC_ASSERT":
            return [self._parse_static_assert()]
        if kind in ("PPPRAGMA", "_PRAGMA"):
            return [self._parse_pppragma_directive()]
        if self._starts_declaration():
            return self._parse_declaration()
        return self._parse_untyped_function()

    def _parse_untyped_function(self) -> list[c_ast.Node]:
        """Parse `main() { ... }`, whose result is an int."""
        if self._peek_type() != "ID":
            self._expected("a declaration")
        if self._peek_type(2) != "LPAREN":
            self._parse_error(f"unknown type name '{self._list[self._index].value}'", self._here())
        return self._parse_declarators(no_specifiers(), self._here(), "id")

    def _parse_function_definition(self, spec: Specifiers, decl: c_ast.Node) -> c_ast.Node:
        if not self.header_bodies and self._peek_type() == "LBRACE" and self._in_system_file():
            coord = self._here()
            self._skip_brackets("LBRACE", "RBRACE")
            return self._build_function_definition(spec, decl, None, c_ast.Compound(None, coord))
        return super()._parse_function_definition(spec, decl)

    def _build_function_definition(
        self,
        spec: Specifiers,
        decl: c_ast.Node,
        param_decls: list[c_ast.Node] | None,
        body: c_ast.Node,
    ) -> c_ast.Node:
        names = decl.args.params if decl.args is not None else ()
        if names and isinstance(names[0], c_ast.ID):
            param_decls = old_parameters(names, param_decls or [])
        return super()._build_function_definition(spec, decl, param_decls, body)


def old_parameters(names: Sequence[c_ast.Node], declarations: list[c_ast.Node]) -> list[c_ast.Node]:
    """Return the declarations of an old-style (K&R) definition's parameters in the order of their
    names; one without a declaration is an int."""
    by_name = {
        each.name: each for each in declarations if isinstance(each, c_ast.Decl) and each.name
    }
    others = [each for each in declarations if each not in by_name.values()]
    return others + [by_name.get(each.name) or _integer(each) for each in names]


def _integer(name: c_ast.Node) -> c_ast.Node:
    kind = c_ast.TypeDecl(
        name.name, [], None, c_ast.IdentifierType(["int"], name.coord), name.coord
    )
    return c_ast.Decl(name.name, [], [], [], [], kind, None, None, name.coord)


def parse(
    text: str, filename: str, system_files: Iterable[str] = (), old_names: bool = False
) -> c_ast.Node:
    """Return the syntax tree (c_ast.FileAST) of a preprocessed UPC source.

    old_names: accept UPC 1.0's keywords (keywords.OLD_NAMES) as their later names. Raises
    diagnostics.UpcError, or UpcErrors if there are several.
    """
    return UpcParser(system_files, old_names=old_names).parse(text, filename)
