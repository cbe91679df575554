# SPDX-License-Identifier: BSD-3-Clause
"""Prints declarations: specifiers, declarators, structures and enumerations, with attributes at
their original places."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pycparser import c_ast

from . import upc_ast
from .print_expressions import ExpressionPrinter

_DECLARATORS = (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)


class TypePrinter(ExpressionPrinter):
    def visit_GnuAttribute(self, n: c_ast.Node) -> str:
        return n.text

    def visit_Asm(self, n: c_ast.Node) -> str:
        return n.text

    def _qualifiers(self, quals: Iterable[str] | None) -> str:
        """Print qualifiers, each followed by a space; `shared` with its layout, so that UPC prints
        as UPC."""
        spell = [
            q.spelling(self._visit_expr) if isinstance(q, upc_ast.Shared) else q
            for q in quals or ()
        ]
        return "".join(word + " " for word in spell)

    def _split_attributes(self, attributes: Iterable[c_ast.Node] | None) -> tuple[str, str]:
        """Split a declaration's attributes into (C23's, GNU's). C23's precede everything; GNU's may
        follow the storage class."""
        texts = [self.visit(attribute) + " " for attribute in attributes or ()]
        return "".join(text for text in texts if text.startswith("[[")), "".join(
            text for text in texts if not text.startswith("[[")
        )

    def _generate_decl(self, n: c_ast.Node) -> str:
        first, after_storage = self._split_attributes(n.attributes)
        text = first + "".join(word + " " for word in (*n.storage, *n.funcspec)) + after_storage
        text += "".join(self.visit(align) + " " for align in n.align or ())
        if isinstance(n.type, _DECLARATORS):
            return text + self._generate_type(n.type)
        return text + self._qualifiers(n.quals) + self._generate_type_specifier(n.type)

    def visit_Typedef(self, n: c_ast.Node) -> str:
        first, after_storage = self._split_attributes(n.attributes)
        return (
            first
            + "".join(word + " " for word in n.storage)
            + after_storage
            + self._generate_type(n.type)
        )

    def visit_Decl(self, n: c_ast.Node, no_type: bool = False) -> str:
        text = (
            self._generate_type(n.type, emit_base_type=False) if no_type else self._generate_decl(n)
        )
        if n.bitsize:
            text += f" : {self._visit_expr(n.bitsize)}"
        return f"{text} = {self._visit_expr(n.init)}" if n.init else text

    def visit_Typename(self, n: c_ast.Node) -> str:
        return self._flat(super().visit_Typename(n)).rstrip()

    def visit_ParamList(self, n: c_ast.Node) -> str:
        return ", ".join(self._flat(self.visit(param)).rstrip() for param in n.params)

    def _generate_type(
        self,
        n: c_ast.Node,
        modifiers: list[c_ast.Node] | None = None,
        emit_declname: bool = True,
        emit_base_type: bool = True,
    ) -> str:
        modifiers = modifiers or []
        if isinstance(n, (c_ast.ArrayDecl, c_ast.PtrDecl, c_ast.FuncDecl)):
            return self._generate_type(n.type, modifiers + [n], emit_declname, emit_base_type)
        if isinstance(n, c_ast.TypeDecl):
            declarator = self._declarator(n, modifiers, emit_declname)
            if not emit_base_type:
                return declarator
            base = self._qualifiers(n.quals) + self.visit(n.type).rstrip()
            return base + (" " if declarator and declarator[0] != "[" else "") + declarator
        return super()._generate_type(n, modifiers, emit_declname, emit_base_type)

    def _declarator(self, n: c_ast.Node, modifiers: list[c_ast.Node], emit_declname: bool) -> str:
        """Print a name with its pointers, arrays and parameters, from the inside out."""
        text = n.declname if n.declname and emit_declname else ""
        text += self._behind(n, text)
        for i, modifier in enumerate(modifiers):
            if isinstance(modifier, c_ast.PtrDecl):
                found = [
                    *(self.visit(a) for a in modifier.attributes),
                    self._qualifiers(modifier.quals).rstrip(),
                ]
                words = " ".join(word for word in found if word)
                text = f"*{' ' if words and words[0] == '_' else ''}{words}{' ' if words and text else ''}{text}"
                continue
            if i and isinstance(modifiers[i - 1], c_ast.PtrDecl):
                text = f"({text})"
            if isinstance(modifier, c_ast.ArrayDecl):
                quals = "".join(word + " " for word in modifier.dim_quals or ())
                text += (
                    f"[{quals}{self._visit_expr(modifier.dim) if modifier.dim is not None else ''}]"
                )
            else:
                text += f"({self.visit(modifier.args) if modifier.args is not None else ''})"
            text += self._behind(modifier, text)
        return text

    def _behind(self, n: c_ast.Node, text: str) -> str:
        """Return the attributes that follow the text of a declarator's part."""
        if not n.attributes:
            return ""
        return (" " if text else "") + self._generate_attributes(n.attributes)

    def _coalesce_defined_types(
        self, nodes: list[c_ast.Node]
    ) -> list[c_ast.Node | list[c_ast.Node]]:
        """Group declarations that were one, including names after one that hides the common type
        (node *node = p, *next = node)."""
        groups: list[Any] = []  # single declarations, and lists of those that are printed together
        for item in super()._coalesce_defined_types(nodes):
            before = groups[-1] if groups else None
            first = before[0] if isinstance(before, list) else before
            if (
                isinstance(item, c_ast.Decl)
                and _hides_its_type(first)
                and _type_names(item) == _type_names(first)
            ):
                groups[-1] = [*(before if isinstance(before, list) else [before]), item]
            else:
                groups.append(item)
        return groups

    def visit_IdentifierType(self, n: c_ast.Node) -> str:
        return " ".join(n.names)

    def _generate_struct_union_enum(self, n: c_ast.Node, name: str) -> str:
        attributes = self._generate_attributes(n.attributes)
        text = " ".join(word for word in (name, attributes, n.name) if word)
        if isinstance(n, c_ast.Enum) and n.underlying_type is not None:
            text += " : " + self.visit(n.underlying_type)
        members = n.decls if not isinstance(n, c_ast.Enum) else n.values and n.values.enumerators
        if members is None:
            return text
        self.indent_level += 4
        body = (
            self._generate_body(members)
            if not isinstance(n, c_ast.Enum)
            else "".join(map(self._enumerator, members))
        )
        self.indent_level -= 4
        return f"{text} {{\n{body}{self._make_indent()}}}"

    def _enumerator(self, n: c_ast.Node) -> str:
        if isinstance(n, c_ast.Pragma):
            return self._generate_stmt(n)
        text = " ".join([n.name, *(self.visit(a) for a in n.attributes)])
        if n.value is not None:
            text += f" = {self._visit_expr(n.value)}"
        return f"{self._mark(n)}{self._make_indent()}{text},\n"


def _type_names(decl: c_ast.Node) -> list[str] | None:
    """Return the type names in a declaration's specifiers; None if the type is a structure or the
    like."""
    node = decl.type
    while isinstance(node, _DECLARATORS):
        node = node.type
    return node.names if isinstance(node, c_ast.IdentifierType) else None


def _hides_its_type(node: c_ast.Node | None) -> bool:
    return (
        isinstance(node, c_ast.Decl) and node.name is not None and _type_names(node) == [node.name]
    )
