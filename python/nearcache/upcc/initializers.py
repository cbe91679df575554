"""Initialisers, walked along the type that they fill (C11 6.7.9), as null pointers and pointers-to-shared differ from C's."""
import itertools

from pycparser import c_ast

from . import types
from .convert import Value


class Initializers:
    """Part of the lowering."""

    def initializer(self, node, kind):
        """The syntax of an initialiser of a `kind`."""
        if isinstance(node, c_ast.InitList):
            return self._list(node, kind)
        value = self.value(node)
        return self.converted(value, kind, node.coord, "initialiser")

    def _list(self, node, kind):
        if not (kind.is_array or kind.is_record):
            node.exprs = [self.initializer(each, kind) for each in node.exprs]
            return node
        members = self._members_of(kind)
        for position, item in enumerate(node.exprs):
            if isinstance(item, c_ast.NamedInitializer):
                target, members = self._designated(item, kind)
                item.expr = self._item(item.expr, target, None)[0]
                continue
            target = next(members, None)
            if target is None:
                if self.filling:
                    self.error(item.coord, f"more initialisers than '{kind}' has elements")
                node.exprs[position] = self.expression_in_list(item)
                continue
            node.exprs[position], members = self._item(item, target, members)
        return node

    def expression_in_list(self, item):
        return self._list(item, types.Unknown()) if isinstance(item, c_ast.InitList) else self.value(item).node

    def _item(self, item, target, members):
        """(lowered, the members that follow): braces may be left out around the members of a member."""
        if isinstance(item, c_ast.InitList):
            return self._list(item, target), members
        value = self._value_for(item, target)
        while members is not None and (target.is_array or target.is_record) and not self._fills(value, item, target):
            members = itertools.chain(self._members_of(target), members)
            target = next(members, None)
            if target is None:
                return value.node, members
        return self.converted(value, target, item.coord, "initialiser"), members

    def _value_for(self, item, target):
        found = self.expression(item)
        if isinstance(found, Value) and found.type.is_array:
            return found
        return self.loaded(found)

    @staticmethod
    def _fills(value, item, target):
        if target.is_array:
            return isinstance(item, c_ast.Constant) and item.type == "string" and target.element.is_arithmetic
        return value.type.is_record or value.type.is_unknown

    def _members_of(self, kind):
        if kind.is_array:
            return itertools.repeat(kind.element) if kind.length is None else itertools.repeat(kind.element, kind.length)
        if kind.body.keyword == "union":
            return itertools.islice((kind for name, kind, _ in kind.body.fields or ()), 1)
        return (each for name, each, bits in kind.body.fields or () if name is not None or each.is_record)

    def _designated(self, item, kind):
        """(type of what is designated, the members after it)."""
        target, following = kind, iter(())
        for depth, designator in enumerate(item.name):
            outer = target
            if isinstance(designator, c_ast.ID):
                found = outer.field(designator.name) if outer.is_record else None
                target = found[0] if found else types.Unknown()
                if depth == 0 and outer.is_record:
                    following = self._members_after(outer, designator.name)
            else:
                target = outer.element if outer.is_array else types.Unknown()
                if depth == 0 and outer.is_array:
                    following = itertools.repeat(outer.element)
        return target, following

    @staticmethod
    def _members_after(kind, name):
        if kind.body.keyword == "union":
            return iter(())
        fields = kind.body.fields or ()
        at = next((i for i, (member, _, _) in enumerate(fields) if member == name), len(fields))
        return (each for member, each, _ in fields[at + 1:] if member is not None or each.is_record)

    def check_constant(self, node, name):
        """The initialiser of a static object, lowered, reads nothing and calls nothing of the program."""
        class Reads(c_ast.NodeVisitor):
            found = None

            def visit_FuncCall(self, at):
                called = at.name.name if isinstance(at.name, c_ast.ID) else "a function"
                if called.startswith("NCUPC_GET"):
                    self.found = "a shared object"
                elif not called.startswith(("ncupc_", "__builtin_")):
                    self.found = f"{called}()"
                self.generic_visit(at)

            def visit_UnaryOp(self, at):
                if at.op not in ("&", "sizeof"):
                    self.visit(at.expr)

            def visit_ID(self, at):
                symbol = scope.find(at.name)
                if symbol is not None and symbol.kind == "object" and not (symbol.type.is_shared or symbol.type.is_array):
                    self.found = f"'{at.name}'"
        scope, reads = self.scope, Reads()
        reads.visit(node)
        if reads.found:
            self.error(node.coord, f"the initialiser of '{name}' is not constant: it reads {reads.found}")

    def mentions_shared(self, node):
        """Whether a lowered initialiser holds what C does not take for a constant."""
        class Calls(c_ast.NodeVisitor):
            found = False

            def visit_FuncCall(self, at):
                name = at.name.name if isinstance(at.name, c_ast.ID) else ""
                if name.startswith(("ncupc_", "NCUPC_")):
                    self.found = True
                self.generic_visit(at)

            def visit_ID(self, at):
                symbol = scope.find(at.name)
                self.found = self.found or at.name in ("THREADS", "MYTHREAD") or at.name in shared_names or (
                    symbol is not None and symbol.kind == "object" and symbol.type.is_shared)
        scope, shared_names, calls = self.scope, self.shared_names, Calls()
        calls.visit(node)
        return calls.found

    @staticmethod
    def with_static_null(node):
        """NCUPC_NULL as a static initialiser writes it."""
        class Nulls(c_ast.NodeVisitor):
            def visit_ID(self, at):
                if at.name == "NCUPC_NULL":
                    at.name = "NCUPC_NULL_INIT"
        Nulls().visit(node)
        return node
