# SPDX-License-Identifier: BSD-3-Clause
"""Grammar of declaration specifiers: UPC's qualifiers, GNU's attributes wherever allowed,
structures and enumerations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from . import keywords, upc_ast
from .tokens import Specifiers, TokenReader, no_specifiers

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

    from .lexer import Token

_ATTRIBUTE = ("ATTRIBUTE_BEGIN", "ASM")
# Types that do not combine with other types.
_OTHER_TYPES = frozenset({"TYPEID", "STRUCT", "UNION", "ENUM", "TYPEOF"})
_NAMES = ("ID", None)


class SpecifierGrammar(TokenReader):
    # Attributes and assembler names

    def _parse_attribute_specifier_sequence(self) -> list[c_ast.Node]:
        """Parse `__attribute__((...))`, C23's `[[...]]` and, after a declarator,
        `__asm__("name")`."""
        groups = []
        while self._list[self._index].type in _ATTRIBUTE:
            tok = self._list[self._index]
            kind = upc_ast.Asm if tok.type == "ASM" else upc_ast.GnuAttribute
            groups.append(kind(self._parse_attribute_text(), self._tok_coord(tok)))
        return groups

    def _parse_attribute_text(self) -> str:
        if self._list[self._index].value != "[[":
            return self._parse_balanced()
        start = self._index
        self._advance()
        depth = 2
        while depth > 0:
            kind = self._advance().type
            depth += (kind == "LBRACKET") - (kind == "RBRACKET")
        return _joined(self._list[start : self._index]).replace("[[ ", "[[").replace(": :", "::")

    def _parse_balanced(self) -> str:
        """Return the text of a keyword, the words after it (`asm volatile`) and the following
        parenthesis."""
        words = [self._advance().value]
        while self._list[self._index].type in ("VOLATILE", "INLINE", "GOTO"):
            words.append(self._advance().value)
        if self._peek_type() != "LPAREN":
            self._expected(f"'(' after '{words[0]}'")
        start = self._index
        depth = 0
        while True:
            kind = self._advance().type
            depth += (kind == "LPAREN") - (kind == "RPAREN")
            if depth == 0:
                return " ".join(words) + _joined(self._list[start : self._index])

    def _attribute_declarations(
        self, nodes: list[c_ast.Node], attributes: list[c_ast.Node]
    ) -> list[c_ast.Node]:
        for node in nodes:
            decl = node.decl if isinstance(node, c_ast.FuncDef) else node
            if isinstance(decl, (c_ast.Decl, c_ast.Typedef)):
                decl.attributes = attributes + decl.attributes
        if not nodes:
            self._parse_error("Expected declaration after attributes", None)
        return nodes

    def _attach_type_attributes(self, decl: c_ast.Node, spec: Specifiers) -> c_ast.Node:
        """Attach GNU's attributes among the specifiers to all declared names; they are printed
        before the declaration."""
        decl.attributes = spec["type_attributes"] + decl.attributes
        return decl

    # Specifiers

    def _is_inferred_auto(self, spec: Specifiers) -> bool:
        # only C23 infers: `auto x = 1` is an int here, and GNU's __auto_type is a type
        return False

    def _starts_declaration(self, tok: Token | None = None) -> bool:
        kind = (tok or self._peek() or self._list[-1]).type
        return kind in keywords.DECLARATION_START or kind == "ATTRIBUTE_BEGIN"

    def _parse_specifiers(
        self, *, allow_storage_and_function: bool
    ) -> tuple[Specifiers | None, bool, Coord | None]:
        spec = no_specifiers()
        saw_type = False
        first = self._list[self._index]
        while True:
            kind = self._peek_type()
            # After a type, the name of another type may be the declared name.
            if kind == "TYPEID" and saw_type:
                break
            if (
                kind in keywords.SIMPLE_TYPES
                or kind in _OTHER_TYPES
                or (kind == "_ATOMIC" and self._peek_type(2) == "LPAREN")
            ):
                self._check_one_type(spec["type"], kind in _OTHER_TYPES)
                spec["type"].append(self._parse_type_specifier(kind))
                saw_type = True
            elif kind in keywords.QUALIFIERS:
                spec["qual"].append(self._parse_qualifier())
                if self._peek_type() == "LBRACKET" and not saw_type:
                    self._parse_error(
                        "a layout is one pair of brackets: the dimensions of an array follow its name",
                        self._here(),
                    )
            elif kind in keywords.STORAGE_CLASSES or kind in keywords.FUNCTION_SPECIFIERS:
                self._require_no_member(allow_storage_and_function)
                spec["storage" if kind in keywords.STORAGE_CLASSES else "function"].append(
                    self._advance().value
                )
            elif kind == "ATTRIBUTE_BEGIN":
                spec["type_attributes"] += self._parse_attribute_specifier_sequence()
            elif kind == "_ALIGNAS":
                spec["alignment"].append(self._parse_alignment_specifier())
            else:
                break
        if self._list[self._index] is first:
            return None, False, None
        return spec, saw_type, self._tok_coord(first)

    def _parse_type_specifier(self, kind: str) -> c_ast.Node:
        if kind in ("STRUCT", "UNION"):
            return self._parse_struct_or_union_specifier()
        if kind == "ENUM":
            return self._parse_enum_specifier()
        if kind == "TYPEOF":
            return self._parse_typeof_specifier()
        if kind == "_ATOMIC":
            return self._parse_atomic_specifier()
        tok = self._advance()
        return c_ast.IdentifierType([tok.value], coord=self._tok_coord(tok))

    def _check_one_type(self, types: list[c_ast.Node], other: bool) -> None:
        """Report an error for a second type. Only words like `unsigned long` combine; a type after
        a structure's body means a missing `;`."""
        words = [
            name
            for known in types
            if isinstance(known, c_ast.IdentifierType)
            for name in known.names
        ]
        if not types or (
            not other
            and len(words) == len(types)
            and all(word in keywords.KEYWORDS for word in words)
        ):
            return
        if self._list[self._index - 1].type == "RBRACE":
            self._expected("';'", at_previous_end=True)
        self._parse_error(
            f"two types in one declaration: the second is '{self._list[self._index].value}'",
            self._here(),
        )

    def _require_no_member(self, allowed: bool) -> None:
        if not allowed:
            self._parse_error(
                f"'{self._list[self._index].value}' is not allowed in a type name or a member",
                self._here(),
            )

    def _parse_qualifier(self) -> str:
        tok = self._advance()
        if tok.type != "SHARED":
            return tok.value
        return upc_ast.Shared(self._parse_layout(), self._tok_coord(tok))

    def _parse_layout(self) -> c_ast.Node | str | None:
        """Parse the block size after `shared`, if there is one."""
        if not self._accept("LBRACKET"):
            return None
        if self._accept("RBRACKET"):
            return "[]"
        if self._peek_type() == "TIMES" and self._peek_type(2) == "RBRACKET":
            self._index += 2
            return "[*]"
        if not self._starts_expression():
            self._expected("a block size, '*' or ']'")
        size = self._parse_constant_expression()
        if self._peek_type() == "COMMA":
            self._parse_error("a layout has one block size", self._here())
        self._expect("RBRACKET")
        return size

    def _parse_type_qualifier_list(self) -> list[str]:
        qualifiers = []
        while self._peek_type() in keywords.QUALIFIERS:
            qualifiers.append(self._parse_qualifier())
        return qualifiers

    def _parse_struct_or_union_specifier(self) -> c_ast.Node:
        tok = self._advance()
        attributes = self._parse_attribute_specifier_sequence()
        name = self._advance() if self._peek_type() in ("ID", "TYPEID") else None
        members = None
        if self._accept("LBRACE"):
            members = self._parse_struct_declaration_list()
            self._expect("RBRACE")
            attributes += self._parse_attribute_specifier_sequence()
        elif name is None:
            self._parse_error("Invalid struct/union declaration", None)
        node = c_ast.Struct if tok.type == "STRUCT" else c_ast.Union
        return node(
            name.value if name else None,
            members,
            self._tok_coord(name or tok),
            attributes=attributes,
        )

    def _parse_enum_specifier(self) -> c_ast.Node:
        node = super()._parse_enum_specifier()
        if node.values is not None:
            node.attributes = node.attributes + self._parse_attribute_specifier_sequence()
        return node

    def _parse_specifier_qualifier_list(self) -> Specifiers:
        spec, saw_type, coord = self._parse_specifiers(allow_storage_and_function=False)
        if spec is None or not (saw_type or spec["alignment"] or self._is_int_by_default(spec)):
            self._expected_type()
        assert spec is not None
        if not (saw_type or spec["alignment"]):
            spec["type"] = [c_ast.IdentifierType([], coord=coord)]  # the C compiler warns
        return spec

    def _is_int_by_default(self, spec: Specifiers) -> bool:
        """Return whether only qualifiers precede a declarator or an end: `(const *) p`."""
        return (
            bool(spec["qual"]) and "shared" not in spec["qual"] and self._peek_type() not in _NAMES
        )

    def _parse_struct_declarator(self) -> dict[str, Any]:
        info = super()._parse_struct_declarator()
        info["attributes"] = self._parse_attribute_specifier_sequence()
        return info

    def _parse_struct_declarator_list(self) -> list[dict[str, Any]]:
        infos = [self._parse_struct_declarator()]
        while self._accept("COMMA"):
            before = self._parse_attribute_specifier_sequence()
            infos.append(self._parse_struct_declarator())
            infos[-1]["attributes"] = before + infos[-1]["attributes"]
        return infos


def _joined(tokens: list[Token]) -> str:
    """Return the text of tokens, separated by spaces except around brackets and before commas."""
    text = tokens[0].value
    for before, tok in zip(tokens, tokens[1:]):
        opens = tok.type in ("LPAREN", "LBRACKET") and before.type not in ("COLON", "COMMA")
        if not (
            opens
            or before.type in ("LPAREN", "LBRACKET")
            or tok.type in ("RPAREN", "COMMA", "RBRACKET")
        ):
            text += " "
        text += tok.value
    return text
