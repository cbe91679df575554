"""The printer of upcc: C that is parsed and printed again is the same program, free of warnings, with the source's lines."""

import re
import subprocess
from pathlib import Path

import pytest
from support import launch_upc  # noqa: F401  (makes the package importable)
from support.compilers import COMPILERS

pytest.importorskip("pycparser")

from nearcache.upcc import parser, printer  # noqa: E402

PROGRAMS = sorted((Path(__file__).parent / "printed").glob("*.c"))
# clang has no nested functions, warns of empty structures, knows other pragmas, and [[...]] only in C23.
GCC_ONLY = {"attributes", "gnu", "pragmas"}
CLANG_ONLY = ["-Wno-unknown-warning-option", "-Wno-deprecated-non-prototype"]


def run(words, **kwargs):
    return subprocess.run(
        [str(word) for word in words], text=True, capture_output=True, timeout=120, **kwargs
    )


def preprocessed(path, cc, *options):
    done = run([cc, "-E", *options, path])
    assert done.returncode == 0, done.stderr
    system = set(re.findall(r'^# \d+ "([^"]+)" 1 3', done.stdout, re.M))
    return done.stdout, system


def printed_again(path, cc, *options):
    """The program with its headers, their function bodies too, through the parser and the printer."""
    text, system = preprocessed(path, cc, *options)
    reader = parser.UpcParser(system, header_bodies=True)
    tree = reader.parse(text, str(path))
    assert reader.skipped == []
    return printer.print_file(tree)


def words(text):
    return re.sub(r"^#line.*$", "", text, flags=re.M).split()


def printed(text):
    """A short text, printed again, without #line, on one line."""
    lines = printer.print_file(parser.parse(text, "x.upc")).splitlines()
    return " ".join(line.strip() for line in lines if line.strip() and not line.startswith("#line"))


@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_printed_program_compiles_without_warnings_and_does_the_same(path, cc, tmp_path):
    if cc != "gcc" and path.stem in GCC_ONLY:
        pytest.skip("GCC's extensions")
    options = (
        ["-O2", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2"]
        if path.stem == "structures"
        else ["-D_GNU_SOURCE"]
    )
    (tmp_path / "printed.c").write_text(printed_again(path, cc, *options))
    outputs = []
    for source in (path, tmp_path / "printed.c"):
        # clang calls a header's functions unused where they do not come from a header, and from 15 on old style an error of C23.
        done = run(
            [
                cc,
                "-O1",
                "-Wall",
                "-Werror",
                "-Wno-unused-function",
                *CLANG_ONLY * (cc != "gcc"),
                source,
                "-o",
                tmp_path / "program",
            ]
        )
        assert done.returncode == 0, done.stderr
        outputs.append(run([tmp_path / "program"]))
    assert outputs[0].returncode == 0 and outputs[0].stdout
    assert outputs[1].stdout == outputs[0].stdout
    assert outputs[1].returncode == 0


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_printing_what_was_printed_changes_nothing(path):
    text = printed_again(path, COMPILERS[0], "-D_GNU_SOURCE")
    again = printer.print_file(parser.parse(text, "again.c"))
    assert words(again) == words(text)


@pytest.mark.parametrize(
    "text",
    [
        "shared [] int *p;",
        "shared [10] int a[10 * THREADS];",
        "shared [*] double b[100];",
        "shared int *shared [5] *q;",
        "static strict shared int flag;",
        "relaxed shared struct node *shared head;",
        "typedef shared [3] int block;",
        "int f(shared [] char *s, shared int *shared *p);",
        "int (*get(shared void *p))(int);",
    ],
)
def test_declarations_of_upc_print_as_they_were(text):
    assert printed(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "upc_forall (i = 0; i < 10; i++; &a[i]) a[i] = i;",
        "upc_forall (int i = 0; i < 10; ++i; i) { }",
        "upc_forall (;;; continue) { f(); }",
        "upc_forall (;;;) { f(); }",
        "upc_barrier;",
        "upc_barrier 3;",
        "upc_notify i + 1;",
        "upc_wait i + 1;",
        "upc_fence;",
        "x = upc_blocksizeof(a) + upc_elemsizeof(shared [3] int) + upc_localsizeof(*p);",
        "p = (shared [] int *) &a[3];",
    ],
)
def test_statements_of_upc_print_as_they_were(text):
    assert printed(f"int main() {{ {text} }}") == f"int main() {{ {text} }}"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("a && b || c", "(a && b) || c"),  # -Wparentheses
        ("a || (b && c)", "a || (b && c)"),
        ("((a + b)) * c", "(a + b) * c"),
        ("a + (b * c)", "a + b * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a << (b + c)", "a << (b + c)"),
        ("(a & b) == c", "(a & b) == c"),
        ("a & b == c", "a & (b == c)"),
        ("a < b == c", "(a < b) == c"),
        ("(!a) == b", "(!a) == b"),
        ("-(-a)", "-(-a)"),
        ("a - -b", "a - -b"),
        ("&*p", "&*p"),
        ("*p++", "*p++"),
        ("(*p)++", "(*p)++"),
        ("(a, b)[c]", "(a, b)[c]"),
        ("f((a, b), c)", "f((a, b), c)"),
        ("(int) a + b", "(int) a + b"),
        ("(int) (a + b)", "(int) (a + b)"),
        ("((struct s *) p)->x", "((struct s *) p)->x"),
        ("a ? b : c ? d : e", "a ? b : c ? d : e"),
        ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e"),
        ("a ? (b = c) : d", "a ? (b = c) : d"),
        ("a = b = c", "a = b = c"),
        ("(a = b) + c", "(a = b) + c"),
        ("a ?: b", "a ?: b"),
        ("sizeof a + b", "sizeof(a) + b"),
        ("({ int t = a; t + 1; }) * 2", "({ int t = a; t + 1; }) * 2"),
        ("(int[]){1, 2}[0]", "(int[]){1, 2}[0]"),
        ("__real__ a + b", "__real__ a + b"),
    ],
)
def test_an_expression_has_the_parentheses_that_c_and_wall_need_and_no_others(source, expected):
    tree = parser.parse(f"void f(void) {{ x = {source}; }}", "x.upc")
    assert printer.print_node(tree.ext[0].body.block_items[0].rvalue) == expected


def test_an_assignment_as_a_condition_keeps_its_own_parentheses():
    assert printed(
        "int f(int a, int b) { if ((a = b)) return 1; while ((a = b, b = a)) { } return a; }"
    ) == ("int f(int a, int b) { if ((a = b)) return 1; while (a = b, (b = a)) { } return a; }")


def test_an_else_stays_with_its_if():
    text = "int f(int a) { if (a) { if (a > 1) return 1; } else return 2; return 3; }"
    assert printed(text) == text


def test_each_statement_is_compiled_as_the_line_of_its_source(tmp_path):
    """Undeclared functions, one a statement: the compiler's warnings must name the lines they are on in the source."""
    source = (
        "int main(void)\n{\n    if (call_on_line_3())\n    {\n        call_on_line_5(1,\n            2);\n    }\n\n\n\n\n\n\n\n\n\n\n\n\n"
        "    else { call_on_line_20(); }\n    for (int i = 0; i < 3; i++)\n        switch (i) { case 1:\n            call_on_line_23(); }\n"
        '# 7 "other.h"\n    call_on_line_7();\n# 30 "lines.upc"\n    call_on_line_30(); call_on_line_30();\n'
        "    if (0)\n        return 0;\n\n    else if (call_on_line_34()) { }\n    do {\n    }\n    while (\n        call_on_line_38());\n    return 0;\n}\n"
    )
    (tmp_path / "printed.c").write_text(
        printer.print_file(parser.parse(f'# 1 "lines.upc"\n{source}', "lines.upc"))
    )
    done = run(
        [
            COMPILERS[0],
            "-std=gnu11",
            "-Wimplicit-function-declaration",
            "-c",
            "printed.c",
            "-o",
            "x.o",
        ],
        cwd=tmp_path,
    )
    places = re.findall(r"^([\w.]+):(\d+):\d+: \w+: .*call_on_line_(\d+)", done.stderr, re.M)
    assert {line for _, line, _ in places} == {"3", "5", "20", "23", "7", "30", "34", "38"}
    for file, line, wanted in places:
        assert line == wanted
        assert file == ("other.h" if wanted == "7" else "lines.upc")


def test_line_directives_stand_only_where_lines_do_not_follow():
    text = "int a;\nint b; int c;\n\n\nint f(void)\n{\n    return a +\n        b;\n}\nint d;\n"
    output = printer.print_file(parser.parse(text, "x.upc"))
    assert output.count("#line") == 1
    assert output.splitlines().index("int d;") == 10  # behind the #line: line 10 of the source


def test_a_literal_is_never_broken_and_a_runtime_macro_stays_on_its_line():
    words = "a long text, with commas, " * 12
    call = (
        "NCUPC_PUT(int, ncupc_add(p, i, sizeof(int), 3), "
        + " + ".join(["a_long_variable"] * 12)
        + ")"
    )
    output = printer.print_file(
        parser.parse(f'void f(void) {{ g("{words}", a, b, "{words}");\n {call}; }}', "x.upc")
    )
    assert output.count(f'"{words}"') == 2
    assert f"{call};" in output


def test_a_pragma_in_a_statement_expression_becomes_an_operator():
    text = 'int f(int a) { return ({\n#pragma GCC diagnostic ignored "-Wall"\n a; }); }'
    assert '({ _Pragma("GCC diagnostic ignored \\"-Wall\\"") a; })' in printer.print_file(
        parser.parse(text, "x.upc")
    )
