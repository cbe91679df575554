# SPDX-License-Identifier: BSD-3-Clause
"""Finds what C does not accept as constant in lowered initialisers of static objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from .typenames import call, identifier
from .upc_ast import GnuAttribute, StatementExpr

if TYPE_CHECKING:
    from .scope import Scope


class Visitor(c_ast.NodeVisitor):
    """Of expressions, without the names of members in them."""

    def visit_StructRef(self, at: c_ast.Node) -> None:
        self.visit(at.name)

    def visit_NamedInitializer(self, at: c_ast.Node) -> None:
        for each in at.name:
            if not isinstance(each, c_ast.ID):
                self.visit(each)
        self.visit(at.expr)

    def visit_FuncCall(self, at: c_ast.Node) -> None:
        if getattr(at.name, "name", None) != "__builtin_offsetof":
            self.generic_visit(at)


def what_it_reads(node: c_ast.Node, scope: Scope) -> str | None:
    """Return what an initialiser reads or calls, for a message; None if it is constant."""

    class Reads(Visitor):
        found: str | None = None

        def visit_FuncCall(self, at: c_ast.Node) -> None:
            called = at.name.name if isinstance(at.name, c_ast.ID) else "a function"
            if called.startswith("NCUPC_GET"):
                self.found = "a shared object"
            elif not called.startswith(("ncupc_", "__builtin_")):
                self.found = f"{called}()"
            super().visit_FuncCall(at)

        def visit_UnaryOp(self, at: c_ast.Node) -> None:
            if at.op not in ("&", "sizeof"):
                self.visit(at.expr)

        def visit_ID(self, at: c_ast.Node) -> None:
            symbol = scope.find(at.name)
            if (
                symbol is not None
                and symbol.kind == "object"
                and not (symbol.type.is_shared or symbol.type.is_array)
            ):
                self.found = f"'{at.name}'"

    reads = Reads()
    reads.visit(node)
    return reads.found


def mentions_shared(
    node: c_ast.Node, scope: Scope, shared_names: set[str], static_threads: bool
) -> bool:
    """Return whether an initialiser depends on UPC: it calls the runtime, or names shared objects
    (also by `shared_names`, their C names), or THREADS where that is not constant."""
    variables = {"MYTHREAD"} if static_threads else {"THREADS", "MYTHREAD"}

    class Mentions(Visitor):
        found = False

        def visit_FuncCall(self, at: c_ast.Node) -> None:
            name = at.name.name if isinstance(at.name, c_ast.ID) else ""
            if name.startswith(("ncupc_", "NCUPC_")):
                self.found = True
            super().visit_FuncCall(at)

        def visit_ID(self, at: c_ast.Node) -> None:
            symbol = scope.find(at.name)
            self.found = (
                self.found
                or at.name in variables
                or at.name in shared_names
                or (symbol is not None and symbol.kind == "object" and symbol.type.is_shared)
            )

    mentions = Mentions()
    mentions.visit(node)
    return mentions.found


def only_null(node: c_ast.Node) -> bool:
    """Return whether NCUPC_NULL is the only thing that C would not accept."""

    class Others(c_ast.NodeVisitor):
        found = False

        def visit_FuncCall(self, at: c_ast.Node) -> None:
            self.found = True

        def visit_ID(self, at: c_ast.Node) -> None:
            self.found = self.found or at.name != "NCUPC_NULL"

    others = Others()
    others.visit(node)
    return not others.found


def with_static_null(node: c_ast.Node) -> c_ast.Node:
    """Return NCUPC_NULL in the form of a static initialiser."""

    class Nulls(c_ast.NodeVisitor):
        def visit_ID(self, at: c_ast.Node) -> None:
            if at.name == "NCUPC_NULL":
                at.name = "NCUPC_NULL_INIT"

    Nulls().visit(node)
    return node


def has_literals(node: c_ast.Node) -> bool:
    """Return whether an initialiser contains compound literals."""
    return isinstance(node, c_ast.CompoundLiteral) or any(
        has_literals(child) for _, child in node.children()
    )


def with_static_literals(node: c_ast.Node, number: Callable[[], int]) -> c_ast.Node:
    """Return an initialiser for a statement, with compound literals that outlive it, as those of
    static initialisers do (C11 6.5.2.5). number: returns one for the name of a new variable."""
    for slot in node.__slots__:
        value = getattr(node, slot, None)
        if isinstance(value, c_ast.Node):
            setattr(node, slot, with_static_literals(value, number))
        elif isinstance(value, list):
            value[:] = [
                with_static_literals(each, number) if isinstance(each, c_ast.Node) else each
                for each in value
            ]
    return _static_literal(node, number()) if isinstance(node, c_ast.CompoundLiteral) else node


def _static_literal(node: c_ast.Node, number: int) -> c_ast.Node:
    """Return *({ __auto_type p = &literal; static char kept[sizeof *p]; memcpy(kept, p); }), where
    kept is aligned as the literal, and has its type in the end."""
    literal, kept = f"ncupc_t{number}", f"ncupc_literal{number}"
    size = c_ast.UnaryOp("sizeof", c_ast.UnaryOp("*", identifier(literal)))
    aligned = GnuAttribute(f"__attribute__((aligned(__alignof__(*{literal}))))")
    pointer = c_ast.TypeDecl(literal, [], None, c_ast.IdentifierType(["__auto_type"]))
    bytes_ = c_ast.ArrayDecl(
        c_ast.TypeDecl(kept, [], None, c_ast.IdentifierType(["char"])), size, []
    )
    own = c_ast.TypeDecl(None, [], None, c_ast.TypeOf("__typeof__", identifier(literal)))
    items = [
        c_ast.Decl(literal, [], [], [], [], pointer, c_ast.UnaryOp("&", node), None),
        c_ast.Decl(kept, [], [], ["static"], [], bytes_, None, None, attributes=[aligned]),
        c_ast.Cast(
            c_ast.Typename(None, [], None, own),
            call("__builtin_memcpy", identifier(kept), identifier(literal), size),
        ),
    ]
    return c_ast.UnaryOp("*", StatementExpr(c_ast.Compound(items, node.coord), node.coord))
