"""generate_entry_points.py refuses what it cannot cover, and expands its table as documented."""

import re
import subprocess
import sys

import pytest
from support import launch

FOLDER = launch.ROOT / "src" / "shmem"
sys.path.insert(0, str(FOLDER))
import entry_point_rows as rows  # noqa: E402

HEADER = """
#include <stddef.h>
typedef struct { int dummy; } * shmem_ctx_t;
#define SHMEM_CTX_DEFAULT the_default
extern shmem_ctx_t the_default;
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"), nonnull(1))) void shmem_ctx_long_get(shmem_ctx_t, long *dest,
                                                                          const long *source, size_t nelems, int pe);
extern long shmem_long_g(const long *, int pe);
int shmem_test_lock(volatile long lock[1]);
%s
#ifdef __cplusplus
}
#endif
"""


def generate(tmp_path, extra="", link=()):
    (tmp_path / "include").mkdir(exist_ok=True)
    (tmp_path / "include" / "shmem.h").write_text(HEADER % extra)
    return subprocess.run(
        [
            sys.executable,
            str(FOLDER / "generate_entry_points.py"),
            "--table",
            str(FOLDER / "entry_points.txt"),
            "--include",
            str(tmp_path / "include"),
            "--out",
            str(tmp_path / "out"),
            *[f"--link={word}" for word in link],
        ],
        capture_output=True,
        text=True,
    )


def test_wrappers_of_a_small_header(tmp_path):
    done = generate(tmp_path)
    assert done.returncode == 0, done.stderr
    source = (tmp_path / "out" / "entry_points.gen.cpp").read_text()
    assert (
        'extern "C" void shmem_ctx_long_get(shmem_ctx_t ctx, long* to, const long* from, size_t count, int pe) {'
        in source
    )
    assert "if (!active()) return next.ctx_long_get(ctx, to, from, count, pe);" in source
    assert "get(ctx, to, from, count * sizeof *to, pe);" in source
    assert "if (result == 0) around.succeeded();" in source
    assert (tmp_path / "out" / "symbols.txt").read_text().split() == [
        "shmem_ctx_long_get",
        "shmem_long_g",
        "shmem_test_lock",
    ]
    assert '"the_default"' in (tmp_path / "out" / "host.h").read_text()
    assert (
        "struct nearcache_shmem_ctx_t { int dummy; } * shmem_ctx_t"
        in (tmp_path / "out" / "shmem.h").read_text()
    )


@pytest.mark.parametrize("missing", [[], ["shmem_long_g"], ["shmem_long_g", "shmem_test_lock"]])
def test_twin_that_the_library_lacks_is_a_weak_reference(tmp_path, missing):
    source = tmp_path / "library.c"
    all_of_it = ["shmem_ctx_long_get", "shmem_long_g", "shmem_test_lock"]
    source.write_text(
        "".join(f"void p{name}() {{}}\n" for name in all_of_it if name not in missing)
    )
    library = tmp_path / "libtwins.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    done = generate(tmp_path, link=[f"-L{tmp_path}", "-ltwins"])
    assert done.returncode == 0 and not done.stderr
    fields = (tmp_path / "out" / "next_fields.inc").read_text()
    assert re.findall(r"(shmem_\w+), 1", fields) == missing
    assert re.findall(r"(shmem_\w+), 0", fields) == [n for n in all_of_it if n not in missing]


@pytest.mark.parametrize(
    "extra, message",
    [
        (
            "void shmem_double_get(double *dest, const double *source, int pe);",
            "shmem_double_get: a function of kind get",
        ),
        (
            "void shmem_int_get(void (*how)(int), int pe);",
            "cannot read the declarations of shmem_int_get",
        ),
    ],
)
def test_function_that_it_cannot_cover_ends_the_build(tmp_path, extra, message):
    done = generate(tmp_path, extra)
    assert done.returncode != 0 and message in done.stderr


@pytest.mark.parametrize("name", ["shmem_teleport", "shmemx_teleport"])
def test_function_that_no_row_names_is_told_and_passed_on_between_release_and_acquire(
    tmp_path, name
):
    done = generate(tmp_path, f"int {name}(void *object, int pe);")
    assert done.returncode == 0
    assert re.search(rf"^warning: .* no row .*: {name}$", done.stderr, re.M)
    source = (tmp_path / "out" / "entry_points.gen.cpp").read_text()
    field = name.replace("shmemx_", "x_").replace("shmem_", "")
    assert (
        f'extern "C" int {name}(void* argument1, int argument2) {{\n'
        f"  if (!active()) return next.{field}(argument1, argument2);\n"
        f'  calling = "{name}";\n'
        "  const Unknown around;\n"
        f"  return next.{field}(argument1, argument2);\n"
    ) in source
    assert name in (tmp_path / "out" / "symbols.txt").read_text().split()
    # a library need not have its pshmem_ twin
    assert (
        f"NEARCACHE_NEXT({field}, {name}, 1)" in (tmp_path / "out" / "next_fields.inc").read_text()
    )


@pytest.mark.parametrize(
    "declared",
    [
        "void shmem_teleport(void (*how)(int), int pe);",
        "void shmem_teleport(const char *how, ...);",
    ],
)
def test_function_that_cannot_be_wrapped_is_told_and_left_alone(tmp_path, declared):
    done = generate(tmp_path, declared)
    assert done.returncode == 0
    assert re.search(r"^warning: .* cannot be wrapped.*: shmem_teleport$", done.stderr, re.M)
    assert "teleport" not in (tmp_path / "out" / "entry_points.gen.cpp").read_text()


def test_functions_that_the_header_itself_has_are_none_of_the_library(tmp_path):
    done = generate(
        tmp_path,
        "static inline long shmem_own(long *a) { if (a) shmem_test_lock(a); return shmem_test_lock(a); }\n"
        "static inline void shmem_later(int pe);",
    )
    assert done.returncode == 0 and not done.stderr
    assert (tmp_path / "out" / "symbols.txt").read_text().split() == [
        "shmem_ctx_long_get",
        "shmem_long_g",
        "shmem_test_lock",
    ]


@pytest.mark.parametrize(
    "pattern, names",
    [
        ("a_[ctx_]b", ["a_b", "a_ctx_b"]),
        ("a_(x|y)_{t}", ["a_x_1", "a_x_2", "a_y_1", "a_y_2"]),
        ("[{t}_]wait", ["wait", "1_wait", "2_wait"]),
    ],
)
def test_patterns_stand_for_names(pattern, names):
    assert rows.expand(pattern, {"t": ["1", "2"]}) == names


def test_name_of_two_kinds_is_an_error(tmp_path):
    table = tmp_path / "table.txt"
    table.write_text("wait | shmem_a\nplain | shmem_a\n")
    with pytest.raises(SystemExit, match="shmem_a is wait already"):
        rows.read_table(table)
