"""Statements: upc_forall, the synchronisation statements and pragmas; the others hold expressions and declarations."""
import copy
import re

from pycparser import c_ast

from . import types
from .diagnostics import UpcError
from .scope import Scope
from .typenames import call, identifier, number


ASSEMBLER_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"|\[\s*\w+\s*\]')  # and names of operands
ASSEMBLER_NAMES = re.compile(r"[A-Za-z_]\w*")


class Statements:
    """Part of the lowering."""

    def compound(self, node, value=False, scope=None):
        """Lowers a block. value: it is that of a statement expression, whose last statement is kept as its value."""
        outer, mode = self.scope, self.strict
        self.scope = scope or Scope(outer)
        items = []
        given = node.block_items or []
        for position, item in enumerate(given):
            last = value and position == len(given) - 1
            try:
                items += self.block_item(item, last)
            except UpcError as error:
                self.error(error.coord, error.message)
        node.block_items = items
        self.scope, self.strict = outer, mode
        return node

    def block_item(self, node, last=False):
        """The C that a declaration or statement becomes: a list."""
        if isinstance(node, c_ast.Decl):
            return self.local_declaration(node)
        if isinstance(node, c_ast.Typedef):
            return self.type_definition(node)
        if isinstance(node, c_ast.FuncDef):  # GNU's nested functions
            return self.function_definition(node)
        if isinstance(node, c_ast.DeclList):
            return [each for decl in node.decls for each in self.block_item(decl)]
        if isinstance(node, c_ast.Pragma):
            return self.pragma(node)
        return [self.statement(node, last)]

    def statement(self, node, last=False):
        """Lowers one statement."""
        if node is None:
            return None
        if node.coord is not None:
            self.coord = node.coord
        method = self.statement_visitors.get(type(node).__name__)
        if method is not None:
            return method(node)
        if type(node).__name__ in self.visitors:
            value = self.value(node, unused=not last)
            self.last_value = value
            made = value.node
            if made.coord is None:
                made.coord = node.coord
            return made
        return node

    def body(self, node):
        """A statement that is a scope of its own."""
        items = self.block_item(node)
        if len(items) == 1:
            return items[0]
        return c_ast.Compound(items, node.coord) if items else c_ast.EmptyStatement(node.coord)

    def on_Compound(self, node):
        return self.compound(node)

    def on_If(self, node):
        node.cond = self.condition(node.cond)
        node.iftrue = self.body(node.iftrue)
        node.iffalse = self.body(node.iffalse) if node.iffalse is not None else None
        return node

    def on_While(self, node):
        node.cond = self.condition(node.cond)
        node.stmt = self.body(node.stmt)
        return node

    def on_DoWhile(self, node):
        node.stmt = self.body(node.stmt)
        node.cond = self.condition(node.cond)
        return node

    def _loop_head(self, node):
        """Lowers the first three clauses; declarations that cannot stand there come back as a list."""
        before = []
        if isinstance(node.init, c_ast.DeclList):
            made = [each for decl in node.init.decls for each in self.block_item(decl)]
            if all(isinstance(each, c_ast.Decl) for each in made) and len(made) == len(node.init.decls):
                node.init.decls = made
            else:
                before, node.init = made, None
        elif node.init is not None:
            node.init = self.value(node.init, unused=True).node
        node.cond = self.condition(node.cond) if node.cond is not None else None
        node.next = self.value(node.next, unused=True).node if node.next is not None else None
        return before

    def on_For(self, node):
        self.scope = Scope(self.scope)
        before = self._loop_head(node)
        node.stmt = self.body(node.stmt)
        self.scope = self.scope.parent
        return c_ast.Compound([*before, node], node.coord) if before else node

    def on_UpcForall(self, node):
        coord = node.coord
        self.scope = Scope(self.scope)
        head = c_ast.For(None, copy.deepcopy(node.cond), copy.deepcopy(node.next), None)
        shares = node.affinity is not None and not isinstance(node.affinity, c_ast.Continue)
        self.controlled += shares
        before = self._loop_head(node)
        mine = others = None
        if shares:
            self.foralls += 1
            flag = f"ncupc_forall{self.foralls}"
            skip = self.skipping(head, node.affinity)
            mine = self._affinity(node.affinity, flag)
            others = skip(mine.args.exprs[1]) if skip is not None else None
        body = self.body(node.stmt)
        self.scope = self.scope.parent
        self.controlled -= shares
        if mine is not None:
            before.insert(0, call("NCUPC_FORALL", identifier(flag)))
            before[0].coord = coord
            if not isinstance(body, c_ast.Compound):
                body = c_ast.Compound([body], body.coord)
            body = c_ast.Compound([c_ast.If(mine, body, others, coord)], coord)
        made = c_ast.For(node.init, node.cond, node.next, body, coord)
        return c_ast.Compound([*before, made], coord) if before else made

    def _affinity(self, node, flag):
        value = self.value(node)
        kind = value.type
        if kind.is_pointer_to_shared:
            return call("NCUPC_MINE_PTR", identifier(flag), value.node)
        if not types.may_index(kind):
            self.error(node.coord, f"the affinity of upc_forall must be an integer, a pointer-to-shared or continue, not a '{kind}'")
        return call("NCUPC_MINE_INT", identifier(flag), value.node)

    def on_UpcSync(self, node):
        kind = node.kind.upper()
        if node.expr is None:
            made = call(f"NCUPC_{kind}")
        else:
            value = self.value(node.expr)
            if not (value.type.is_arithmetic or value.type.is_unknown):
                self.error(node.coord, f"the expression of upc_{node.kind} must be a number, not a '{value.type}'")
            made = call(f"NCUPC_{kind}_EXPR", value.node)
        made.coord = node.coord
        return made

    def on_Switch(self, node):
        value = self.value(node.cond)
        if value.type.is_pointer_to_shared:
            self.error(node.coord, f"the expression of switch must be an integer, not a '{value.type}'")
        node.cond = value.node
        node.stmt = self.body(node.stmt)
        return node

    def on_Asm(self, node):
        """Its text is the C compiler's, for which a shared object is something else."""
        for name in ASSEMBLER_NAMES.findall(ASSEMBLER_STRINGS.sub(" ", node.text)):
            symbol = self.scope.find(name)
            if symbol is not None and symbol.kind == "object" and symbol.type.is_shared:
                self.error(node.coord, f"'{name}' is shared and cannot be an operand of asm: copy it to a private variable")
        return node

    def on_StaticAssert(self, node):
        node.cond = self.value(node.cond).node
        return node

    def on_Case(self, node):
        if isinstance(node.expr, c_ast.Node) and type(node.expr).__name__ in self.visitors:
            node.expr = self.value(node.expr).node
        return self._labelled(node)

    def _labelled(self, node):
        node.stmts = [each for item in node.stmts or () for each in self.block_item(item)]
        return node

    on_Default = _labelled

    def on_Label(self, node):
        node.stmt = self.body(node.stmt) if node.stmt is not None else None
        return node

    def on_Return(self, node):
        result = self.function.type.result if self.function is not None else types.Unknown()
        if node.expr is None:
            if not (self.returns_status or result.is_void or result.is_unknown):
                self.error(node.coord, f"return without a value in a function that returns '{result}'")
            node.expr = number(0) if self.returns_status else None
            return node
        value = self.value(node.expr)
        if result.is_void and not value.type.is_void and not value.type.is_unknown and self.returns_status:
            node.expr = value.node
            return node
        if result.is_void and not (value.type.is_void or value.type.is_unknown):
            self.error(node.coord, "return with a value in a function that returns none")
        node.expr = value.node if result.is_void else self.converted(value, result, node.coord, "return")
        return node

    def on_ComputedGoto(self, node):
        node.expr = self.value(node.expr).node
        return node

    def on_AttributedStatement(self, node):
        node.stmt = self.body(node.stmt)
        return node
