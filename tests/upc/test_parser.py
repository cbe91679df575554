"""The parser of upcc: the syntax tree of each construct of UPC and GNU C, the headers of the C library, messages and their places."""

import re
import subprocess

import pytest
from support import launch_upc  # noqa: F401  (makes the package importable)
from support.compilers import COMPILERS

pytest.importorskip("pycparser")

from nearcache.upcc import parser, upc_ast  # noqa: E402
from nearcache.upcc.diagnostics import UpcError, UpcErrors  # noqa: E402
from pycparser import c_ast  # noqa: E402

HEADERS = (
    "argp arpa/inet assert byteswap complex ctype dirent dlfcn elf endian errno error execinfo fcntl fenv float fnmatch ftw getopt "
    "glob grp inttypes iso646 libgen limits link locale malloc math mntent mqueue netdb netinet/in netinet/tcp obstack poll printf "
    "pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib "
    "stdnoreturn string strings sys/epoll sys/file sys/inotify sys/ioctl sys/ipc sys/mman sys/msg sys/ptrace sys/resource sys/select "
    "sys/sem sys/sendfile sys/shm sys/socket sys/stat sys/statvfs sys/sysinfo sys/time sys/times sys/types sys/uio sys/un sys/utsname "
    "sys/wait syslog termios tgmath threads time uchar ucontext unistd utime utmpx wchar wctype wordexp"
).split()


def declarations(text):
    return parser.parse(text, "x.upc").ext


def statements(text):
    return declarations(f"void f(void) {{ {text} }}")[0].body.block_items


def expression(text):
    return statements(f"{text};")[0]


def error(text):
    with pytest.raises(UpcError) as caught:
        parser.parse(text, "x.upc")
    return caught.value


# UPC


@pytest.mark.parametrize("layout, expected", [("", None), ("[]", "[]"), ("[*]", "[*]")])
def test_shared_without_a_block_size(layout, expected):
    (decl,) = declarations(f"shared {layout} int x;")
    (shared,) = decl.quals
    assert shared == "shared" and isinstance(shared, upc_ast.Shared)
    assert shared.layout == expected
    assert (shared.coord.line, shared.coord.column) == (1, 1)
    assert decl.type.quals[0] is shared


def test_a_block_size_is_an_expression():
    a, p = declarations("shared [2 * N] int a[10 * THREADS], *p;")
    assert isinstance(a.quals[0].layout, c_ast.BinaryOp)
    assert a.type.dim.right.name == "THREADS"
    assert (
        isinstance(p.type, c_ast.PtrDecl)
        and p.type.quals == []
        and p.type.type.quals[0].layout is a.quals[0].layout
    )


def test_qualifiers_on_both_sides_of_a_star():
    (p,) = declarations("strict int shared [] * relaxed shared [5] p;")
    assert p.type.quals == ["relaxed", "shared"] and p.type.quals[1].layout.value == "5"
    assert p.type.type.quals == ["strict", "shared"] and p.type.type.quals[1].layout == "[]"


def test_shared_in_parameters_members_type_names_and_typedefs():
    f, s, t = declarations(
        "int f(shared [] char *, shared void *p); struct s { shared struct s *next; int n; }; typedef shared [3] int block;"
    )
    assert [p.type.type.quals for p in f.type.args.params] == [["shared"], ["shared"]]
    assert s.type.decls[0].type.type.quals == ["shared"]
    assert t.quals[0].layout.value == "3"
    cast = expression("x = (shared [7] int *) q").rvalue
    assert cast.to_type.type.type.quals[0].layout.value == "7"


@pytest.mark.parametrize(
    "clause, kind",
    [
        ("", type(None)),
        (" continue", c_ast.Continue),
        (" &a[i]", c_ast.UnaryOp),
        (" i", c_ast.ID),
        (" i, j", c_ast.ExprList),
    ],
)
def test_the_affinity_of_upc_forall(clause, kind):
    (loop,) = statements(f"upc_forall (i = 0; i < 3; i++;{clause}) x++;")
    assert isinstance(loop, upc_ast.UpcForall) and isinstance(loop.affinity, kind)
    assert (
        isinstance(loop.init, c_ast.Assignment)
        and isinstance(loop.cond, c_ast.BinaryOp)
        and isinstance(loop.next, c_ast.UnaryOp)
    )


def test_upc_forall_may_declare_its_variable_and_leave_out_clauses():
    first, second = statements("upc_forall (int i = 0, j = 1; ; ; ) { } upc_forall (;;;) ;")
    assert [decl.name for decl in first.init.decls] == ["i", "j"]
    assert (first.cond, first.next, first.affinity) == (None, None, None)
    assert second.init is None and isinstance(second.stmt, c_ast.EmptyStatement)
    assert [name for name, _ in first.children()] == ["init", "stmt"]


@pytest.mark.parametrize("kind", ["notify", "wait", "barrier", "fence"])
def test_synchronisation_statements(kind):
    (node,) = statements(f"upc_{kind};")
    assert (node.kind, node.expr) == (kind, None)
    if kind != "fence":
        (node,) = statements(f"upc_{kind} n + 1;")
        assert isinstance(node.expr, c_ast.BinaryOp)


@pytest.mark.parametrize(
    "operator",
    ["upc_blocksizeof", "upc_elemsizeof", "upc_localsizeof", "sizeof", "_Alignof", "__alignof__"],
)
def test_size_operators_take_types_and_expressions(operator):
    of_type, of_expression, of_parentheses = (
        expression(f"x = {operator} {operand}").rvalue
        for operand in ("(shared [3] int)", "a[1]", "(a)[1]")
    )
    assert of_type.op == of_expression.op == operator
    assert isinstance(of_type.expr, c_ast.Typename)
    assert isinstance(of_expression.expr, c_ast.ArrayRef) and isinstance(
        of_parentheses.expr, c_ast.ArrayRef
    )


def test_pragmas_stay_where_they_are():
    first, function, last = declarations(
        "#pragma upc strict\nvoid f(void) {\n#pragma upc relaxed\n x++; }\n#pragma upc strict\n"
    )
    assert (first.string, last.string) == ("upc strict", "upc strict")
    assert function.body.block_items[0].string == "upc relaxed"
    assert function.body.block_items[0].coord.line == 3


# GNU C and C11


def test_a_name_hides_a_type_from_its_declarator_on():
    items = declarations(
        "typedef struct n n; void f(void) { n *n = g(sizeof *n), *m = n; n * m; } n *later;"
    )
    body = items[1].body.block_items
    assert [decl.name for decl in body[:2]] == ["n", "m"]
    assert isinstance(body[2], c_ast.BinaryOp)
    assert items[2].type.type.type.names == ["n"]  # outside the block it is a type again


def test_statement_expressions_and_conditionals_without_a_middle():
    value = expression("x = ({ int t = a; t + 1; }) ?: 3").rvalue
    assert isinstance(value, c_ast.TernaryOp) and value.iftrue is None
    assert (
        isinstance(value.cond, upc_ast.StatementExpr) and len(value.cond.compound.block_items) == 2
    )


def test_ranges_and_old_designators():
    (switch,) = statements("switch (c) { case 'a' ... 'z': n++; }")
    case = switch.stmt.block_items[0]
    assert isinstance(case.expr, upc_ast.Range) and (
        case.expr.first.value,
        case.expr.last.value,
    ) == ("'a'", "'z'")
    (decl,) = statements("struct p p[4] = { [0 ... 2] = { x: 1, .y = 2 }, [3] { 5 } };")
    first, second = decl.init.exprs
    assert isinstance(first.name[0].expr, upc_ast.Range)
    assert [item.name[0].name for item in first.expr.exprs] == ["x", "y"]
    assert isinstance(second.name[0], c_ast.ArrayDesignator)


def test_labels_as_values_local_labels_and_nested_functions():
    items = statements(
        "__label__ a, b; int g(int x) { return x; } void *p = &&a; goto *p; a: __attribute__((unused)) g(1); b: ;"
    )
    assert items[0].names == ["a", "b"]
    assert isinstance(items[1], c_ast.FuncDef) and items[1].decl.name == "g"
    assert items[2].init.op == "&&" and items[2].init.expr.name == "a"
    assert isinstance(items[3], upc_ast.ComputedGoto)
    assert items[4].attributes[0].text == "__attribute__((unused))"


@pytest.mark.parametrize(
    "text, where",
    [
        ("__attribute__((A)) static int x;", lambda d: d.attributes),
        ("static __attribute__((A)) int x;", lambda d: d.attributes),
        ("int __attribute__((A)) x;", lambda d: d.attributes),
        ("int x __attribute__((A));", lambda d: d.type.attributes),
        ("int x __attribute__((A)) = 3;", lambda d: d.type.attributes),
        ("int x[3] __attribute__((A));", lambda d: d.type.attributes),
        ("int x(void) __attribute__((A));", lambda d: d.type.attributes),
        ("int * __attribute__((A)) x;", lambda d: d.type.attributes),
        (
            "int (__attribute__((A)) *x)(void);",
            lambda d: d.type.type.type.attributes or d.type.attributes,
        ),
        ("struct __attribute__((A)) s { int i; } x;", lambda d: d.type.type.attributes),
        ("struct s { int i; } __attribute__((A)) x;", lambda d: d.type.type.attributes),
        ("enum e { E } __attribute__((A)) x;", lambda d: d.type.type.attributes),
        (
            "enum e { E __attribute__((A)) = 2 } x;",
            lambda d: d.type.type.values.enumerators[0].attributes,
        ),
        (
            "struct s { int i : 3 __attribute__((A)); } x;",
            lambda d: d.type.type.decls[0].attributes,
        ),
        ("int f(int i __attribute__((A)));", lambda d: d.type.args.params[0].type.attributes),
        ("int f(__attribute__((A)) int i);", lambda d: d.type.args.params[0].attributes),
    ],
)
def test_attributes_are_kept_where_they_belong(text, where):
    (decl,) = declarations(text)
    (attribute,) = where(decl)
    assert attribute.text == "__attribute__((A))"


def test_assembler_names_and_statements():
    decl, top = declarations(
        'extern int x(int) __asm__("y") __attribute__((nothrow)); asm(".globl z");'
    )
    assert [a.text for a in decl.type.attributes] == ['__asm__("y")', "__attribute__((nothrow))"]
    assert isinstance(top, upc_ast.Asm)
    (statement,) = statements('__asm volatile ("nop" : "=r"(x) : [n] "r" (y) : "memory");')
    assert statement.text == '__asm__ volatile("nop" : "=r"(x) : [n] "r"(y) : "memory")'


@pytest.mark.parametrize(
    "text",
    [
        "static __inline __const int *__restrict f(__signed char, __volatile__ int);",
        "__thread int a; _Thread_local int b; __extension__ long long c; __int128 d; unsigned __int128 e; _Float128 f; __auto_type g = 3;",
        "struct { } a; struct { int n; char data[0]; } b; union { struct { int x, y; }; int whole; } c;",
        "int f(void) { return __builtin_types_compatible_p(int, char *) + __builtin_offsetof(struct s, a[1].b); }",
        "double f(double _Complex z) { return __real__ z + __imag__ z + 1.0i + 0x1.8p3 + 1e3f + 2.L + 3.0f128; }",
        '_Static_assert(sizeof(int) == 4, "int"); _Noreturn void f(void); _Alignas(16) int x; int y = _Alignof(int);',
        "int f(a, b) int a; char *b; { return a; } g() { return 1; } main(argc, argv) char **argv; { }",
        "int f(int n, int a[static n][*]); int g(int n, int a[const restrict static 3]); int h(int [*], int (*)[3], int (*(*)(void))[2]);",
        "char *s = u8\"a\" \"b\"; int w = L'x', m = 'abcd', e = '\\x41' + '\\''; int l = sizeof L\"wide\";",
        "int x = (int) { 3 }; int *p = (int []) { 1, 2 }; struct s v = (struct s) { .a = 1 };",
        "void f(int n) { if (n) ; else while (n) do n--; while (n); for (;;) break; { } ; }",
        "typedef int T; struct T { T T; }; void f(T (T)); T g(T (*)(T)); void h(void) { goto T; T: ; }",
        "int f(__builtin_va_list ap) { return __builtin_va_arg(ap, int *)[0]; }",
        "int $dollar, na\\u00efve;",
    ],
)
def test_c_that_programs_and_headers_use(text):
    assert declarations(text)


def test_constants_have_the_types_of_their_suffixes():
    kinds = {
        text: expression(f"x = {text}").rvalue.type
        for text in ("1", "1u", "1UL", "1ll", "0x1fUL", "1.0", "1.f", "0x1p3L", "'a'", "2.0i")
    }
    assert kinds == {
        "1": "int", "1u": "unsigned int", "1UL": "unsigned long int", "1ll": "long long int", "0x1fUL": "unsigned long int",
        "1.0": "double", "1.f": "float", "0x1p3L": "long double", "'a'": "char", "2.0i": "_Complex double",
    }  # fmt: skip


# Headers


def header_text(cc, options, headers=HEADERS):
    text = "".join(
        f"#if __has_include(<{name}.h>)\n#include <{name}.h>\n#endif\n" for name in headers
    )
    done = subprocess.run(
        [cc, "-E", "-x", "c", *options, "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(re.findall(r'^# \d+ "([^"]+)" 1 3', done.stdout, re.M))


@pytest.mark.parametrize(
    "options",
    [["-D_GNU_SOURCE"], ["-D_GNU_SOURCE", "-O2", "-D_FORTIFY_SOURCE=2"], ["-std=c99"]],
    ids=" ".join,
)
@pytest.mark.parametrize("cc", COMPILERS)
def test_all_headers_of_the_c_library_parse_with_their_functions(cc, options):
    text, system = header_text(cc, options)
    reader = parser.UpcParser(system, header_bodies=True)
    tree = reader.parse(text, "<stdin>")
    assert [str(e) for e in reader.skipped] == []
    assert len(tree.ext) > 1500


def test_function_bodies_in_system_headers_are_passed_over():
    text = '# 1 "s.h" 1 3\nstatic inline int f(int n) { return $%@ n; }\n# 2 "x.upc" 2\nint g(void) { return f(1); }\n'
    first, second = parser.parse(text, "x.upc", {"s.h"}).ext
    assert first.body.block_items is None and second.body.block_items


def test_what_cannot_be_parsed_in_a_system_header_is_skipped_to_its_end():
    text = (
        '# 1 "s.h" 1 3\nint a;\n__future int b(int) __new { x; };\nint c;\nint f(int n __new) { if (n) { return 1; } }\nint d @ 3;\ntypedef int T;\n'
        '# 2 "x.upc" 2\nT e;\n'
    )
    reader = parser.UpcParser({"s.h"})
    assert [decl.name for decl in reader.parse(text, "x.upc").ext] == ["a", "c", "T", "e"]
    assert [e.coord.line for e in reader.skipped] == [2, 4, 5]
    with pytest.raises(UpcErrors):
        parser.parse(text, "x.upc")


def test_upc_keywords_are_ordinary_names_in_the_headers_of_c_only():
    text = '# 1 "c.h" 1 3\nstruct s { double shared; int strict; };\n# 1 "upc.h" 1 3\nshared int n;\n# 2 "x.upc" 2\nint f(struct s *p) { return p->strict; }\n'
    struct, n, _ = parser.parse(text, "x.upc", {"c.h", "include/upc.h", "upc.h"}).ext
    assert [d.name for d in struct.type.decls] == ["shared", "strict"]
    assert n.quals == ["shared"]


# Places and messages


def test_each_node_has_its_place_in_the_source_of_the_line_markers():
    text = '# 1 "x.upc"\n# 1 "h.h" 1\nint a;\n# 40 "x.upc" 2\n\n  int f(void)\n{\n\treturn a + g(3);\n}\n'
    a, f = parser.parse(text, "x.upc").ext
    assert (a.coord.file, a.coord.line, a.coord.column) == ("h.h", 1, 5)
    assert (f.coord.file, f.coord.line, f.coord.column) == ("x.upc", 41, 7)
    total = f.body.block_items[0].expr
    assert (total.right.coord.line, total.right.coord.column) == (43, 13)
    assert (total.right.args.exprs[0].coord.line, total.right.args.exprs[0].coord.column) == (
        43,
        15,
    )


@pytest.mark.parametrize(
    "text, line, column, message",
    [
        ("int x = 3\nint y;", 1, 10, "expected ';' before 'int'"),
        ("void f() {\n  upc_barrier 3\n}", 2, 16, "expected ';' before '}'"),
        ("void f() { upc_fence 3; }", 1, 22, "upc_fence takes no expression"),
        (
            "void f() { upc_forall (i = 0; i < 3; i++) ; }",
            1,
            41,
            "upc_forall needs four clauses: init; condition; increment; affinity",
        ),
        (
            "void f() { upc_forall (i = 0; i < 3) ; }",
            1,
            36,
            "upc_forall needs four clauses: init; condition; increment; affinity",
        ),
        (
            "void f() { upc_forall (;;;i;j) ; }",
            1,
            28,
            "upc_forall needs four clauses: init; condition; increment; affinity",
        ),
        (
            "void f() { upc_forall (;;;break) ; }",
            1,
            27,
            "expected an integer, a pointer to shared or 'continue' as the affinity before 'break'",
        ),
        (
            "void f() { for (;;;i) ; }",
            1,
            19,
            "for has three clauses: only upc_forall has an affinity",
        ),
        ("shared [3 int x;", 1, 10, "expected ']' before 'int'"),
        ("shared [3, 4] int x;", 1, 10, "a layout has one block size"),
        (
            "shared [2] [3] int x;",
            1,
            12,
            "a layout is one pair of brackets: the dimensions of an array follow its name",
        ),
        (
            "int shared = 3;",
            1,
            12,
            "expected a declarator before '=' ('shared' is a keyword of UPC)",
        ),
        ("int upc_wait;", 1, 5, "expected a declarator before 'upc_wait', a keyword of UPC"),
        ("foo x;", 1, 1, "unknown type name 'foo'"),
        ("void f() { static foo x; }", 1, 19, "unknown type name 'foo'"),
        ("int f(int a, foo b);", 1, 14, "unknown type name 'foo'"),
        ("shared [] foo *p;", 1, 11, "unknown type name 'foo'"),
        ("struct s { int n; }\nint f(void);", 1, 20, "expected ';' before 'int'"),
        ("typedef int T; T int x;", 1, 18, "two types in one declaration: the second is 'int'"),
        ("int struct s x;", 1, 5, "two types in one declaration: the second is 'struct'"),
        ("struct { int n; foo x; };", 1, 17, "unknown type name 'foo'"),
        ("void f() { x = (foo *) p; }", 1, 17, "unknown type name 'foo'"),
        ("void f() { x = (1 + 2; }", 1, 22, "expected ')' before ';'"),
        ("void f() { x = ; }", 1, 16, "expected an expression before ';'"),
        ("void f() { a.3; }", 1, 13, "expected ';' before '.3'"),
        ("void f() { p->; }", 1, 15, "expected the name of a member before ';'"),
        ("typedef int T; int x = T;", 1, 24, "expected an expression, 'T' is a type"),
        ("void f() { else ; }", 1, 12, "'else' without a previous 'if'"),
        ("void f() {\n  if (x) {\n}\n", 3, 2, "expected '}' before the end of the file"),
        ("}", 1, 1, "expected a declaration before '}'"),
        ('char *s = "abc;\n', 1, 11, 'missing terminating " character'),
        ("int x = 089;", 1, 9, "invalid number '089'"),
        ("int x @ 3;", 1, 7, "stray '@' in the program"),
        ("typedef int T; int T;", 1, 20, "'T' redeclared as a different kind of name"),
        ("int f(static int [3", 1, 20, "expected ']' before the end of the file"),
    ],
)
def test_messages_say_what_was_expected_and_where(text, line, column, message):
    found = error(text)
    assert found.message == message
    assert (found.coord.file, found.coord.line, found.coord.column) == ("x.upc", line, column)


def test_errors_of_several_declarations_are_found_at_once():
    text = (
        "typedef struct { int n } broken;\nbroken b;\nvoid f(void) {\n  x = ;\n  y = ;\n}\nint g(void) { return b.n; }\n"
        "void h(void) { upc_barrier }\nother o;\n"
    )
    with pytest.raises(UpcErrors) as caught:
        parser.parse(text, "x.upc")
    found = [(coord.line, message) for coord, _, message in caught.value.diagnostics]
    # Neither the second mistake of f nor that `broken` is unknown now.
    assert found == [
        (1, "expected ';' before '}'"),
        (4, "expected an expression before ';'"),
        (8, "expected ';' before '}'"),
        (9, "unknown type name 'other'"),
    ]


def test_a_missing_brace_is_one_error():
    assert (
        error("int f(void) { if (x) { return 1; }\nint g(void) { return 2; }\nint h;\n").coord.line
        == 3
    )


def test_deep_nesting_is_parsed_without_trying_every_reading_again():
    """A parser that goes back at each level would take 2 to the power of 60 steps."""
    depth = 60
    text = (
        "int f(int x) { return "
        + "(" * depth
        + "x"
        + ")" * depth
        + "; }\nint "
        + "(" * depth
        + "*y"
        + ")" * depth
        + ";\n"
    )
    text += (
        "int z = "
        + "(int)(" * depth
        + "1"
        + ")" * depth
        + ";\ntypedef int (*T)("
        + "int (*)(" * depth
        + "void"
        + ")" * depth
        + ");\n"
    )
    assert len(declarations(text)) == 4
