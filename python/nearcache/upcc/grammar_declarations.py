# SPDX-License-Identifier: BSD-3-Clause
"""Grammar of declarators, declarations and initialisers, with GNU's attributes, nested functions
and old designators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pycparser import c_ast

from . import keywords, upc_ast
from .grammar_specifiers import SpecifierGrammar

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .tokens import Specifiers


class DeclarationGrammar(SpecifierGrammar):
    # Declarators

    def _starts_declarator(self, id_only: bool = False) -> bool:
        kind = self._peek_type()
        return kind in ("TIMES", "LPAREN", "ID") or (kind == "TYPEID" and not id_only)

    def _scan_declarator_name_info(self) -> tuple[str | None, bool]:
        saw_paren = False
        while (
            self._peek_type() in ("TIMES", "ATTRIBUTE_BEGIN")
            or self._peek_type() in keywords.QUALIFIERS
        ):
            if self._peek_type() == "ATTRIBUTE_BEGIN":
                self._parse_attribute_text()
            elif self._advance().type == "SHARED" and self._peek_type() == "LBRACKET":
                self._skip_brackets("LBRACKET", "RBRACKET")
        kind = self._peek_type()
        if kind in ("ID", "TYPEID"):
            return kind, saw_paren
        if kind != "LPAREN":
            return None, saw_paren
        self._advance()
        name_kind, _ = self._scan_declarator_name_info()
        return name_kind, True

    def _skip_brackets(self, opening: str, closing: str) -> None:
        depth = 0
        while True:
            kind = self._advance().type
            depth += (kind == opening) - (kind == closing)
            if depth == 0:
                return

    def _parse_pointer(self) -> c_ast.Node | None:
        pointer = None
        while self._peek_type() == "TIMES":
            coord = self._tok_coord(self._advance())
            attributes = self._parse_attribute_specifier_sequence()
            qualifiers = self._parse_type_qualifier_list()
            if self._peek_type() == "ATTRIBUTE_BEGIN":
                attributes += self._parse_attribute_specifier_sequence()
                qualifiers += self._parse_type_qualifier_list()
            pointer = c_ast.PtrDecl(
                quals=qualifiers, type=pointer, coord=coord, attributes=attributes
            )
        return pointer

    def _parse_direct_declarator(self, kind: str, allow_paren: bool = True) -> c_ast.Node:
        if allow_paren and self._accept("LPAREN"):
            attributes = self._parse_attribute_specifier_sequence()
            decl = self._parse_declarator_kind(kind, allow_paren=True)
            self._expect("RPAREN")
            attributes += self._parse_attribute_specifier_sequence()
            _innermost(decl).attributes += attributes
        else:
            tok = self._expect("ID" if kind == "id" else "TYPEID")
            decl = c_ast.TypeDecl(tok.value, None, None, None, self._tok_coord(tok))
            decl.attributes = self._parse_attribute_specifier_sequence()
        return self._parse_decl_suffixes(decl)

    def _parse_direct_abstract_declarator(self) -> c_ast.Node:
        if self._peek_type() == "LPAREN" and self._peek_type(2) == "ATTRIBUTE_BEGIN":
            self._advance()
            attributes = self._parse_attribute_specifier_sequence()
            decl = self._parse_abstract_declarator_opt() or c_ast.TypeDecl(None, None, None, None)
            self._expect("RPAREN")
            _innermost(decl).attributes += attributes
            return self._parse_decl_suffixes(decl)
        return super()._parse_direct_abstract_declarator()

    def _parse_function_decl(self, base_decl: c_ast.Node) -> c_ast.Node:
        self._push_scope()  # the prototype's scope: enumerators and parameters
        func = super()._parse_function_decl(base_decl)
        self._pop_scope()
        return func

    def _parse_identifier_list(self) -> c_ast.Node:
        names = super()._parse_identifier_list()
        # f(int a, foo b) begins with a name if foo is not declared
        if self._peek_type() != "RPAREN":
            self._parse_error(
                f"unknown type name '{names.params[-1].name}'", names.params[-1].coord
            )
        return names

    def _parse_parameter_declaration(self) -> c_ast.Node:
        attributes = self._parse_attribute_specifier_sequence()
        if not self._starts_declaration():
            self._expected_type()
        decl = self._parse_parameter_declaration_body()
        decl.attributes = attributes + decl.attributes
        return decl

    def _expected_type(self) -> NoReturn:
        tok = self._list[self._index]
        if tok.type == "ID":
            self._parse_error(f"unknown type name '{tok.value}'", self._here())
        self._expected("a type")

    def _parse_type_name(self) -> c_ast.Node:
        if not self._starts_declaration():
            self._expected_type()
        return super()._parse_type_name()

    # Declarations

    def _build_declarations(
        self, spec: Specifiers, decls: list[dict[str, Any]], typedef_namespace: bool = False
    ) -> list[c_ast.Node]:
        if (
            decls[0].get("bitsize") is None
            and decls[0]["decl"] is None
            and not self._last_type_is_a_name(spec)
        ):
            if not spec["type"]:
                self._parse_error("Missing type in declaration", None)
            self._expected("a declarator")
        nodes = super()._build_declarations(spec, decls, typedef_namespace)
        for node, info in zip(nodes, decls):
            node.attributes += info.get("attributes", [])
        return nodes

    def _last_type_is_a_name(self, spec: Specifiers) -> bool:
        """Return whether an apparent second type (`T T;`) is the declared name."""
        last = spec["type"][-1] if len(spec["type"]) > 1 else None
        return (
            isinstance(last, c_ast.IdentifierType)
            and len(last.names) == 1
            and self._is_type_in_scope(last.names[0])
        )

    def _parse_declarators(
        self, spec: Specifiers, coord: Coord | None, first_kind: str
    ) -> list[c_ast.Node]:
        """Parse a function definition, or all declarators with their initialisers."""
        if not spec["type"]:
            spec["type"] = [c_ast.IdentifierType(["int"], coord=coord)]
        decl = self._parse_declarator_kind(first_kind, allow_paren=True)
        bind = self._add_typedef_name if "typedef" in spec["storage"] else self._add_identifier
        # A name hides a type of the same name at once: T *T = malloc(sizeof *T), *next = T;
        bind(_innermost(decl).declname, decl.coord)
        if isinstance(decl, c_ast.FuncDecl) and (
            self._peek_type() == "LBRACE" or self._starts_old_parameters(decl)
        ):
            return [self._parse_function_definition(spec, decl)]
        infos = [{"decl": decl, "init": self._parse_init_opt()}]
        while self._accept("COMMA"):
            attributes = self._parse_attribute_specifier_sequence()
            decl = self._parse_declarator()
            bind(_innermost(decl).declname, decl.coord)
            infos.append({"decl": decl, "attributes": attributes, "init": self._parse_init_opt()})
        return self._parse_declaration_end(
            self._build_declarations(spec, infos, typedef_namespace=True)
        )

    def _parse_init_opt(self) -> c_ast.Node | None:
        return self._parse_initializer() if self._accept("EQUALS") else None

    def _starts_old_parameters(self, decl: c_ast.Node) -> bool:
        """Return whether declarations of parameters follow a declarator that lists only their names
        (K&R)."""
        return (
            decl.args is not None
            and isinstance(decl.args.params[0], c_ast.ID)
            and self._starts_declaration()
        )

    def _parse_declaration(self) -> list[c_ast.Node]:
        """Parse a declaration in a block, or GNU's nested function."""
        attributes = self._parse_attribute_specifier_sequence()
        if attributes:
            return self._attribute_declarations(self._parse_declaration(), attributes)
        if self._peek_type() == "_STATIC_ASSERT":
            return [self._parse_static_assert()]
        spec, saw_type, coord = self._parse_declaration_specifiers(allow_no_type=True)
        name_kind = self._peek_declarator_name_info()[0]
        if name_kind == "ID" or (name_kind == "TYPEID" and saw_type):
            return self._parse_declarators(spec, coord, name_kind.lower())
        return self._parse_declaration_end(self._parse_decl_body_with_spec(spec, saw_type))

    # Initialisers

    def _parse_initializer(self) -> c_ast.Node:
        brace = self._accept("LBRACE")
        if not brace:
            return self._parse_assignment_expression()
        items = []
        while self._peek_type() != "RBRACE":
            items.append(self._parse_initializer_item())
            if not self._accept("COMMA"):
                break
        self._expect("RBRACE")
        return c_ast.InitList(items, self._tok_coord(brace))

    def _parse_initializer_item(self) -> c_ast.Node:
        kind = self._peek_type()
        if kind in ("LBRACKET", "PERIOD"):
            coord = self._here()
            designators = self._parse_designator_list()
            # GNU's old form `[3] 5` has no '='.
            if not self._accept("EQUALS") and not isinstance(
                designators[-1], c_ast.ArrayDesignator
            ):
                self._expected("'='")
            return c_ast.NamedInitializer(designators, self._parse_initializer(), coord)
        if kind in ("ID", "TYPEID") and self._peek_type(2) == "COLON":
            tok = self._advance()
            self._advance()
            return c_ast.NamedInitializer(
                [c_ast.ID(tok.value, self._tok_coord(tok))],
                self._parse_initializer(),
                self._tok_coord(tok),
            )
        return self._parse_initializer()

    def _parse_designator(self) -> c_ast.Node:
        bracket = self._accept("LBRACKET")
        if not bracket:
            self._expect("PERIOD")
            return self._parse_identifier_or_typeid()
        index = self._parse_range()
        self._expect("RBRACKET")
        return c_ast.ArrayDesignator(index, self._tok_coord(bracket))

    def _parse_range(self) -> c_ast.Node:
        """Parse a constant expression, or GNU's `first ... last`."""
        first = self._parse_constant_expression()
        if not self._accept("ELLIPSIS"):
            return first
        return upc_ast.Range(first, self._parse_constant_expression(), first.coord)


def _innermost(decl: c_ast.Node) -> c_ast.Node:
    while not isinstance(decl, c_ast.TypeDecl):
        decl = decl.type
    return decl
