"""Parses preprocessed UPC (with GNU C's extensions) into a syntax tree of pycparser and upc_ast nodes.

parse() is the interface. The grammar is pycparser's, extended in layers: tokens (looking ahead, scopes, messages),
grammar_specifiers, grammar_declarations, grammar_expressions and grammar_statements; UpcParser here adds the external
declarations.

System headers are only asked for their declarations: the body of a function that a header defines is passed over, and a
declaration that cannot be parsed (a compiler's own extension of the future) is skipped to its end.
"""
from pycparser import c_ast

from . import upc_ast
from .diagnostics import UpcError
from .grammar_statements import StatementGrammar
from .lexer import UpcLexer


class UpcParser(StatementGrammar):
    """A parser of one text. After parse(), `skipped` lists the errors of system headers' declarations that were left out."""

    def __init__(self, system_files=(), header_bodies=False):
        # C23 for what headers already use: f(...) without parameters, enum E : type.
        super().__init__(lexer=UpcLexer, dialect="c23")
        self.clex.system_files = frozenset(system_files)
        self.header_bodies = header_bodies  # parse the bodies of functions in system headers too?
        self.skipped = []

    def parse(self, text, filename="", debug=False):
        self.skipped = []
        self._start(self.clex.read_all(text, filename), filename)
        external = []
        while self._peek() is not None:
            external += self._parse_or_skip()
        return c_ast.FileAST(external)

    def _in_system_file(self):
        return self._list[self._index].filename in self.clex.system_files

    def _parse_or_skip(self):
        if not self._in_system_file():
            return self._parse_external_declaration()
        start = self._index
        try:
            return self._parse_external_declaration()
        except UpcError as error:
            self.skipped.append(error)
            while len(self._restore) > 1:
                self._pop_scope()
            self._reset(start)
            self._skip_external_declaration()
            return []

    def _skip_external_declaration(self):
        """To behind the `;` or the body that ends it, in the same system header."""
        depth = 0
        while self._peek() is not None:
            kind = self._advance().type
            depth += (kind in ("LBRACE", "LPAREN", "LBRACKET")) - (kind in ("RBRACE", "RPAREN", "RBRACKET"))
            if depth <= 0 and (kind == "SEMI" or (kind == "RBRACE" and self._peek_type() not in ("SEMI", "ID", "ATTRIBUTE_BEGIN", "TIMES"))):
                return
            if depth <= 0 and not self._in_system_file():
                return

    def _parse_external_declaration(self):
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

    def _parse_untyped_function(self):
        """`main() { ... }`: the result is an int."""
        if self._peek_type() != "ID":
            self._expected("a declaration")
        if self._peek_type(2) != "LPAREN":
            self._parse_error(f"unknown type name '{self._list[self._index].value}'", self._here())
        spec = {"qual": [], "storage": [], "type": [], "function": [], "alignment": [], "type_attributes": []}
        return self._parse_declarators(spec, self._here(), "id")

    def _parse_function_definition(self, spec, decl):
        if not self.header_bodies and self._peek_type() == "LBRACE" and self._in_system_file():
            coord = self._here()
            self._skip_brackets("LBRACE", "RBRACE")
            return self._build_function_definition(spec, decl, None, c_ast.Compound(None, coord))
        return super()._parse_function_definition(spec, decl)


def parse(text, filename, system_files=()):
    """The syntax tree (c_ast.FileAST) of a preprocessed UPC source; raises diagnostics.UpcError."""
    return UpcParser(system_files).parse(text, filename)
