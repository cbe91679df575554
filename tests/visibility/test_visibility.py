"""A window is cached only where all that is done to it passes by Nearcache."""

import subprocess
from pathlib import Path

import pytest
from support import launch

HERE = Path(__file__).resolve().parent


def build(mpi, output, *words):
    # The preload object leaves MPI to the program; so do these helpers, which the program is linked with.
    subprocess.run([mpi.wrapper, *map(str, words), "-o", str(output)], check=True, timeout=120)
    return output


def shared(mpi, source, output):
    return build(mpi, output, "-shared", "-fPIC", HERE / source)


def program(mpi, folder, *words):
    return build(mpi, folder / "windows", HERE / "windows.c", *words)


def outcome(mpi, binary, **more):
    output = launch.run(mpi, 2, binary, env={"NEARCACHE_VERBOSE": "2"}, **more).check().output
    for word in ("cached", "left alone"):
        if f"window {word}" in output:
            return word, output
    raise AssertionError(f"nearcache is not loaded: {output}")


def test_a_program_of_its_own_is_cached(mpi, preload, tmp_path):
    assert outcome(mpi, program(mpi, tmp_path))[0] == "cached"


def test_a_window_of_a_library_is_cached(mpi, preload, tmp_path):
    library = shared(mpi, "make_window.c", tmp_path / "libsolver.so")
    assert outcome(mpi, program(mpi, tmp_path, "-DMADE_ELSEWHERE", library))[0] == "cached"


def test_a_window_of_a_part_of_mpi_is_left_alone(mpi, preload, tmp_path):
    library = shared(mpi, "make_window.c", tmp_path / "mca_io_test.so")
    word, output = outcome(mpi, program(mpi, tmp_path, "-DMADE_ELSEWHERE", library))
    assert word == "left alone" and "belongs to the MPI library (mca_io_test.so)" in output


def test_an_unknown_fortran_binding_is_not_trusted(mpi, preload, tmp_path):
    library = shared(mpi, "unknown_binding.c", tmp_path / "libbinding.so")
    word, output = outcome(mpi, program(mpi, tmp_path, "-Wl,--no-as-needed", library))
    assert word == "left alone" and "the Fortran binding libbinding.so has mpi_win_fence" in output


def test_a_program_that_synchronises_by_pmpi_is_not_cached(mpi, preload, tmp_path):
    word, output = outcome(mpi, program(mpi, tmp_path, "-DCALLS_PMPI"))
    assert word == "left alone" and "the program calls PMPI_Win_flush_all" in output


@pytest.mark.few_mpis
@pytest.mark.parametrize("word, made", [("CALLS_PMPI", False), ("SENDS_PMPI", True)])
def test_the_engine_makes_no_windows_of_which_calls_escape(mpi, preload, tmp_path, word, made):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_VERBOSE": "2"}
    result = launch.run(mpi, 2, program(mpi, tmp_path, f"-D{word}"), env=env).check()
    assert ("a window uses the RMA engine" in result.output) == made
    assert ("engine: the program calls PMPI_Win_flush_all" in result.output) == (not made)


@pytest.mark.few_mpis
def test_what_a_program_imports_is_seen_if_it_exports_nothing(mpi, preload, tmp_path):
    """GNU's linker then leaves its symbols out of the hash table, by which they are counted."""
    binary = program(mpi, tmp_path, "-DCALLS_PMPI", "-no-pie", "-fno-pie", "-Wl,--hash-style=gnu")
    result = launch.run(mpi, 2, binary, env={"NEARCACHE_VERBOSE": "2"}).check()
    assert "the program calls PMPI_Win_flush_all" in result.output


@pytest.mark.few_mpis
@pytest.mark.parametrize("is_profiler", [False, True])
def test_a_library_that_synchronises_by_pmpi_is_seen_but_a_profiler_may(
    mpi, preload, tmp_path, is_profiler
):
    library = build(
        mpi,
        tmp_path / "libhidden.so",
        *("-shared", "-fPIC", HERE / "flush.c"),
        *(["-DWRAPS"] if is_profiler else []),
    )
    word, output = outcome(mpi, program(mpi, tmp_path, "-DFLUSHED_ELSEWHERE", library))
    assert word == ("cached" if is_profiler else "left alone")
    assert ("libhidden.so calls PMPI_Win_flush_all" in output) == (not is_profiler)


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "name",
    ["pmpi_barrier_", "pmpi_barrier__", "PMPI_BARRIER", "pmpi_barrier_f08_", "pmpir_barrier_f08_"],
)
def test_fortran_calls_of_pmpi_are_not_trusted(mpi, preload, tmp_path, name):
    # No binding is needed to see that: the name is imported as a weak one.
    word, output = outcome(mpi, program(mpi, tmp_path, f"-DFORTRAN={name}"))
    assert word == "left alone" and f"the program calls {name}" in output


@pytest.mark.parametrize(
    "name, expected", [("pmpi_barrier_", "cached"), ("pmpir_barrier_f08_", "left alone")]
)
def test_what_fortran_calls_of_pmpi_end_in_is_looked_up(mpi, preload, tmp_path, name, expected):
    """MPICH's binding calls MPI_Barrier for mpif.h, and PMPI_Barrier for mpi_f08."""
    found = subprocess.run(
        [mpi.wrapper, "-print-file-name=libmpichfort.so"], capture_output=True, text=True
    ).stdout.strip()
    if mpi.family != "mpich" or not Path(found).is_absolute():
        pytest.skip("not MPICH with a Fortran binding")
    words = (f"-DFORTRAN={name}", "-Wl,--no-as-needed", "-lmpichfort")
    assert outcome(mpi, program(mpi, tmp_path, *words))[0] == expected


def test_what_is_only_passed_on_need_not_be_seen(mpi, preload, tmp_path):
    assert outcome(mpi, program(mpi, tmp_path, "-DASKS_PMPI"))[0] == "cached"


def test_what_only_tells_others_need_not_be_seen(mpi, preload, tmp_path):
    assert outcome(mpi, program(mpi, tmp_path, "-DSENDS_PMPI"))[0] == "cached"


@pytest.mark.parametrize("place, expected", [("above", "left alone"), ("below", "cached")])
def test_a_profiler_in_front_hides_calls_and_one_behind_does_not(
    mpi, preload, tmp_path, place, expected
):
    tool = shared(mpi, "profiler.c", tmp_path / "libprofiler.so")
    word, output = outcome(mpi, program(mpi, tmp_path), **{place: [tool]})
    assert word == expected
    assert ("preload Nearcache before it" in output) == (place == "above")
