"""Instructions of the calls that programs make most: counts, which are the same in every run. Each
limit is a goal of the bench, or what a register saved for a rare way would exceed."""

import platform
import shutil
import sys

import pytest
from support import launch

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import instructions, report, rma  # noqa: E402
from driver.build import Build  # noqa: E402
from driver.launch import Launch  # noqa: E402

pytestmark = [
    pytest.mark.one_mpi,
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the limits are those of x86-64"),
]
HIT = 330  # of 8 bytes, with its flush
COMPILER = 'CMAKE_CXX_COMPILER_VERSION "12.'  # by which that was compiled


def bench(mpi, program):
    if mpi.family != "mpich":
        pytest.skip("the benchmarks use MPICH")
    if not mpi.binary(program).exists():
        pytest.skip(f"{program} is not built")
    return Launch(Build(launch.BUILD, mpi.tag), timeout=300)


def test_a_put_and_a_flush_of_the_engine_reach_their_goals(mpi, preload):
    counts = rma.instructions(bench(mpi, "bench_rma"))
    goals = {name: report.GOALS[f"instructions_{name}"][1] for name in counts}
    assert set(counts) == {"put", "flush"}
    assert all(10 < counts[name] <= goals[name] for name in counts), (counts, goals)


def test_a_hit_saves_no_registers_for_other_ways(mpi, preload, tmp_path):
    found = launch.BUILD.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")
    if not any(COMPILER in path.read_text() for path in found):
        pytest.skip("the limit is that of GCC 12")
    count = instructions.count(bench(mpi, "bench_hit"), "bench_hit_block", 8, tmp_path)
    assert 100 < count <= HIT
