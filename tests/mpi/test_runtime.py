"""Progress, threads, other tools' wrappers, and Python programs."""

import re
import subprocess
from pathlib import Path

import pytest
from support import launch, runs


def test_launchers_start_jobs():
    """What the other tests leave out is named."""
    alone = [mpi.tag for mpi in launch.built_mpis() if not launch.starts_jobs(mpi)]
    assert len(alone) < len(launch.built_mpis())
    if alone:
        pytest.skip(
            f"{alone}: the launcher starts each rank as a job of its own (nearcache doctor)"
        )


def test_ranks_that_only_hit_let_a_third_one_finish(mpi, preload):
    # Timing out is the failure: hits that never call down would starve the third rank for ever.
    tcp = mpi.tag == "mpich-5.0.2" or mpi.family == "abi"
    runs.run(mpi, "cached", 3, "progress", tcp=tcp, timeout=120)


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_threads_share_windows(mpi, preload, layer):
    runs.run(mpi, layer, 2, "threads")


def counted(result, name):
    found = re.search(
        rf"count_mpi {name} gets (\d+) flushes (\d+) puts (\d+) frees (\d+)", result.output
    )
    assert found, result.output
    return [int(number) for number in found.groups()]


ONE_CASE = [
    "--only",
    "65_gets_before_one_flush_always",
]  # 260 gets by rank 0: 65 distinct words, four times


def test_wrapper_preloaded_above_sees_every_get(mpi, preload):
    above = [mpi.binary("libcount_mpi.so")]
    result = launch.run(mpi, 2, "known_failures", *ONE_CASE, above=above).check()
    assert counted(result, "here")[0] == 260


def test_wrapper_preloaded_below_sees_the_misses(mpi, preload):
    below = [mpi.binary("libcount_mpi.so")]
    result = launch.run(mpi, 2, "known_failures", *ONE_CASE, below=below).check()
    gets, flushes, _, frees = counted(result, "here")
    assert 1 <= gets <= 65, "misses reach the next object by its MPI_ name, hits do not"
    assert flushes >= 1 and 1 <= frees <= 2, (
        "the program's window is freed, and the hidden one of quiet phases where there is one"
    )


def has_mpi4py(python):
    return (
        python.exists()
        and subprocess.run([python, "-c", "import mpi4py, numpy"], capture_output=True).returncode
        == 0
    )


def test_mpi4py_program(mpi, preload):
    if mpi.family == "abi" or not has_mpi4py(mpi.python):
        pytest.skip(f"no mpi4py beside {mpi.wrapper}")
    program = Path(__file__).parent / "mpi4py_gets.py"
    uncached = launch.run(mpi, 2, mpi.python, program, preload=False)
    uncached.check("the host fails")
    # mpi4py of PyPI binds to the standard ABI where the MPI has it, and then needs that preload object.
    objects = [
        each for each in launch.mpis() if Path(each.wrapper).parent == Path(mpi.wrapper).parent
    ]
    objects.sort(key=lambda each: each.family != "abi")
    tried = [launch.run(each, 2, mpi.python, program) for each in objects if each.preload.exists()]
    assert any(each.code == 0 and each.lines("ok") for each in tried), "\n".join(
        each.output for each in tried
    )
