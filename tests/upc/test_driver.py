"""upcc's command line, its steps and its messages. What the language means is tested in tests/upc/language."""

import os
import re
import subprocess
import sys

import pytest
from support import launch, launch_upc
from support.compilers import CLANG

pytestmark = launch_upc.needs_upc

HELLO = """\
#include <upc.h>
#include <stdio.h>
shared int squares[4 * THREADS];
int main(int argc, char **argv) {
  int i;
  upc_forall (i = 0; i < 4 * THREADS; i++; &squares[i]) squares[i] = i * i;
  upc_barrier;
  if (MYTHREAD == 0) printf("%d threads, %s, %d\\n", THREADS, argc > 1 ? argv[1] : "nothing", squares[3]);
  return 0;
}
"""
COUNTER = "#include <upc.h>\nshared int counter;\nint local = 2;\n"
USER = """\
#include <upc.h>
#include <stdio.h>
extern shared int counter;
extern int local;
int twice(int);
int main(void) {
  if (MYTHREAD == 0) counter = twice(local + 3);
  upc_barrier;
  if (MYTHREAD == THREADS - 1) printf("counter %d\\n", counter);
  return 0;
}
"""


@pytest.fixture
def upcc(tmp_path, monkeypatch):
    """Calls upcc in a folder of its own: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARCACHE_UPCC_DEBUG", raising=False)
    return launch_upc.call_upcc


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, text in files.items():
            (tmp_path / re.sub(r"_(upc|c|h|s)$", r".\1", name)).write_text(text)

    return write


def good(result):
    code, out, err = result
    assert code == 0, err
    return out


def output(program, threads, *args, **more):
    return launch_upc.run(program, threads, *args, **more).check().stdout


# --- one program, step by step -------------------------------------------------------------------------------------------------------------


def test_program_is_compiled_and_linked_and_runs(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("-O2", "-o", "hello", "hello.upc", "-lm"))
    assert output(tmp_path / "hello", 2, "word") == "2 threads, word, 9\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hello", "hello.upc"]


def test_output_without_a_name_is_a_out(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("hello.upc"))
    assert output(tmp_path / "a.out", 1) == "1 threads, nothing, 9\n"


def test_steps_one_by_one_give_the_same_program(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("-S", "hello.upc"))
    good(upcc("-c", "hello.s"))
    good(upcc("hello.o", "-o", "hello"))
    assert output(tmp_path / "hello", 2) == "2 threads, nothing, 9\n"


def test_fixed_number_of_threads_in_all_its_spellings(upcc, write, tmp_path):
    write(
        fixed_upc="#include <upc.h>\n#include <stdio.h>\nshared [] int a[THREADS];\n#if THREADS != 3\n#error\n#endif\n"
        'int main(void) { if (!MYTHREAD) printf("%d\\n", (int) (sizeof(a) / sizeof(int))); return 0; }\n'
    )
    for words in (
        ["-T=3"],
        ["-T3"],
        ["-T", "3"],
        ["-fupc-threads-3"],
        ["-fupc-threads=3"],
        ["--threads=3"],
        ["--threads", "3"],
    ):
        good(upcc(*words, "-fsyntax-only", "fixed.upc"))
    good(upcc("-T=3", "fixed.upc", "-o", "fixed"))
    assert output(tmp_path / "fixed", None) == "3\n"


def test_pointers_of_both_forms_run_the_same_source(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("--struct-pointers", "hello.upc", "-o", "hello"))
    assert output(tmp_path / "hello", 2) == "2 threads, nothing, 9\n"


def test_preprocessing_alone(upcc, write, tmp_path):
    write(text_upc="#include <upc.h>\nint version = __UPC_VERSION__ + M;\n")
    assert "int version = 201311L + 5;" in good(upcc("-E", "-DM=5", "text.upc"))
    good(upcc("-E", "-DM=5", "text.upc", "-o", "text.i"))
    assert "201311L" in (tmp_path / "text.i").read_text()
    assert "#define M 5" in good(upcc("-E", "-dD", "-DM=5", "text.upc"))


def test_option_of_preprocessing_alone_loses_no_function(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("-P", "-S", "hello.upc"))
    assert "ncupc_main:" in (tmp_path / "hello.s").read_text()


def test_dependencies_are_written_for_the_object(upcc, write, tmp_path):
    write(a_upc='#include "mine.h"\nint x = MINE;\n', mine_h="#define MINE 1\n")
    assert re.fullmatch(r"a\.o: a\.upc mine\.h\n", good(upcc("-MM", "a.upc")))
    good(upcc("-MMD", "-c", "a.upc"))
    assert (tmp_path / "a.d").read_text().startswith("a.o: a.upc mine.h")
    good(upcc("-MMD", "-MF", "other.d", "-MT", "target", "-c", "a.upc", "-o", "b.o"))
    assert (tmp_path / "other.d").read_text().startswith("target: a.upc mine.h")


def test_translation_alone_and_kept_translations(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    good(upcc("--translate", "hello.upc"))
    text = (tmp_path / "hello.c").read_text()
    assert "#include <stdio.h>" in text and "ncupc_main" in text and "_IO_FILE" not in text
    good(upcc("--save-temps", "-c", "hello.upc"))
    assert (tmp_path / "hello.c").read_text() == text and (tmp_path / "hello.o").exists()
    good(upcc("--translate", "hello.upc", "-o", "elsewhere.c"))
    assert (tmp_path / "elsewhere.c").read_text() == text


def test_translation_overwrites_no_file_of_the_user(upcc, write, tmp_path):
    write(hello_upc=HELLO, hello_c="int mine;\n")
    code, _, err = upcc("--translate", "hello.upc")
    assert code == 1 and "hello.c is there already" in err
    assert (tmp_path / "hello.c").read_text() == "int mine;\n"


def test_commands_are_shown_and_with_show_only_shown(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    _, _, err = upcc("-v", "-c", "hello.upc")
    assert " -c -x c " in err and (tmp_path / "hello.o").exists()
    (tmp_path / "hello.o").unlink()
    code, _, err = upcc("--show", "hello.upc", "-o", "hello")
    assert code == 0 and "libnearcache_upc.a" in err and not (tmp_path / "hello").exists()


def test_words_of_a_file_are_words_of_the_command(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    (tmp_path / "words").write_text('-c "hello.upc" -o from_file.o\n')
    good(upcc("@words"))
    assert (tmp_path / "from_file.o").exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_had_enough_is_no_error(unbuffered):
    env = {"PYTHONPATH": str(launch.ROOT / "python"), "PYTHONUNBUFFERED": unbuffered}
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as closed:
        words = [sys.executable, "-m", "nearcache.upcc", "--version"]
        done = subprocess.run(
            words, stdout=closed, stderr=subprocess.PIPE, env={**os.environ, **env}
        )
    assert (done.returncode, done.stderr) == (1, b"")


def test_help_names_every_option_of_upcc_and_version_names_upc(upcc):
    from nearcache.upcc import command

    text = good(upcc("--help"))
    assert text == command.HELP
    for option in (
        "-T=N",
        "--translate",
        "--save-temps",
        "--struct-pointers",
        "--cc",
        "--shmem",
        "--show",
        "-E",
        "-MMD",
    ):
        assert option in text
    assert "UPC 1.3" in good(upcc("--version")) and good(upcc("-v")) == good(upcc("--version"))


@pytest.mark.skipif(not CLANG, reason="there is no clang")
def test_other_compiler_by_option_and_by_environment(upcc, write, tmp_path, monkeypatch):
    write(hello_upc=HELLO)
    good(upcc(f"--cc={CLANG}", "-Wall", "-Werror", "hello.upc", "-o", "hello"))
    assert output(tmp_path / "hello", 2) == "2 threads, nothing, 9\n"
    monkeypatch.setenv("CC", f"{CLANG} -O1")
    assert f"{CLANG} -O1 " in upcc("-v", "-c", "hello.upc")[2]


# --- several files -------------------------------------------------------------------------------------------------------------------------


def test_upcc_is_no_c_compiler_for_itself(upcc, write, monkeypatch):
    monkeypatch.setenv("CC", "/usr/local/bin/upcc -T2")  # as under make CC=upcc
    write(hello_upc=HELLO)
    good(upcc("-c", "hello.upc"))
    assert "needs a C compiler" in upcc("--cc=upcc", "-c", "hello.upc")[2]


def test_upc_c_assembler_and_archives_in_one_program(upcc, write, tmp_path):
    write(
        user_upc=USER,
        counter_upc=COUNTER,
        plain_c="int half(int); int twice(int x) { return half(4 * x); }\n",
        half_c="int half(int x) { return x / 2; }\n",
    )
    good(upcc("-c", "counter.upc"))
    good(upcc("-c", "half.c"))
    subprocess.run(["ar", "rc", "libhalf.a", "half.o"], cwd=tmp_path, check=True)
    (tmp_path / "half.c").unlink()
    good(upcc("-S", "plain.c"))
    good(upcc("user.upc", "counter.o", "plain.s", "-L.", "-lhalf", "-o", "program"))
    assert output(tmp_path / "program", 2) == "counter 10\n"


def test_c_that_uses_upc_is_translated(upcc, write, tmp_path):
    write(user_c=USER, counter_c=COUNTER, twice_c="int twice(int x) { return 2 * x; }\n")
    good(upcc("user.c", "counter.c", "twice.c", "-o", "program"))
    assert output(tmp_path / "program", 2) == "counter 10\n"


def test_language_may_be_named(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    (tmp_path / "hello.upc").rename(tmp_path / "hello.text")
    good(upcc("-x", "upc", "hello.text", "-x", "none", "-o", "hello"))
    assert output(tmp_path / "hello", 1) == "1 threads, nothing, 9\n"
    (tmp_path / "twice.text").write_text("int twice(int x) { return 2 * x; }\n")
    good(upcc("-c", "-x", "c", "twice.text"))
    good(upcc("-c", "-o", "other.o", "-x", "c++", "twice.text"))
    for name, symbol in (("twice", " T twice\n"), ("other", " T _Z5twicei\n")):
        listed = subprocess.run(["nm", f"{name}.o"], capture_output=True, text=True).stdout
        assert symbol in listed
    code, _, err = upcc("-x", "fortran", "hello.text")
    assert code == 1 and "fortran" in err


def test_a_source_may_come_from_standard_input(upcc, write, tmp_path):
    write(hello_upc=HELLO)
    with open("hello.upc") as source:
        before = os.dup(0)
        os.dup2(source.fileno(), 0)  # which the preprocessor reads
        try:
            good(upcc("-c", "-o", "hello.o", "-x", "upc", "-"))
        finally:
            os.dup2(before, 0)
            os.close(before)
    assert (tmp_path / "hello.o").exists()


@pytest.mark.parametrize(
    "main",
    [
        "int main(void) { run(); }",
        "int main(int argc, char **argv) { (void) argv; run(); return argc - 1; }",
    ],
)
def test_main_in_plain_c_starts_on_every_thread(upcc, write, tmp_path, main):
    write(
        run_upc='#include <upc.h>\n#include <stdio.h>\nvoid run(void) { printf("thread %d\\n", MYTHREAD); }\n',
        main_c=f"void run(void);\n{main}\n",
    )
    good(upcc("run.upc", "main.c", "-o", "program"))
    assert sorted(output(tmp_path / "program", 2).splitlines()) == ["thread 0", "thread 1"]
    good(upcc("-c", "main.c"))
    good(upcc("run.upc", "main.o", "-o", "other"))
    assert sorted(output(tmp_path / "other", 2).splitlines()) == ["thread 0", "thread 1"]
    # the user's file is as it was
    assert (
        " T main"
        in subprocess.run(["nm", "main.o"], cwd=tmp_path, capture_output=True, text=True).stdout
    )


def test_main_in_plain_c_is_found_in_link_time_optimised_objects(upcc, write, tmp_path):
    write(
        run_upc='#include <stdio.h>\nvoid run(void) { printf("%d threads\\n", THREADS); }\n',
        main_c="void run(void);\nint main(void) { run(); }\n",
    )
    good(upcc("-flto", "-O2", "run.upc", "main.c", "-o", "program"))
    assert output(tmp_path / "program", 1) == "1 threads\n"


# --- the C compiler's options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [
        "-O0",
        "-O3",
        "-g",
        "-std=c99",
        "-std=gnu11",
        "-std=c11",
        "-ansi",
        "-pedantic",
        "-pthread",
        "-fno-strict-aliasing",
        "-fPIC",
    ],
)
def test_option_of_the_c_compiler_compiles_without_warnings(upcc, write, option):
    write(hello_upc=HELLO)
    code, _, err = upcc(option, "-Wall", "-Werror", "-c", "hello.upc", "-o", "hello.o")
    assert (code, err) == (0, "")


def test_definitions_and_folders_reach_the_source(upcc, write, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "there.h").write_text("#define THERE 2\n")
    write(
        a_upc="#include <upc.h>\n#include <there.h>\nshared int a[THREADS * N * THERE];\n#ifdef GONE\n#error\n#endif\n"
    )
    good(upcc("-c", "a.upc", "-DN=3", "-DGONE", "-UGONE", "-Ifolder"))
    good(upcc("-c", "a.upc", "-D", "N=3", "-I", "folder"))


def test_definition_that_is_a_name_of_the_runtimes_is_no_trouble(upcc, write):
    write(a_upc="#include <upc.h>\nshared int a[THREADS];\nint f(int i) { return a[i] + n + p; }\n")
    good(upcc("-c", "-Wall", "-Werror", "-Dn=3", "-Dp=4", "-Dsize=5", "-Dthread=6", "a.upc"))


def test_options_of_other_upc_compilers_are_ignored_with_a_note(upcc, write):
    write(a_upc="#include <upc.h>\nshared int a;\n")
    for option in (
        "-network=udp",
        "-pthreads=4",
        "-pthreads",
        "-opt",
        "-fupc-pthreads-model-tls",
        "-uses-mpi",
        "-network smp",
        "--network smp",
        "-nolines",
        "--opt",
        "-noopt",
        "--no-opt",
        "-heap-offset=3",
    ):
        code, _, err = upcc(*option.split(), "-c", "a.upc")
        assert code == 0 and option in err and len(err.splitlines()) == 1
    assert upcc("-Wc,-O1,-g", "-c", "a.upc") == (0, "", "")


def test_a_header_beside_the_source_is_found_between_angle_brackets(upcc, write, tmp_path):
    """As with Berkeley's upcc; what the compiler finds elsewhere stays what it was."""
    (tmp_path / "src").mkdir()
    write(
        **{
            "src/mine_h": "#define MINE 3\nint helper(void);\n",
            "src/string_h": "#error not this one\n",
            "src/a_upc": "#include <upc.h>\n#include <mine.h>\nshared int a[THREADS * MINE];\nint main(void) { return helper(); }\n",
            "src/b_c": "#include <mine.h>\nint helper(void) { return MINE - 3; }\n",
            "src/c_upc": "#include <upc.h>\n#include <string.h>\nint *p = NULL;\n",
        }
    )
    good(upcc("src/a.upc", "src/b.c", "-o", "program"))
    good(upcc("-c", "src/c.upc"))
    assert "shared int a[" in good(upcc("-E", "src/a.upc"))
    assert "mine.h" in good(upcc("-MM", "src/a.upc"))
    good(upcc("-MMD", "-c", "src/a.upc"))
    assert "mine.h" in (tmp_path / "a.d").read_text()
    write(**{"src/d_upc": "#include <upc.h>\n#include <mine.h>\n#include <nowhere.h>\n"})
    code, _, err = upcc("-c", "src/d.upc")
    assert code == 1 and "nowhere.h" in err and "mine.h" not in err


OLD = """\
#include <upc.h>
#include <stdio.h>
shared int a[2 * THREADS];
int main(void) {
  int i, fence_count = 0;
  forall (i = 0; i < 2 * THREADS; i++; &a[i]) a[i] = i;
  barrier;
  barrier_notify 3;
  barrier_wait 3;
  fence;
  barrier 4;
  if (MYTHREAD == 0) printf("%d %d\\n", a[2 * THREADS - 1], fence_count);
  return 0;
}
"""


def test_keywords_of_upc_1_0_by_an_option(upcc, write, tmp_path):
    write(old_upc=OLD)
    good(upcc("--upc-1.0", "-Wall", "-Werror", "old.upc", "-o", "old"))
    assert output(tmp_path / "old", 2) == "3 0\n"


@pytest.mark.parametrize(
    "statement, new",
    [
        ("forall (i = 0; i < 3; i++; i) ;", "upc_forall"),
        ("barrier;", "upc_barrier"),
        ("barrier 3;", "upc_barrier"),
        ("barrier_wait(3);", "upc_wait"),
        ("barrier_notify 3;", "upc_notify"),
        ("fence;", "upc_fence"),
    ],
)
def test_a_keyword_of_upc_1_0_is_named_where_it_is_not_understood(upcc, write, statement, new):
    write(old_upc=f"#include <upc.h>\nint f(int i) {{\n  {statement}\n  return i;\n}}\n")
    code, _, err = upcc("-c", "old.upc")
    assert code == 1 and re.search(
        rf"^old\.upc:3:\d+: error: .*UPC 1\.0's name of {new}: upcc --upc-1\.0 takes it", err, re.M
    ), err


def test_names_of_upc_1_0_are_free_without_the_option(upcc, write):
    write(
        a_upc="#include <upc.h>\nint fence(int barrier) { int forall = barrier; return forall; }\nint g(void) { return fence(2); }\n"
    )
    good(upcc("-Wall", "-Werror", "-c", "a.upc"))


def test_a_variable_of_a_header_is_one_in_all_files(upcc, write, tmp_path):
    """Tentative definitions, as compilers took them before GCC 10."""
    write(
        h_h="int number; double list[3];\n",
        a_upc='#include <upc.h>\n#include "h.h"\nint f(void);\nint main(void) { number = 2; return f(); }\n',
        b_upc='#include <upc.h>\n#include "h.h"\nint g(void);\nint f(void) { return number - 2 + g() + THREADS - THREADS; }\n',
        c_c='#include "h.h"\nint g(void) { return number - 2; }\n',
    )
    good(upcc("a.upc", "b.upc", "c.c", "-o", "program"))
    assert output(tmp_path / "program", 1) == ""
    code, _, err = upcc("-fno-common", "a.upc", "b.upc", "c.c", "-o", "other")
    assert code == 1 and "number" in err


def test_shared_objects_with_initialisers_are_defined_once(upcc, write):
    write(
        a_upc="#include <upc.h>\nshared int x = 1;\nint main(void) { return 0; }\n",
        b_upc="#include <upc.h>\nshared int x = 2;\n",
    )
    code, _, err = upcc("a.upc", "b.upc", "-o", "program")
    assert code == 1 and re.search(r"multiple definition of .x", err)


def test_options_of_berkeleys_upcc_that_mean_something(upcc, write, tmp_path, monkeypatch):
    write(hello_upc=HELLO)
    good(upcc("-trans", "hello.upc"))
    assert (tmp_path / "hello.c").exists()
    for words in (["-shared-heap=96MB"], ["-shared-heap", "96"], ["--shared-heap=96M"]):
        good(upcc(*words, "hello.upc", "-o", "hello"))
    from nearcache.upcc import upcrun

    with launch_upc.home():
        assert upcrun.plan(["./hello"], 2, environment={}).variables[
            "NEARCACHE_UPC_SHARED_HEAP"
        ] == str(96 << 20)
        assert upcrun.plan(["./hello"], 2, heap=1 << 20, environment={}).variables[
            "NEARCACHE_UPC_SHARED_HEAP"
        ] == str(1 << 20)
        assert (
            "NEARCACHE_UPC_SHARED_HEAP"
            not in upcrun.plan(
                ["./hello"], 2, environment={"NEARCACHE_UPC_SHARED_HEAP": "5M"}
            ).variables
        )
    linker = tmp_path / "linker"
    linker.write_text('#!/bin/sh\necho linked by it\nexec cc "$@"\n')
    linker.chmod(0o755)
    assert good(upcc(f"-link-with={linker}", "hello.upc", "-o", "hello")) == "linked by it\n"
    assert output(tmp_path / "hello", 1) == "1 threads, nothing, 9\n"


def test_feature_macro_of_the_source_counts(upcc, write):
    """strdup is not there in C99 without it; the name of the source's own function is that of a GNU function."""
    write(
        a_upc='#define _POSIX_C_SOURCE 200809L\n#include <upc.h>\n#include <string.h>\nchar *f(void) { return strdup(""); }\n',
        b_upc="#include <upc.h>\n#include <stdio.h>\nint getline(int x) { return x; }\n",
    )
    good(upcc("-std=c99", "-Wall", "-Werror", "-c", "a.upc"))
    good(upcc("-std=c99", "-Wall", "-Werror", "-c", "b.upc"))


# --- messages ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "no file"),
        (["-c", "missing.upc"], "missing.upc: there is no such file"),
        (["-T=0", "a.upc"], "-T needs a number of threads"),
        (["-T=many", "a.upc"], "'many'"),
        (["-T=1025", "a.upc"], "1,024 threads at most; --struct-pointers allows more"),
        (["-T=99999999", "--struct-pointers", "a.upc"], "16,777,216 threads at most"),
        (["-shared-heap=much", "a.upc"], "-shared-heap needs a size such as 512M"),
        (["-c", "-o", "x.o", "a.upc", "a.upc"], "several files"),
        (["a.upc", "-o"], "-o needs a value"),
        (["a.upc", "-o", ""], "-o needs a value, and not an empty one"),
        (["--shmem=sandia-9", "a.upc"], "sandia-9"),
        (["-o", "a.upc", "a.upc"], "overwrite"),
        (["--cc=no-such-compiler", "-c", "a.upc"], "no-such-compiler"),
        (["-T=" + 5000 * "9", "a.upc"], "-T needs a number of threads"),
        (["-shared-heap=" + 5000 * "9", "a.upc"], "-shared-heap needs a size such as 512M"),
        (["--cc='gcc", "-c", "a.upc"], "--cc: no closing quotation"),
        (["-link-with='gcc", "a.upc"], "-link-with: no closing quotation"),
        (["@quoted"], "@quoted: no closing quotation"),
        (["@circle"], "@circle: it names itself"),
        (["--translate", "-o", "nosuch/a.c", "a.upc"], "nosuch/a.c: No such file"),
    ],
)
def test_wrong_use_is_told(upcc, write, words, told):
    write(a_upc="int a;\n", quoted="-DA='1\n", circle="-c @circle a.upc\n")
    code, _, err = upcc(*words)
    assert code == 1 and re.search(r"^upcc: error: ", err) and told in err


def test_error_has_file_line_column_source_and_caret(upcc, write):
    write(
        wrong_upc="#include <upc.h>\n#define NOTHING\nint f(void) {\n  NOTHING int  x = ;\n  return x;\n}\n"
    )
    code, _, err = upcc("-c", "wrong.upc")
    lines = err.splitlines()
    assert code == 1 and re.match(r"wrong\.upc:4:20: error: ", lines[0])
    assert lines[1] == "    4 |   NOTHING int  x = ;" and lines[2] == "      |                    ^"
    assert lines[-1] == "1 error generated."


def test_every_error_of_a_file_and_every_wrong_file_is_told(upcc, write, tmp_path):
    write(
        a_upc="#include <upc.h>\nvoid f(void) {\n  shared int x;\n  undeclared = 1;\n}\n",
        b_upc="#include <upc.h>\nint g(void) { return 1 +; }\n",
        c_upc="int good;\n",
    )
    code, _, err = upcc("-c", "a.upc", "b.upc", "c.upc")
    assert code == 1
    for place in ("a.upc:3:", "a.upc:4:", "b.upc:2:"):
        assert place in err
    assert (
        "2 errors generated." in err
        and (tmp_path / "c.o").exists()
        and not (tmp_path / "a.o").exists()
    )


def test_error_in_a_header_names_the_header(upcc, write):
    write(a_upc='#include "h.h"\nint x;\n', h_h="int ok;\nint broken = ;\n")
    assert "h.h:2:14: error:" in upcc("-c", "a.upc")[2]


def test_messages_of_the_preprocessor_are_shown(upcc, write):
    write(a_upc="#include <upc.h>\n#include <missing.h>\n", b_upc="#warning careful\nint x;\n")
    code, _, err = upcc("-c", "a.upc")
    assert code == 1 and "a.upc:2:" in err and "missing.h" in err
    code, _, err = upcc("-c", "b.upc")
    assert code == 0 and err.count("careful") >= 1 and "b.upc:1:" in err


def test_messages_of_the_c_compiler_name_lines_of_the_upc_source(upcc, write):
    write(
        a_upc="#include <upc.h>\nshared int s;\nint f(int unused_one) {\n  int never;\n  s = 3;\n  return 0;\n}\n"
    )
    code, _, err = upcc("-Wall", "-c", "a.upc")
    assert code == 0 and re.search(r"^a\.upc:4: warning: unused variable .never", err, re.M)


def test_warnings_of_the_translator_obey_the_compilers_options(upcc, write):
    write(
        a_upc="#include <upc.h>\nshared int *p;\nshared float *q;\nint same(void) { return p == q; }\n"
    )
    code, _, err = upcc("-c", "a.upc")
    assert code == 0 and re.match(r"a\.upc:4:25: warning: ", err)
    assert upcc("-w", "-c", "a.upc") == (0, "", "")
    code, _, err = upcc("-Werror", "-c", "a.upc")
    assert code == 1 and re.match(r"a\.upc:4:25: error: .*\[-Werror\]", err)


@pytest.mark.parametrize(
    "main",
    [
        "int main() { return 0; }",
        "int main(void) { return 0; }",
        "int main(int n, char **words) { return n && !words; }",
    ],
)
def test_main_of_any_form_is_without_extra_warnings(upcc, write, main):
    write(a_upc=f"#include <upc.h>\n{main}\n")
    assert upcc("-Wall", "-Wextra", "-Werror", "-c", "a.upc") == (0, "", "")


def test_a_case_that_falls_through_under_a_comment_is_no_warning(upcc, write):
    write(
        a_upc="#include <upc.h>\nint f(int n) {\n  switch (n) {\n  case 1:\n    n++; /* fall through */\n  case 2:\n    n--;\n  }\n  return n;\n}\n"
    )
    assert upcc("-Wall", "-Wextra", "-Werror", "-c", "a.upc") == (0, "", "")


def test_messages_name_no_files_and_functions_of_ours(upcc, write):
    write(a_upc="shared struct { int a; } s;\nvoid f(void) { if (s) f(); }\n")
    code, _, err = upcc("-c", "a.upc")
    assert code == 1 and err.startswith("a.upc: In function"), err
    write(
        a_upc="#include <upc.h>\nint missing(void);\nint main(void) {\n  int never;\n  return missing();\n}\n"
    )
    _, _, err = upcc("-Wall", "a.upc", "-o", "a")
    assert "/upcc-" not in err and "ncupc_main" not in err and "In function" in err and "a.o" in err


def test_undefined_name_fails_to_link(upcc, write, tmp_path):
    write(a_upc="#include <upc.h>\nint missing(void);\nint main(void) { return missing(); }\n")
    code, _, err = upcc("a.upc", "-o", "a")
    assert code == 1 and "missing" in err and not (tmp_path / "a").exists()


def test_mistake_of_the_translator_is_one_line_with_the_place(upcc, write, monkeypatch):
    from nearcache.upcc import lower

    write(a_upc="int a;\nint b;\n")

    def break_down(tree, *_, **__):
        node = tree.ext[-1]
        raise KeyError(node.name)

    monkeypatch.setattr(lower, "lower", break_down)
    code, _, err = upcc("-c", "a.upc")
    assert code == 1 and len(err.splitlines()) == 1
    assert re.match(r"a\.upc:2:\d+: error: internal error of upcc: KeyError: 'b'", err)


def test_debug_switch_shows_where_a_mistake_is(upcc, write, monkeypatch):
    from nearcache.upcc import lower

    write(a_upc="int a;\n")
    monkeypatch.setattr(lower, "lower", lambda *_, **__: {}["nothing"])
    monkeypatch.setenv("NEARCACHE_UPCC_DEBUG", "1")
    with pytest.raises(KeyError):
        upcc("-c", "a.upc")


def test_long_expressions_are_translated(upcc, write):
    write(a_upc="int f(int x) { return " + " + ".join(["x"] * 1500) + "; }\n")
    good(upcc("-c", "a.upc"))


@pytest.mark.parametrize(
    "opening, closing, depth", [("(", ")", 3000), ("1 + (", ")", 3000), ("a[", "]", 1000)]
)
def test_deep_nesting_is_translated(upcc, write, opening, closing, depth):
    write(
        a_upc=f"#include <upc.h>\nshared int a[THREADS];\nint f(int x) {{ return {opening * depth}x{closing * depth}; }}\n"
    )
    good(upcc("--translate", "a.upc"))


def test_nesting_beyond_all_bounds_is_told_in_a_line(upcc, write, monkeypatch):
    from nearcache.upcc import translate

    monkeypatch.setattr(translate, "DEEP", 2000)
    write(a_upc=f"#include <upc.h>\nint f(int x) {{ return {'(' * 3000}x{')' * 3000}; }}\n")
    code, _, err = upcc("--translate", "a.upc")
    assert code == 1 and err.splitlines()[0] == "upcc: error: a.upc is nested too deeply for upcc"


def test_missing_or_old_pycparser_is_told(upcc, write, monkeypatch):
    import pycparser
    from nearcache.upcc import driver

    write(a_upc="int a;\n")
    monkeypatch.setattr(pycparser, "__version__", "2.21")
    code, _, err = upcc("-c", "a.upc")
    assert code == 1 and "this is 2.21" in err
    monkeypatch.setattr(driver.importlib.util, "find_spec", lambda name: None)
    code, _, err = upcc("-c", "a.upc")
    assert code == 1 and "pip install 'pycparser>=3.12'" in err


def test_console_script_is_upcc():
    """As an installed user starts it: one process, exit code of its own."""
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "from nearcache.upcc.driver import entry; entry()", "--version"],
        capture_output=True,
        text=True,
        cwd=launch.ROOT / "python",
    )
    assert done.returncode == 0 and "upcc" in done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_not_missed(tmp_path, closed):
    """As under a daemon that has closed them."""
    (tmp_path / "a.upc").write_text("int a;\n")
    script = "from nearcache.upcc.driver import entry; entry()"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" -c a.upc {closed}', sys.executable, script],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(launch.ROOT / "python"),
            "NEARCACHE_HOME": str(launch.BUILD),
        },
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.o").exists()
