"""Expressions: shared lvalues become gets and puts, arithmetic on pointers-to-shared becomes calls; everything else stays as it is.

Each visitor returns a Value or, for a shared lvalue, a Place. Operands are lowered once, so that each side effect happens once.
"""
import copy

from pycparser import c_ast

from . import types
from .arithmetic_types import INT, SIZE, arithmetic
from .constants import constant_type, is_zero
from .convert import Place, Value
from .keywords import old_name_hint
from .operators import called_names
from .typenames import call, identifier, number, pointer_declarator
from .upc_ast import StatementExpr

SETJMP = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp"}
KNOWN_NAMES = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__", "NCUPC_NULL"}


class Expressions:
    """Part of the lowering."""

    def expression(self, node, unused=False):
        """Lowers an expression: a Value, or a Place where it designates a shared object."""
        method = self.visitors.get(type(node).__name__)
        if method is None:
            return Value(node, types.Unknown())
        if node.coord is not None:
            self.coord = node.coord
        if unused and isinstance(node, c_ast.UnaryOp) and node.op in ("p++", "p--"):
            node.op = node.op[1:]
        if unused and isinstance(node, c_ast.ExprList):
            return self.visit_ExprList(node, unused=True)
        return method(node)

    def value(self, node, unused=False):
        """Lowers an expression and takes its value: shared objects are read, arrays and functions become pointers."""
        return self.loaded(self.expression(node, unused))

    def condition(self, node):
        return self.truth(self.value(node))

    def type_of_operand(self, node):
        """The type of an expression that is not evaluated, or that a type name names."""
        if isinstance(node, c_ast.Typename):
            return self.complete_layout(self.type_of(node.type), node)
        coord = self.coord
        kind = self.expression(copy.deepcopy(node)).type
        self.coord = coord
        return kind

    # Shared objects

    def is_strict(self, kind):
        """Whether an access is strict: by its type, or by the pragma in force (6.5.1.1). A volatile object is one that others change without
        a word, and its value must not come out of a cache: strict too."""
        quals = types.element_of(kind).quals
        return bool({"strict", "volatile"} & quals) or ("relaxed" not in quals and self.strict)

    def _access(self, name, place):
        return name + ("_STRICT" if self.is_strict(place.type) else "")

    def loaded(self, found):
        if isinstance(found, Value):
            kind = types.decayed(found.type)
            if kind is not found.type:
                return Value(found.node, kind, found.null)
            return found
        kind = found.type
        if kind.is_array:
            return Value(found.pointer, types.Pointer(kind.element))
        self._check_object(found)
        if found.bits:
            record, member = found.bits
            node = call(self._access("NCUPC_GET_BITS", found), self.value_type(record), identifier(member), found.pointer)
        else:
            node = call(self._access("NCUPC_GET", found), self.value_type(kind), found.pointer)
        return Value(node, kind.unqualified())

    def _check_object(self, place):
        kind = place.type
        if kind.is_void:
            self.error(self.coord, "a pointer to shared void points to no object: cast it to another pointer-to-shared first")
        elif kind.is_record and kind.body.fields is None:
            self.error(self.coord, f"'{kind}' is incomplete")

    def stored(self, place, node):
        """The syntax of storing the value `node`; it yields what was stored."""
        kind = place.type
        self._check_object(place)
        if kind.is_array:
            self.error(self.coord, "assignment to a shared array")
            return node
        if "const" in kind.quals:
            self.error(self.coord, "assignment to a shared object that is const")
        if place.bits:
            record, member = place.bits
            return call(self._access("NCUPC_PUT_BITS", place), self.value_type(record), identifier(member), place.pointer, node)
        return call(self._access("NCUPC_PUT", place), self.value_type(kind), place.pointer, node)

    def added(self, pointer, index, target):
        """The syntax of `pointer` moved by `index` objects of type `target`."""
        element = types.element_of(target)
        if target.is_void:
            self.error(self.coord, "arithmetic on a pointer to shared void")
            return pointer
        if target.is_record and target.body.fields is None:
            self.error(self.coord, f"arithmetic on a pointer to an incomplete type: '{target}'")
            return pointer
        if is_zero(index):
            return pointer
        whole_rows = False
        if target.is_array:
            known, count = self.count_of(target)
            whole_rows = known != 1
            if whole_rows:
                index = c_ast.BinaryOp("*", index if isinstance(index, c_ast.Constant) else c_ast.Cast(self.difference_type(), index), count)
        before = self.sums.get(pointer)
        if before is not None:
            pointer, earlier = before
            index = c_ast.BinaryOp("+", copy.copy(earlier), index)
        step = "ncupc_element" if pointer in self.first_elements else "ncupc_add"
        made = call(step, pointer, index, self.size(element), self.block_size(element))
        if whole_rows or before is not None:  # a[i][j] is one step from a
            self.sums[made] = (pointer, index)
        return made

    def temporary(self, kind, init):
        """(name, declaration) of a new variable with the value `init`."""
        return self._variable(lambda name: self.declarator(kind.unqualified(), name, quals=[]), init)

    def operand_temporary(self, init):
        """The same of the C compiler's own type."""
        return self._variable(lambda name: c_ast.TypeDecl(name, [], None, c_ast.IdentifierType(["__auto_type"])), init)

    def pointer_temporary(self, init):
        """The same of a pointer-to-shared."""
        return self._variable(pointer_declarator, init)

    def address_temporary(self, lvalue):
        """The same of the address of a pointer-to-shared in private memory."""
        return self._variable(lambda name: c_ast.PtrDecl([], pointer_declarator(name)), c_ast.UnaryOp("&", lvalue))

    def _variable(self, declarator_of, init):
        self.temporaries += 1
        name = f"ncupc_t{self.temporaries}"
        return name, c_ast.Decl(name, [], [], [], [], declarator_of(name), init, None, self.coord)

    def steps(self, operator, value):
        """The syntax of how many elements `p += value` or `p -= value` moves a pointer-to-shared on."""
        return value.node if operator == "+" else c_ast.UnaryOp("-", c_ast.Cast(self.difference_type(), value.node))

    def sequence(self, *items):
        """({ a; b; c; })"""
        return StatementExpr(c_ast.Compound(list(items), self.coord), self.coord)

    # Primary expressions

    def visit_Constant(self, node):
        if node.type == "string":
            return Value(node, types.Array(arithmetic(["char"]), None, None), lvalue=True)
        if node.type == "char":
            return Value(node, INT)
        kind = constant_type(node) if "int" in node.type and "_Complex" not in node.type else arithmetic(node.type.split())
        return Value(node, kind or types.Unknown(), null=is_zero(node))

    def visit_ID(self, node):
        name = node.name
        if name in ("THREADS", "MYTHREAD"):
            return Value(node, INT)
        symbol = self.scope.find(name)
        if symbol is None:
            if not (name.startswith("__builtin_") or name in KNOWN_NAMES or name in self.implicit):
                self.implicit.add(name)
                self.error(node.coord, f"'{name}' is not declared{old_name_hint(name)}")
            return Value(node, types.Unknown())
        if symbol.kind == "constant":
            return Value(node, INT, null=False)
        node.name = symbol.c_name
        if symbol.kind == "object" and symbol.type.is_shared:
            self.first_elements.add(node)
            return Place(node, symbol.type)
        return Value(node, symbol.type, lvalue=symbol.kind == "object")

    def visit_ExprList(self, node, unused=False):
        *before, last = node.exprs
        node.exprs = [self.value(each, unused=True).node for each in before]
        value = self.value(last, unused)
        node.exprs.append(value.node)
        return Value(node, value.type)

    def visit_CompoundLiteral(self, node):
        kind = self.type_of(node.type.type)
        if kind.is_shared:
            self.error(node.coord, "a compound literal cannot be shared")
        node.type = self.rewritten_typename(node.type)
        node.init = self.initializer(node.init, kind)
        return Value(node, kind, lvalue=True)

    def visit_InitList(self, node):
        self.error(node.coord, "a list in braces is no expression")
        return Value(node, types.Unknown())

    def visit_StatementExpr(self, node):
        self.last_value = None
        node.compound = self.compound(node.compound, value=True)
        kind = self.last_value.type if self.last_value is not None else types.Void()
        return Value(node, kind)

    def visit_GenericSelection(self, node):
        control = self.value(node.expr)
        kinds = [each.type and self.type_of(each.type.type) for each in node.associations]
        if control.type.is_pointer_to_shared or any(kind is not None and kind.is_pointer_to_shared for kind in kinds):
            return self._chosen(node, control, kinds)
        node.expr = control.node
        results = []
        for each in node.associations:
            value = self.expression(each.expr)
            value = self.loaded(value) if isinstance(value, Place) else value
            each.expr = value.node
            if each.type is not None:
                each.type = self.rewritten_typename(each.type)
            results.append(value)
        chosen = next((value for value, kind in zip(results, kinds) if kind is not None and types.same(kind, control.type)), None)
        if chosen is None:
            chosen = next((value for value, kind in zip(results, kinds) if kind is None), results[0])
        return Value(node, types.Unknown() if control.type.is_unknown else chosen.type)

    def _chosen(self, node, control, kinds):
        """C cannot tell pointers-to-shared apart, so the choice is made here."""
        default = None
        for each, kind in zip(node.associations, kinds):
            if kind is None:
                default = each
            elif types.same(kind, control.type):
                return self.expression(each.expr)
        if default is None:
            self.error(node.coord, f"_Generic has no association for '{control.type}'")
            return control
        return self.expression(default.expr)

    # Postfix expressions

    def visit_ArrayRef(self, node):
        base, index = self.value(node.name), self.value(node.subscript)
        if index.type.is_pointer and not base.type.is_pointer:
            base, index = index, base
            node.name, node.subscript = node.subscript, node.name
        if base.type.is_pointer_to_shared:
            if not types.may_index(index.type):
                self.error(node.coord, f"the subscript is not an integer but of type '{index.type}'")
            return Place(self.added(base.node, index.node, base.type.target), base.type.target)
        node.name, node.subscript = base.node, index.node
        return Value(node, base.type.target if base.type.is_pointer else types.Unknown(), lvalue=True)

    def visit_StructRef(self, node):
        base = self.expression(node.name)
        if node.type == "->":
            base = self.loaded(base)
            if base.type.is_pointer_to_shared:
                base = Place(base.node, base.type.target)
            elif base.type.is_pointer:
                return self._private_member(node, base, base.type.target)
            elif not base.type.is_unknown:
                self.error(node.coord, f"-> needs a pointer to a struct or union, not a '{base.type}'")
                return Value(node, types.Unknown())
        if isinstance(base, Place):
            return self._shared_member(node, base)
        return self._private_member(node, base, base.type)

    def _member(self, node, kind):
        found = kind.field(node.field.name) if kind.is_record else None
        if found is None and not kind.is_unknown:
            what = f"'{kind}' has no member '{node.field.name}'"
            if kind.is_record and kind.body.fields is None:
                what = f"'{kind}' is incomplete"
            self.error(node.coord, what if kind.is_record else f"'{node.field.name}' is asked of a '{kind}', no struct or union")
        return found

    def _private_member(self, node, base, kind):
        node.name = base.node
        found = self._member(node, kind)
        return Value(node, found[0] if found else types.Unknown(), lvalue=True)

    def _shared_member(self, node, base):
        found = self._member(node, base.type)
        if found is None:
            return Value(node, types.Unknown())
        kind, bits = found
        member = node.field.name
        quals = base.type.quals & {"strict", "relaxed", "const", "volatile"}
        shared = kind.qualified(quals, types.INDEFINITE)
        if bits is not None:
            return Place(base.pointer, shared, bits=(base.type, member))
        pointer, record, path = base.path or (base.pointer, base.type, "")
        path = f"{path}.{member}" if path else member
        offset = call("__builtin_offsetof", self.value_type(record), identifier(path))
        return Place(call("ncupc_field", pointer, offset), shared, path=(pointer, record, path))

    def visit_FuncCall(self, node):
        name = node.name.name if isinstance(node.name, c_ast.ID) else ""
        if name in ("offsetof", "__builtin_offsetof") and self.scope.find(name) is None:
            node.args.exprs[0] = self.rewritten_typename(node.args.exprs[0])
            return Value(node, SIZE)
        given = node.args.exprs if node.args is not None else []
        if name == "bupc_assert_type" and self.scope.find(name) is None:
            return self._assert_type(node)
        if name in ("__builtin_va_arg", "va_arg") and isinstance(given[-1], c_ast.Typename):
            kind = self.type_of(given[1].type)
            node.args.exprs = [self.value(given[0]).node, self.rewritten_typename(given[1])]
            return Value(node, kind.unqualified())
        function = self._called(node, name)
        kind = function.type.target if function.type.is_pointer else function.type
        node.name = function.node
        parameters = kind.parameters if kind.is_function else None
        if node.args is not None:
            node.args.exprs = self._arguments(given, parameters, kind, name)
        if parameters is not None and len(given) < len(parameters):
            self.error(node.coord, f"too few arguments to '{name or 'the function'}': {len(given)} of {len(parameters)}")
        if name in SETJMP:
            return Value(self.landing(node), INT)
        return Value(node, kind.result.unqualified() if kind.is_function else self._builtin_result(name, given))

    def _assert_type(self, node):
        """Berkeley's question whether two types, or those of expressions that are not evaluated, are one: 1, or 0 and a warning."""
        given = node.args.exprs if node.args is not None else []
        if len(given) != 2:
            self.error(node.coord, f"bupc_assert_type takes two types or expressions, not {len(given)}")
            return Value(number(0), INT)
        one, other = map(self.type_of_operand, given)
        for each in given:
            self.not_evaluated |= set(called_names(each))
        found = types.identical(one, other) and self.same_multiples(one, other)
        if found is None:
            self.error(node.coord, "bupc_assert_type: upcc does not know these types, only the C compiler does")
        elif not found:
            self.warn(node.coord, f"bupc_assert_type: '{one}' and '{other}' are different types")
        return Value(number(int(found is True)), INT)

    def _called(self, node, name):
        if name and self.scope.find(name) is None:
            if old_name_hint(name):
                self.error(node.coord, f"'{name}' is not declared{old_name_hint(name)}")
            return Value(node.name, types.Unknown())  # a builtin, or one that the C compiler warns of
        return self.value(node.name)

    def _arguments(self, given, parameters, kind, name):
        made = []
        for position, argument in enumerate(given):
            if isinstance(argument, c_ast.Typename):
                made.append(self.rewritten_typename(argument))
                continue
            value = self.value(argument)
            if parameters is not None and position < len(parameters):
                what = f"argument {position + 1} of '{name}'" if name else f"argument {position + 1}"
                made.append(self.converted(value, parameters[position], argument.coord, what))
            else:
                if parameters is not None and not kind.variadic and position == len(parameters):
                    self.error(argument.coord, f"too many arguments to '{name or 'the function'}': {len(given)} for {len(parameters)}")
                made.append(value.node)
        return made

    @staticmethod
    def _builtin_result(name, given):
        return INT if name in ("__builtin_types_compatible_p", "__builtin_constant_p") else types.Unknown()

    # Assignment and casts

    def visit_Cast(self, node):
        return self.cast(node)

    def visit_Assignment(self, node):
        target = self.expression(node.lvalue)
        self._must_be_lvalue(node.lvalue, target)
        value = self.value(node.rvalue)
        coord = node.coord
        if node.op != "=":
            return self._compound_assignment(node, target, value)
        what = f"assignment to '{node.lvalue.name}'" if isinstance(node.lvalue, c_ast.ID) else "assignment"
        right = self.converted(value, target.type, coord, what)
        if isinstance(target, Place):
            self.coord = coord
            return Value(self.stored(target, right), target.type.unqualified())
        node.lvalue, node.rvalue = target.node, right
        return Value(node, target.type.unqualified())

    def _compound_assignment(self, node, target, value):
        operator = node.op[:-1]
        if isinstance(target, Place):
            self.coord = node.coord
            return self._update_shared(target, operator, value)
        if not target.type.is_pointer_to_shared:
            node.lvalue, node.rvalue = target.node, value.node
            if value.type.is_pointer_to_shared:
                self.error(node.coord, f"{node.op} with a pointer-to-shared")
            return Value(node, target.type.unqualified())
        if operator not in "+-" or not types.may_index(value.type):
            self.error(node.coord, f"operator {node.op} on '{target.type}' and '{value.type}'")
        return self._moved(target, self.steps(operator, value))
