"""Declarators as C writes them: pointers-to-shared are ncupc_ptr, shared and its layout are gone."""
import copy

from pycparser import c_ast

from .convert import Place
from .typenames import POINTER, plain_quals


RESTRICT = {"restrict", "__restrict", "__restrict__"}  # for pointers of C only


def innermost(node):
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return node


class Rewriting:
    """Part of the lowering."""

    def rewritten(self, node, parameter=False):
        """The same declarator in C. pre: type_of(node) was asked for, in the same scope."""
        match node:
            case c_ast.TypeDecl():
                if getattr(node.type, "names", [""])[0] in self.unprinted:
                    return self.declarator(self.type_of(node).unqualified(), node.declname)
                node.quals = plain_quals(node.quals or [])
                if RESTRICT & set(node.quals) and self.type_of(node).is_pointer_to_shared:
                    node.quals = [word for word in node.quals if word not in RESTRICT]
                node.type = self._specifier(node.type)
                return node
            case c_ast.PtrDecl():
                if self.type_of(node.type).is_shared:
                    self._keep_definition(innermost(node).type)
                    return self._pointer(node, node.quals)
                node.quals = plain_quals(node.quals or [])
                node.type = self.rewritten(node.type)
                return node
            case c_ast.ArrayDecl():
                if parameter and self.type_of(node.type).is_shared:
                    return self._pointer(node, [word for word in node.dim_quals or [] if word != "static"])
                node.type = self.rewritten(node.type)
                if node.dim is not None and not parameter and not isinstance(node.dim, c_ast.Constant):
                    node.dim = self.value(copy.deepcopy(node.dim)).node
                return node
            case c_ast.FuncDecl():
                node.type = self.rewritten(node.type)
                for each in node.args.params if node.args is not None else ():
                    if isinstance(each, (c_ast.Decl, c_ast.Typename)):
                        each.quals = plain_quals(each.quals or [])
                        each.type = self.rewritten(each.type, parameter=True)
                return node
        return self._specifier(node)

    def _pointer(self, node, quals):
        inner = innermost(node)
        quals = [word for word in plain_quals(quals or []) if word not in RESTRICT]
        made = c_ast.TypeDecl(inner.declname, quals, inner.align, c_ast.IdentifierType([POINTER]), inner.coord)
        made.attributes = inner.attributes
        return made

    def _keep_definition(self, node):
        """A struct or enumeration that is defined where its own declaration is not printed."""
        if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls is not None or isinstance(node, c_ast.Enum) and node.values is not None:
            if node not in self.printed:
                self._name_tag(node)
                self.definitions.append(self._specifier(node))

    def _specifier(self, node):
        match node:
            case c_ast.Struct() | c_ast.Union():
                return self._record_specifier(node)
            case c_ast.Enum() if node.values is not None:
                return self._once(node)
            case c_ast.TypeOf():
                return self._typeof(node)
            case c_ast.Typename():
                return self.rewritten_typename(node)
        inner = getattr(node, "type", None)
        if isinstance(inner, c_ast.Node):  # with attributes
            node.type = self._specifier(inner)
        return node

    def _name_tag(self, node):
        if not node.name:
            self.unnamed += 1
            node.name = f"ncupc_unnamed_{self.unnamed}"

    def _once(self, node):
        """Its definition where it is printed first, its tag from then on."""
        if node not in self.printed:
            self.printed.add(node)
            for each in node.values.enumerators if isinstance(node, c_ast.Enum) else ():
                if getattr(each, "value", None) is not None and not isinstance(each.value, c_ast.Constant):
                    each.value = self.value(copy.deepcopy(each.value)).node
            return node
        self._name_tag(node)
        if isinstance(node, c_ast.Enum):
            return c_ast.Enum(node.name, None, None)
        return type(node)(node.name, None)

    def _record_specifier(self, node):
        if node.decls is None:
            return node
        self.type_of(node)
        if node in self.printed:
            return self._once(node)
        self.printed.add(node)
        for each in node.decls:
            if isinstance(each, c_ast.Decl):
                each.quals = plain_quals(each.quals or [])
                each.type = self.rewritten(each.type)
        return node

    def _typeof(self, node):
        kind = self._specified(node, None)
        if isinstance(node.expr, c_ast.Typename) and not kind.is_shared:
            node.expr = self.rewritten_typename(node.expr)
        elif kind.is_shared:
            return c_ast.TypeOf("__typeof__", self.typename(kind.unqualified()))
        else:
            found = self.expression(node.expr)
            node.expr = self.typename(kind.unqualified()) if isinstance(found, Place) else found.node
        return node

    def rewritten_typename(self, node):
        kind = self.type_of(node.type)
        if kind.is_shared and kind.is_array:
            return self.typename(kind.unqualified())
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewritten(node.type)
        return node
