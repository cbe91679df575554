# SPDX-License-Identifier: BSD-3-Clause
"""Prints a syntax tree as readable C that the C compiler relates to lines of the UPC source.

Every statement, declaration and member notes its source line in a mark at the beginning of its
output line (print_file removes the marks). If the next line would have a different number, empty
lines or a `#line` are inserted, or lines are joined, so that messages of the C compiler and
__LINE__ refer to the UPC source.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pycparser import c_ast

from . import upc_ast
from .print_types import TypePrinter

if TYPE_CHECKING:
    from pycparser.c_parser import Coord

_MARK = re.compile(r"\x01(\d+)\x02")
_MOST_EMPTY_LINES = 8  # instead of a #line: the text keeps the shape of its source
_LONGEST_JOINED = 120  # columns of a line made by joining
_LONGEST = 140  # columns of a line, if it can be broken
# Text up to a place where a line can be broken; literals are never broken.
_PIECE = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"',&|?]|[,&|?](?! ))*(?:[,&|?] +|$)"""
)
_RUNTIME_NAME = re.compile(r"\b(?:nc)?upc_|\bNCUPC_|\bUPC_")
_CONTROL = (
    c_ast.If,
    c_ast.For,
    c_ast.While,
    c_ast.DoWhile,
    c_ast.Switch,
    c_ast.Label,
    c_ast.Case,
    c_ast.Default,
    upc_ast.UpcForall,
)
# Statements that are put in braces when another statement controls them. Those in _CONTROL are put
# in braces under an `if`, so that it is clear which `if` an `else` belongs to.
_IN_BRACES = (c_ast.Label, c_ast.Case, c_ast.Default, c_ast.Pragma, c_ast.EmptyStatement)
_COMPLETE = (
    *_CONTROL, c_ast.Compound, c_ast.FuncDef, c_ast.Pragma, c_ast.EmptyStatement, c_ast.Return, c_ast.Break, c_ast.Continue,
    c_ast.Goto, c_ast.AttributedStatement,
)  # fmt: skip


class Printer(TypePrinter):
    def __init__(self) -> None:
        super().__init__()
        self._methods: dict[type, Callable[[c_ast.Node], str]] = {}
        self._flat_depth = 0  # nesting of statement expressions, which are printed on one line
        self._coords: list[Coord] = []

    def _mark(self, n: c_ast.Node) -> str:
        coord = getattr(n, "coord", None)
        if coord is None or not getattr(coord, "line", None) or self._flat_depth:
            return ""
        self._coords.append(coord)
        return f"\x01{len(self._coords) - 1}\x02"

    # Statements: visit_X returns the text without its indentation and its line end

    def _generate_stmt(self, n: c_ast.Node | list[c_ast.Node], add_indent: bool = False) -> str:
        if isinstance(n, list):  # declarators that share a structure's body
            return self._mark(n[0]) + self._make_indent() + self._visit_decl_group(n) + ";\n"
        if add_indent:
            self.indent_level += 4
        # The mark is made first: marks are numbered in the order of the text.
        head = self._mark(n.decl if isinstance(n, c_ast.FuncDef) else n) + self._make_indent()
        if isinstance(n, c_ast.Pragma) and not self._flat_depth:
            head = head.rstrip(" ")
        text = (
            self.visit(n)
            if not isinstance(n, c_ast.ExprList)
            else self._visit_expr(n, allow_comma=True)
        )
        if add_indent:
            self.indent_level -= 4
        return f"{head}{text}{'' if isinstance(n, _COMPLETE) else ';'}\n"

    def _generate_body(self, nodes: list[c_ast.Node], add_indent: bool = False) -> str:
        return "".join(
            self._generate_stmt(item, add_indent) for item in self._coalesce_defined_types(nodes)
        )

    def _braces(self, n: c_ast.Node, last: str = "") -> str:
        """Print a block; `last` marks the line of its closing brace."""
        self.indent_level += 4
        body = self._generate_body(n.block_items or [])
        self.indent_level -= 4
        return f"{{\n{body}{last}{self._make_indent()}}}"

    def visit_Compound(self, n: c_ast.Node) -> str:
        return self._braces(n)

    def _controlled(self, n: c_ast.Node, braces: bool = False, last: str = "") -> str:
        """Print a space or a line end, and the statement that another one controls, without its
        line end."""
        if not isinstance(n, c_ast.Compound):
            if not (braces or isinstance(n, _IN_BRACES)):
                return "\n" + self._generate_stmt(n, add_indent=True)[:-1]
            n = c_ast.Compound([] if isinstance(n, c_ast.EmptyStatement) else [n])
        return " " + self._braces(n, last)

    def visit_If(self, n: c_ast.Node) -> str:
        text = f"if ({self._condition(n.cond)})"
        if n.iffalse is None:
            return text + self._controlled(n.iftrue, isinstance(n.iftrue, _CONTROL))
        # The condition of an `else if` is a source line like any other.
        else_if = self._mark(n.iffalse) if isinstance(n.iffalse, c_ast.If) else ""
        iftrue = self._controlled(n.iftrue, isinstance(n.iftrue, _CONTROL), else_if)
        text += iftrue + (
            " else" if iftrue.startswith(" ") else f"\n{else_if}{self._make_indent()}else"
        )
        return text + (
            f" {self.visit(n.iffalse)}"
            if isinstance(n.iffalse, c_ast.If)
            else self._controlled(n.iffalse)
        )

    def visit_While(self, n: c_ast.Node) -> str:
        return f"while ({self._condition(n.cond)}){self._loop_body(n.stmt)}"

    def _loop_body(self, n: c_ast.Node) -> str:
        return " { }" if isinstance(n, c_ast.EmptyStatement) else self._controlled(n)

    def visit_DoWhile(self, n: c_ast.Node) -> str:
        return f"do{self._controlled(n.stmt, braces=True, last=self._mark(n.cond))} while ({self._condition(n.cond)});"

    def visit_For(self, n: c_ast.Node) -> str:
        return f"for ({self._clauses(n)}){self._loop_body(n.stmt)}"

    def _clauses(self, n: c_ast.Node) -> str:
        init = self._visit_expr(n.init, allow_comma=True) if n.init is not None else ""
        cond = " " + self._condition(n.cond) if n.cond is not None else ""
        step = " " + self._visit_expr(n.next, allow_comma=True) if n.next is not None else ""
        return f"{self._flat(init)};{cond};{step}"

    def visit_UpcForall(self, n: c_ast.Node) -> str:
        if isinstance(n.affinity, c_ast.Continue):
            affinity = " continue"
        else:
            affinity = (
                " " + self._visit_expr(n.affinity, allow_comma=True)
                if n.affinity is not None
                else ""
            )
        return f"upc_forall ({self._clauses(n)};{affinity}){self._loop_body(n.stmt)}"

    def visit_UpcSync(self, n: c_ast.Node) -> str:
        return (
            f"upc_{n.kind} {self._visit_expr(n.expr, allow_comma=True)}"
            if n.expr is not None
            else f"upc_{n.kind}"
        )

    def visit_Switch(self, n: c_ast.Node) -> str:
        return f"switch ({self._condition(n.cond)}){self._controlled(n.stmt)}"

    def visit_Case(self, n: c_ast.Node) -> str:
        return self._labeled(f"case {self._visit_expr(n.expr)}:", n)

    def visit_Default(self, n: c_ast.Node) -> str:
        return self._labeled("default:", n)

    def _labeled(self, label: str, n: c_ast.Node) -> str:
        attributes = self._generate_attributes(n.attributes) + " " if n.attributes else ""
        body = self._generate_body(n.stmts or [], add_indent=True)
        return f"{attributes}{label}\n{body}"[:-1]

    def visit_Label(self, n: c_ast.Node) -> str:
        first, behind = self._split_attributes(n.attributes)
        return f"{first}{n.name}:{' ' + behind.rstrip() if behind else ''}\n{self._generate_stmt(n.stmt)}"[
            :-1
        ]

    def visit_AttributedStatement(self, n: c_ast.Node) -> str:
        return (
            f"{self._generate_attributes(n.attributes)} {self._generate_stmt(n.stmt)[:-1].lstrip()}"
        )

    def visit_Goto(self, n: c_ast.Node) -> str:
        return f"goto {n.name};"

    def visit_ComputedGoto(self, n: c_ast.Node) -> str:
        return f"goto *{self._operand(n.expr, 0)}"

    def visit_LocalLabels(self, n: c_ast.Node) -> str:
        return "__label__ " + ", ".join(n.names)

    def visit_Pragma(self, n: c_ast.Node) -> str:
        # an expression has no room for a line of its own
        if self._flat_depth and isinstance(n.string, str):
            escaped = n.string.replace("\\", "\\\\").replace('"', '\\"')
            return f'_Pragma("{escaped}")'
        return super().visit_Pragma(n)

    def visit_FuncDef(self, n: c_ast.Node) -> str:
        declaration = self.visit(n.decl)
        if not n.param_decls:
            return f"{declaration} {self._braces(n.body)}"
        parameters = self._generate_body(n.param_decls, add_indent=True)
        return f"{declaration}\n{parameters}{self._make_indent()}{self._braces(n.body)}"

    def visit_FileAST(self, n: c_ast.Node) -> str:
        return self._generate_body(n.ext)


def _broken(text: str) -> list[str]:
    """Break a line longer than _LONGEST after commas and operators.

    The arguments of a runtime macro stay on one line, because it uses __LINE__.
    """
    if len(text) <= _LONGEST or text.lstrip().startswith("#") or _RUNTIME_NAME.search(text):
        return [text]
    indent = text[: len(text) - len(text.lstrip())] + " " * 8
    lines = [""]
    for piece in _PIECE.findall(text):
        if len(lines[-1]) + len(piece) > _LONGEST and lines[-1].strip():
            lines[-1] = lines[-1].rstrip()
            lines.append(indent)
        lines[-1] += piece
    return lines


class _Layout:
    """Puts marked lines at their places in the source: by empty lines, by joining lines that are
    one in the source, by #line."""

    def __init__(self, coords: list[Coord]) -> None:
        self.coords = coords
        self.output: list[str] = []
        self.file, self.line = None, 0  # the number that the compiler gives the next line
        self.loose = 0  # number of lines after the last marked one, mostly closing braces
        self.joined = False  # whether the last line was joined from several

    def place(self, text: str) -> str:
        for content in text.split("\n"):
            mark = _MARK.match(content)
            if not mark:
                if not self._close(content):
                    self.loose += self._append(content)
                continue
            content = _MARK.sub("", content)
            coord = self.coords[int(mark.group(1))]
            ahead = coord.line - self.line
            if coord.file != self.file or ahead > _MOST_EMPTY_LINES:
                self._direct(coord)
            elif ahead >= 0:
                self.output += [""] * ahead
            elif self._join(content, coord.line):
                continue
            else:
                self._direct(coord)
            self.file, self.line = coord.file, coord.line
            self.loose = self._append(content) - 1
        return "\n".join(self.output)

    def _append(self, content: str) -> int:
        """Add a line of text, broken if it is too long; return the number of lines that it
        takes."""
        lines = _broken(_MARK.sub("", content) if "\x01" in content else content)
        self.output += lines
        self.line += len(lines)
        self.joined = False
        return len(lines)

    def _direct(self, coord: Coord) -> None:
        name = str(coord.file).replace("\\", "\\\\").replace('"', '\\"')
        self.output.append(f'#line {coord.line} "{name}"')

    def _close(self, content: str) -> bool:
        """Append a closing brace to the joined line that opens it, if there is one; return whether
        it was done."""
        last = self.output[-1] if self.output else ""
        if not self.joined or content.strip() != "}" or last.count("{") <= last.count("}"):
            return False
        self.output[-1] += " }"
        return True

    def _join(self, content: str, line: int) -> bool:
        """Join loose lines to the last marked one to make room for `content`, whose line has
        already been passed. Returns False if that is not possible."""
        marked = self.line - 1 - self.loose
        if line < marked or content.startswith("#"):
            return False
        # The lines from the marked one on, and how many of those after it have to join it.
        lines = self.output[len(self.output) - 1 - self.loose :] + [content]
        joined = self.line - line + 1
        text = " ".join([lines[0], *(part.strip() for part in lines[1:joined])])
        if len(text) > _LONGEST_JOINED or any(part.startswith("#") for part in lines[:joined]):
            return False
        self.output[len(self.output) - 1 - self.loose :] = [text, *lines[joined:]]
        self.line, self.loose, self.joined = line + 1, 0, joined == len(lines)
        return True


def print_file(ast: c_ast.Node) -> str:
    """Return the C (or UPC) text of a c_ast.FileAST."""
    printer = Printer()
    text = printer.visit(ast)
    return _Layout(printer._coords).place(text)


def print_node(node: c_ast.Node) -> str:
    """Return the text of an expression, a type or a statement on one line, as quoted in
    messages."""
    printer = Printer()
    printer._flat_depth = 1
    return printer._flat(printer._visit_expr(node)).strip()
