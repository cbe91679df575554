"""The preprocessor's output, taken apart: what the C output starts with, what is left for the parser, which lines it says it is."""

import subprocess

import pytest
from support import launch_upc  # noqa: F401  (makes the package importable)
from support.compilers import COMPILERS

pytest.importorskip("pycparser")

from nearcache.upcc import assemble, diagnostics  # noqa: E402
from nearcache.upcc.preprocess import PreprocessError, preprocess  # noqa: E402
from nearcache.upcc.translate import column_in_source  # noqa: E402

pytestmark = pytest.mark.skipif(not COMPILERS, reason="there is no gcc and no clang")


@pytest.fixture(params=COMPILERS)
def cc(request):
    return request.param


@pytest.fixture
def headers(tmp_path):
    """A folder of UPC headers that is not the real one."""
    folder = tmp_path / "headers" / "upc"
    folder.mkdir(parents=True)
    (folder / "upc.h").write_text(
        "#include <stddef.h>\n#define UPC_OURS 1\nint upc_of_ours(void);\n"
    )
    return folder


@pytest.fixture
def read(tmp_path, headers, cc):
    def read(text, *words, name="program.upc", threads=None, files=()):
        for other, content in dict(files).items():
            (tmp_path / other).write_text(content)
        path = tmp_path / name
        path.write_text(text)
        return preprocess(path, [cc, *words], threads, headers)

    return read


def test_system_headers_are_included_again_in_their_order(read):
    source = read("#include <string.h>\n#include <stdio.h>\nint main(void) { return 0; }\n")
    assert source.prologue == ["#include <string.h>", "#include <stdio.h>"]
    assert any(file.endswith("/stdio.h") for file in source.system_files)


def test_our_own_headers_are_not_and_what_they_include_is(read, headers):
    source = read("#include <upc.h>\n#include <stdio.h>\n")
    assert source.prologue == ["#include <stddef.h>", "#include <stdio.h>"]
    assert source.includes_upc and str(headers / "upc.h") in source.system_files


def test_definitions_before_a_system_header_stay_before_it_and_end_after_the_last(read):
    source = read(
        "#define _GNU_SOURCE\n#include <stdio.h>\n#define N 10\n#include <string.h>\n#define LATER 1\n"
    )
    assert source.prologue == [
        "#define _GNU_SOURCE",
        "#include <stdio.h>",
        "#define N 10",
        "#include <string.h>",
        "#undef _GNU_SOURCE",
        "#undef N",
    ]


def test_options_that_define_are_definitions_before_all_others(read):
    source = read("#include <stdio.h>\nint x = SIZE;\n", "-D_GNU_SOURCE", "-DSIZE=3")
    assert source.prologue[:3] == ["#define _GNU_SOURCE 1", "#define SIZE 3", "#include <stdio.h>"]
    assert "int x = 3;" in source.own_text()


def test_headers_of_the_user_are_part_of_the_text_and_their_system_headers_are_not(read):
    source = read(
        '#include "mine.h"\nint x = TWICE(4);\n',
        files={"mine.h": "#include <stdlib.h>\n#define TWICE(x) (2 * (x))\nint mine(void);\n"},
    )
    assert "#include <stdlib.h>" in source.prologue
    assert not any("mine.h" in line for line in source.prologue)
    assert "int mine(void);" in source.own_text() and "int x = (2 * (4));" in source.own_text()


def test_header_that_is_included_again_is_no_trouble(read):
    guarded = "#ifndef MINE\n#define MINE\n#include <stdio.h>\nint mine(void);\n#endif\n"
    source = read(
        '#include "mine.h"\n#include <stdio.h>\n#include "mine.h"\n', files={"mine.h": guarded}
    )
    assert [line for line in source.prologue if line.startswith("#include")] == [
        "#include <stdio.h>"
    ]


def test_header_named_by_a_macro_is_included_by_its_name(read):
    assert "#include <math.h>" in read("#define WHICH <math.h>\n#include WHICH\n").prologue


def test_header_of_the_command_line_is_included(read):
    source = read("int main(void) { return 0; }\n", "-include", "string.h")
    assert len(source.prologue) == 1 and source.prologue[0].endswith('/string.h"')


def test_text_has_no_directives_but_markers_and_pragmas(read):
    source = read("#include <stdio.h>\n#define A 1\n#undef A\n#pragma upc strict\nint x;\n")
    directives = [
        line
        for line in source.text.split("\n")
        if line.startswith("#") and not line.startswith("# ")
    ]
    assert "#pragma upc strict" in directives
    assert not [line for line in directives if not line.startswith("#pragma")]


def test_lines_keep_their_numbers(read, tmp_path):
    text = "#include <stdio.h>\n#define LONG 1 + \\\n  2\n/* a\n comment */\nint x = LONG;\n#undef LONG\n\n\nvoid *p = NULL;\nint after;\n"
    source = read(text)
    path = str(tmp_path / "program.upc")
    assert source.lines_of(path, 6) == ["int x = 1 + 2;"]
    assert (
        "".join(source.lines_of(path, 10)).replace(" ", "").replace("((void*)0)", "") == "void*p=;"
    )
    assert "int after;" in source.lines_of(path, 11)


def test_macro_of_a_system_header_does_not_make_a_users_file_a_system_file(read, tmp_path):
    source = read("#include <stdio.h>\nvoid *p = NULL;\nFILE *f(void) { return stdin; }\n")
    assert str(tmp_path / "program.upc") not in source.system_files
    assert "return" in source.own_text()


def test_upc_macros_are_there(read):
    names = "__UPC__ __UPC_VERSION__ UPC_MAX_BLOCK_SIZE __UPC_COLLECTIVE__ __UPC_TICK__ __UPC_ATOMIC__ __UPC_CASTABLE__ __UPC_NB__ __UPC_DYNAMIC_THREADS__"
    text = "".join(f"#ifndef {name}\n#error {name}\n#endif\n" for name in names.split())
    read(text + "#ifdef __UPC_STATIC_THREADS__\n#error\n#endif\nint x = THREADS;\n")


def test_a_fixed_number_of_threads_can_be_asked_for(read):
    text = "#if THREADS != 4 || !defined __UPC_STATIC_THREADS__ || defined __UPC_DYNAMIC_THREADS__\n#error\n#endif\nint x = THREADS;\n"
    assert "int x = 4;" in read(text, threads=4).own_text()


@pytest.mark.parametrize(
    "text, is_upc",
    [
        ("#include <upc.h>\n", True),
        ("int f(void) { return THREADS; }\n", True),
        ("extern shared int x;\n", True),
        ("extern shared [4] int *p;\n", True),
        ("void f(void) { upc_barrier; }\n", True),
        ("#ifdef __UPC__\n#include <upc.h>\n#endif\n", True),
        ("#include <stdio.h>\nint shared; int f(int *shared) { return shared [3] + 1; }\n", False),
        ("#define THREADS 4\nint x = THREADS;\n", False),
        ("int thread_of_upc; /* THREADS */\n", False),
    ],
)
def test_c_that_uses_upc_is_known_from_c_that_does_not(read, text, is_upc):
    assert read(text, name="program.c").uses_upc() is is_upc


def test_failure_of_the_preprocessor_carries_its_words(read):
    with pytest.raises(PreprocessError, match="no_such_header.h"):
        read("#include <no_such_header.h>\n")


def test_output_compiles_though_names_in_it_are_macros_again(read, tmp_path, cc):
    """glibc defines stdin and sa_handler, and a source may undefine a macro and use its name."""
    text = (
        "#include <stdio.h>\n#include <signal.h>\n#include <ctype.h>\n#undef SIGINT\n#define EOF EOF\n#undef EOF\nint SIGINT = 3, EOF = 4;\n"
        "int f(struct sigaction *action) { action->sa_handler = SIG_IGN; return fileno(stdin) + SIGINT + EOF; }\n"
    )
    (tmp_path / "include" / "nearcache").mkdir(parents=True)
    (tmp_path / "include" / "nearcache" / "upc_runtime.h").write_text(
        "#include <errno.h>\n#define NCUPC_GET(x) (x)\n"
    )
    words = [cc, "-I", str(tmp_path / "include")]
    source = read(text)
    output = assemble.assemble(
        "program.upc",
        source.prologue,
        source.own_text() + "int errno_of(int NCUPC) { return NCUPC_GET(NCUPC); }\n",
        words,
    )
    assert "#undef SIGINT" in output and "#undef EOF" in output and "#undef NCUPC_GET" not in output
    (tmp_path / "output.c").write_text(output)
    done = subprocess.run(
        [*words, "-Wall", "-Werror", "-c", "output.c"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


class Coord:
    def __init__(self, file, line, column):
        self.file, self.line, self.column = str(file), line, column


def test_columns_are_those_of_the_source(read, tmp_path):
    """The preprocessor moves what follows a macro, and joins blanks."""
    source = read(
        "#include <stddef.h>\n#define M (1 + 1)\nint  a = M,   wrong,   wrong2;\nvoid  *p = NULL,   *q;\n"
    )
    path = tmp_path / "program.upc"
    line = source.lines_of(str(path), 3)[0]
    assert column_in_source(Coord(path, 3, line.index("wrong") + 1), source) == 15
    last = source.lines_of(str(path), 4)[-1]
    assert column_in_source(Coord(path, 4, last.index("q") + 1), source) == 21


def test_message_shows_the_line_and_a_caret(tmp_path):
    path = tmp_path / "program.upc"
    path.write_text("int a;\n\tint b = ;\n")
    text = diagnostics.render(Coord(path, 2, 10), "error", "no expression")
    assert text == f"{path}:2:10: error: no expression\n    2 | \tint b = ;\n      | \t        ^"


def test_message_without_a_place_and_counts():
    assert str(diagnostics.UpcError(None, "wrong")) == "upcc: error: wrong"
    found = [(None, "error", "a"), (None, "warning", "b"), (None, "error", "c")]
    assert diagnostics.counts(found) == "2 errors and 1 warning generated."
    assert str(diagnostics.UpcErrors(found)).count("\n") == 2
