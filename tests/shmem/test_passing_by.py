"""A program is cached only where all that it does with OpenSHMEM passes by Nearcache: on the library that records, stub15."""

import os
import subprocess
from pathlib import Path

import pytest
from support import launch

HERE = Path(__file__).resolve().parent
FOLDER = launch.BUILD / "stub15"
HEADERS = launch.BUILD / "tests" / "shmem" / "stub15" / "generated"

# What the recording library lacks: names of its profiling interface, of Fortran, and of its own.
MORE = "void pshmem_init(void) {}\nvoid pshmem_barrier_all(void) {}\nvoid shmem_barrier_all_(void) {}\nvoid shmemx_barrier_some(void) {}\n"
# A tool as many are: it wraps one call, and goes on by the profiling interface.
TOOL = "void pshmem_barrier_all(void);\nvoid shmem_barrier_all(void) { pshmem_barrier_all(); }\n"
SOLVER = "void CALL(void);\nvoid solver_barrier(void) { CALL(); }\n"


def compiled(output, *words, source=None):
    command = ["cc", *map(str, words), "-o", str(output), *(["-x", "c", "-"] if source else [])]
    subprocess.run(command, input=source, text=True, check=True, timeout=60)
    return output


def shared(output, source, *words):
    return compiled(output, "-shared", "-fPIC", *words, source=source)


@pytest.fixture(scope="module")
def more(tmp_path_factory):
    if not (FOLDER / "libstub15.so").exists() or not (FOLDER / "libnearcache_shmem.so").exists():
        pytest.skip("the OpenSHMEM 1.5 stub is not built")
    return shared(tmp_path_factory.mktemp("more") / "libmore.so", MORE)


def outcome(folder, more, *words, above=(), below=(), env=None):
    """cached or left alone, and what was said. below: libraries that the program is linked with, before the OpenSHMEM library."""
    libraries = [*below, more, FOLDER / "libstub15.so"]
    program = compiled(
        folder / "program",
        HERE / "passes_by.c",
        f"-I{HEADERS}",
        f"-I{launch.ROOT / 'include'}",
        *words,
        "-Wl,--no-as-needed",
        *libraries,
        *[f"-Wl,-rpath,{library.parent}" for library in libraries],
    )
    preload = " ".join(map(str, [*above, FOLDER / "libnearcache_shmem.so"]))
    result = launch.execute(
        [str(program)], 60, {**os.environ, "LD_PRELOAD": preload, **(env or {})}
    ).check()
    return "cached" if "cached" in result.output.splitlines() else "left alone", result.output


def test_a_program_of_its_own_is_cached(more, tmp_path):
    word, output = outcome(tmp_path, more)
    assert word == "cached" and "nothing is cached" not in output


@pytest.mark.parametrize(
    "words, said",
    [
        (["-DCALLS_PSHMEM"], "the program calls pshmem_barrier_all, which Nearcache does not see"),
        (["-DCALLS_FORTRAN"], "the program calls OpenSHMEM from Fortran (shmem_barrier_all_)"),
        (
            ["-DCALLS_UNKNOWN"],
            "the program calls shmemx_barrier_some, which Nearcache does not know",
        ),
    ],
)
def test_calls_that_pass_by_are_found(more, tmp_path, words, said):
    word, output = outcome(tmp_path, more, *words)
    assert word == "left alone" and f"nothing is cached: {said}" in output


def test_a_tool_in_front_that_wraps_some_calls_is_found(more, tmp_path):
    tool = shared(tmp_path / "libtool.so", TOOL)
    word, output = outcome(tmp_path, more, above=[tool])
    assert (
        word == "left alone"
        and "libtool.so calls pshmem_barrier_all" in output
        and "preload Nearcache before it" in output
    )


def test_a_tool_behind_is_fine(more, tmp_path):
    tool = shared(tmp_path / "libtool.so", TOOL)
    assert outcome(tmp_path, more, below=[tool])[0] == "cached"


STARTER = "void pshmem_init(void);\nvoid shmem_init(void) { pshmem_init(); }\n"


def test_a_tool_in_front_that_starts_the_library_past_us_is_told(more, tmp_path):
    """Nearcache is never started then, and nobody would say why nothing is cached."""
    tool = shared(tmp_path / "libtool.so", STARTER)
    word, output = outcome(tmp_path, more, above=[tool])
    assert (
        word == "left alone"
        and output.count(
            "nothing is cached: libtool.so calls pshmem_init, so that Nearcache is not started"
        )
        == 1
    )
    word, output = outcome(tmp_path, more, above=[tool], env={"PMI_RANK": "1"})
    assert word == "left alone" and "nothing is cached" not in output
    word, output = outcome(tmp_path, more, above=[tool], env={"NEARCACHE_SHMEM": "off"})
    assert word == "left alone" and "nothing is cached" not in output


def test_a_program_that_starts_the_library_past_us_is_told(more, tmp_path):
    word, output = outcome(tmp_path, more, "-Dshmem_init=pshmem_init")
    assert word == "left alone" and "nothing is cached: the program calls pshmem_init" in output


def test_a_tool_that_wraps_another_start_is_no_obstacle(more, tmp_path):
    tool = shared(tmp_path / "libtool.so", STARTER.replace("shmem_init", "shmem_init_thread"))
    word, output = outcome(tmp_path, more, above=[tool])
    assert word == "cached" and "nothing is cached" not in output


def test_a_tool_behind_that_wraps_the_start_is_fine(more, tmp_path):
    tool = shared(tmp_path / "libtool.so", STARTER)
    word, output = outcome(tmp_path, more, below=[tool])
    assert word == "cached" and "nothing is cached" not in output


@pytest.mark.parametrize(
    "call, expected", [("shmem_barrier_all", "cached"), ("pshmem_barrier_all", "left alone")]
)
def test_libraries_of_the_program_are_looked_at(more, tmp_path, call, expected):
    solver = shared(tmp_path / "libsolver.so", SOLVER, f"-DCALL={call}")
    word, output = outcome(tmp_path, more, "-DCALLS_LIBRARY", below=[solver])
    assert word == expected and (
        expected == "cached" or "libsolver.so calls pshmem_barrier_all" in output
    )


def test_nothing_is_said_where_the_cache_is_off(more, tmp_path):
    word, output = outcome(tmp_path, more, "-DCALLS_PSHMEM", env={"NEARCACHE_SHMEM": "off"})
    assert word == "left alone" and "nothing is cached" not in output
