"""From UPC to C: lower() takes the syntax tree of a UPC file and gives one of C that calls the runtime (nearcache/upc_runtime.h).

The parts are mixed into one class, as all of them need the symbol table: types and layouts (declare), constants, conversions (convert),
expressions, initialisers, statements, static data (statics), declarators as C writes them (rewrite, typenames).
"""
from pycparser import c_ast

from . import diagnostics, main_function, pragmas, types, upc_ast
from .constants import Constants
from .convert import Conversions
from .declare import Declarations, reshaped
from .diagnostics import UpcError, UpcErrors
from .expressions import Expressions
from .forall import Forall
from .initializers import Initializers
from .operators import Operators
from .rewrite import Rewriting, innermost
from .scope import Scope, Symbol
from .statements import Statements
from .statics import Statics
from .typenames import Typenames, call, plain_quals

TOO_MANY = 50  # errors after which the rest would only be their echo


class FileAST(c_ast.FileAST):
    """The C file, and the warnings about the UPC file: (coord, severity, message)."""
    __slots__ = ("diagnostics",)

    def __init__(self, ext, found):
        super().__init__(ext)
        self.diagnostics = found


def lower(tree, system_files=(), threads=None, strict=False, name="", struct_pointers=False):
    """The C of a UPC file.

    threads: THREADS where it is static, None where it is known at the start of the program. strict: the mode of accesses where neither a
    pragma nor a qualifier says one. name: of the file, for messages of the runtime. Raises UpcErrors.
    """
    lowering = Lowering(system_files, threads, strict, name, struct_pointers)
    made = lowering.file(tree)
    if any(severity == diagnostics.ERROR for _, severity, _ in lowering.found):
        raise UpcErrors(lowering.found)
    return FileAST(made, lowering.found)


class Lowering(Constants, Conversions, Declarations, Expressions, Forall, Initializers, Operators, Rewriting, Statements, Statics, Typenames):
    def __init__(self, system_files, threads, strict, name, struct_pointers):
        self.system_files = frozenset(system_files)
        self.threads, self.strict, self.name, self.struct_pointers = threads, strict, name, struct_pointers
        self.scope = self.globals = Scope()
        self.found = []        # diagnostics
        self.function = None   # Symbol of the function that is lowered
        self.controlled = 0    # how many upc_forall with an affinity are around, in that function
        self.jumps_land = False  # whether it calls setjmp
        self.returns_status = False
        self.coord = None      # of what is lowered, for nodes that are made
        self.packing = pragmas.Packing()
        self.bodies = {}       # node of a struct, union or enumeration -> types.Body or type
        self.printed = set()   # nodes of the definitions that are in the output
        self.definitions = []  # of structs to print before the declaration under way
        self.sums = {}         # call of ncupc_add or ncupc_element -> (pointer, index)
        self.first_elements = set()  # names of shared objects, which begin on thread 0
        self.emitted_arrays = set()  # typedef names of arrays that C can have
        self.unprinted = set()       # typedef names of arrays that C cannot have
        self.not_evaluated = set()   # functions that operands of sizeof call which are not in the output
        self.shared_names = set()    # C names of shared objects
        self.placed = {}             # C name -> (Symbol, coord) of shared objects that this file defines
        self.initialisations = []    # statements
        self.hoisted = []            # declarations to print before the function under way
        self.implicit = set()        # names that were reported
        self.unnamed = self.temporaries = self.foralls = self.static_locals = 0
        self.last_value = None
        self.filling = False   # a shared object is initialised
        self.visitors = {name[6:]: getattr(self, name) for name in dir(self) if name.startswith("visit_")}
        self.statement_visitors = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("on_")}

    # Diagnostics

    def _report(self, coord, severity, message):
        entry = (coord or self.coord, severity, message)
        if not any(str(entry[0]) == str(old[0]) and message == old[2] for old in self.found):
            self.found.append(entry)
        if severity == diagnostics.ERROR and len(self.found) >= TOO_MANY:
            raise UpcErrors(self.found)

    def error(self, coord, message):
        self._report(coord, diagnostics.ERROR, message)

    def warn(self, coord, message):
        self._report(coord, diagnostics.WARNING, message)

    # The file

    def file(self, tree):
        made = []
        for node in tree.ext:
            try:
                if self._is_system(node):
                    self._declare_system(node)
                else:
                    self.coord = node.coord or self.coord
                    made += self._external(node)
            except UpcError as error:
                self.error(error.coord, error.message)
                self.function, self.scope = None, self.globals
        self._allow_unused(made)
        return made + self.module()

    def _allow_unused(self, made):
        """A static function that only an operand of sizeof calls, which is not printed, would be warned of."""
        for node in made:
            if isinstance(node, c_ast.FuncDef) and "static" in node.decl.storage and node.decl.name in self.not_evaluated:
                node.decl.attributes = [upc_ast.GnuAttribute("__attribute__((unused))"), *node.decl.attributes]

    def _is_system(self, node):
        return node.coord is not None and node.coord.file in self.system_files

    def _external(self, node):
        match node:
            case c_ast.FuncDef():
                return self.function_definition(node)
            case c_ast.Decl():
                return self._global_declaration(node)
            case c_ast.Typedef():
                return self.type_definition(node)
            case c_ast.Pragma():
                return self.pragma(node)
            case c_ast.StaticAssert():
                return [self.on_StaticAssert(node)]
        return [node]

    def pragma(self, node):
        """Follows a pragma; what of it is left for the C compiler."""
        mode = pragmas.mode(node)
        if mode is None:
            self.packing.follow(node)
            return [node]
        self.strict = mode
        return []

    # System headers: declared, not printed

    def _declare_system(self, node):
        match node:
            case c_ast.Pragma():
                self.pragma(node)
            case c_ast.FuncDef():
                self._declare_lazily(node.decl, "function")
            case c_ast.Typedef():
                self._declare_tags(node.type)
                self._declare_lazily(node, "typedef")
            case c_ast.Decl():
                self._declare_tags(node.type)
                if node.name:
                    self._declare_lazily(node, "function" if isinstance(node.type, c_ast.FuncDecl) else "object")

    def _declare_tags(self, node):
        while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl, c_ast.TypeDecl)):
            node = node.type
        if isinstance(node, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            self.printed.add(node)
            self.type_of(node)
            if isinstance(node, c_ast.Enum):
                return
            for each in node.decls or ():
                if isinstance(each, c_ast.Decl):
                    self._declare_tags(each.type)

    def _declare_lazily(self, node, kind):
        def resolve():
            scope, function, self.scope, self.function = self.scope, self.function, self.globals, None
            found = reshaped(self.type_of(node.type), node) if kind == "typedef" else self.type_of(node.type)
            self.scope, self.function = scope, function
            return self.named(found, node.name) if kind == "typedef" else found
        symbol = Symbol(node.name, kind, resolve=resolve, storage=node.storage or (), coord=node.coord)
        self.globals.names.setdefault(node.name, symbol)

    def named(self, kind, name):
        """A type under its typedef name, where C has the name for the same type."""
        if kind.quals & {"const", "volatile", "_Atomic"} or (kind.is_array and any(each.length is None for each in kind.dimensions())):
            return kind
        made = kind.copy()
        made.alias = name
        if kind.is_array:
            self.emitted_arrays.add(name)
        return made

    def add_constant(self, name, value, coord):
        self.scope.add(Symbol(name, "constant", types.Arithmetic(["int"], 4), value=value, coord=coord))

    # Declarations of the program

    def type_definition(self, node):
        kind = reshaped(self.type_of(node.type), node)
        self.check_reference_type(kind, node)
        kind = self.named_layout(kind, node) if kind.is_shared else kind
        named = self.named(kind, node.name)
        self.scope.add(Symbol(node.name, "typedef", named, coord=node.coord))
        if kind.is_array and named.alias is None and (kind.is_shared or self.function is None):
            self.unprinted.add(node.name)  # C cannot have it: its size is not known before the start
            self._keep_definition(innermost(node.type).type)
            return self.definitions_before([])
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewritten(node.type)
        return self.definitions_before([node])

    def _global_declaration(self, node):
        kind = self.type_of(node.type)
        if node.name is None:
            return self._tag_declaration(node, kind)
        self.check_reference_type(kind, node)
        if kind.is_shared and not kind.is_function:
            return self.shared_object(node, kind)
        kind = self.sized_by_initializer(kind, node.init)
        symbol = self.declared(node, kind, main_function.NAME if node.name == "main" and kind.is_function else None)
        node.quals = plain_quals(node.quals or [])
        if symbol.c_name == main_function.NAME:
            return []  # the runtime's header declares it
        if kind.is_function:
            return self.definitions_before([self._prototype(node, symbol)])
        return self.private_object(node, kind, symbol, local=False)

    def _tag_declaration(self, node, kind):
        """struct s { ... }; alone"""
        if kind.is_shared:
            self.warn(node.coord, "shared declares nothing here")
        node.quals = plain_quals(node.quals or [])
        node.type = self.rewritten(node.type)
        return [node]

    def _prototype(self, node, symbol):
        node.type = self.rewritten(node.type)
        if symbol.c_name != node.name:
            innermost(node.type).declname = node.name = symbol.c_name
        return node

    def local_declaration(self, node):
        kind = self.type_of(node.type)
        if node.name is None:
            return self._tag_declaration(node, kind)
        self.check_reference_type(kind, node)
        storage = node.storage or []
        if kind.is_shared and not kind.is_function:
            return self._local_shared(node, kind, storage)
        if self._is_auto_type(node):
            kind = self.type_of_operand(node.init)
        kind = self.sized_by_initializer(kind, node.init)
        symbol = self.scope.add(Symbol(node.name, "function" if kind.is_function else "object", types.decayed(kind) if self._is_auto_type(node) else kind,
                                       storage=storage, coord=node.coord))
        node.quals = plain_quals(node.quals or [])
        if kind.is_function:
            return self.definitions_before([self._prototype(node, symbol)])
        return self.private_object(node, symbol.type, symbol, local=True)

    @staticmethod
    def _is_auto_type(node):
        return isinstance(node.type, c_ast.TypeDecl) and getattr(node.type.type, "names", None) == ["__auto_type"]

    def _local_shared(self, node, kind, storage):
        if "extern" in storage:
            return self.shared_object(node, kind)
        if "static" not in storage:
            self.error(node.coord, f"'{node.name}' cannot be shared: an automatic variable is private; declare it static, or outside of "
                       "the function")
            kind = self.complete_layout(kind, node)
            self.scope.add(Symbol(node.name, "object", kind, coord=node.coord))
            return []
        self.static_locals += 1
        made = self.shared_object(node, kind, f"{node.name}_in_{self.function.name}_{self.static_locals}", hoisted=True)
        self.hoisted += [each for each in made if each.name is not None]
        return [each for each in made if each.name is None]

    # Functions

    def function_definition(self, node):
        outer = (self.function, self.returns_status, self.hoisted, self.scope, self.controlled, self.jumps_land)
        nested = self.function is not None
        kind = self.type_of(node.decl.type)
        main = node.decl.name == "main" and not nested
        symbol = self.declared(node.decl, kind, main_function.NAME if main else None)
        if not nested:
            self.hoisted = []
        self.function = symbol
        self.scope = Scope(self.scope)
        self._parameters(node)
        self.returns_status, self.controlled, self.jumps_land = main, 0, False
        node.decl.quals = plain_quals(node.decl.quals or [])
        node.decl = self._prototype(node.decl, symbol)
        for each in node.param_decls or ():
            each.quals, each.type = plain_quals(each.quals or []), self.rewritten(each.type, parameter=True)
        node.body = self.compound(node.body, scope=self.scope)
        if self.jumps_land:
            node.body.block_items.insert(0, call("NCUPC_ENTERED"))
        if main:
            main_function.complete(node)
        hoisted = self.hoisted if not nested else []
        self.function, self.returns_status, self.hoisted, self.scope, self.controlled, self.jumps_land = outer
        return self.definitions_before([*hoisted, node])

    def _parameters(self, node):
        """Declares the parameters of a function definition in the scope of its body."""
        declarator = node.decl.type
        while not isinstance(declarator, c_ast.FuncDecl):
            declarator = declarator.type
        given = node.param_decls or (declarator.args.params if declarator.args is not None else ())
        for each in given:
            if isinstance(each, c_ast.Decl) and each.name:
                self.scope.add(Symbol(each.name, "object", self.parameter_type(each), coord=each.coord))
