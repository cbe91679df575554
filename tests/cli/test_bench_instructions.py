"""Instructions of the calls that programs make most: counts, which are the same in every run. Each
limit is a goal of the bench, or what a register saved for a rare way would exceed."""

import platform
import shutil
import sys

import pytest
from support import launch
from support.programs import compiled

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import instructions, report, rma  # noqa: E402
from driver.build import Build  # noqa: E402
from driver.launch import Launch  # noqa: E402

pytestmark = [
    pytest.mark.one_mpi,
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the limits are those of x86-64"),
]
# Of an acquire that drops one entry where there once were many, with the long epoch's share. Until
# the ranks have agreed that the phase is quiet, flushes of that epoch are acquires, too: 1,000 to
# 2,500, by how long that takes; 145,000 if the room is cleared.
DROPS_ONE = 6000
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


SHORT_AFTER_LONG = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  int rank;
  double *memory, word;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(8 << 20, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int epoch = 0, at = 0; rank == 0 && epoch <= EPOCHS; ++epoch) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    for (int gets = epoch == 0 ? 2 * MANY : 2; gets > 0; --gets, ++at) {
      MPI_Get(&word, 1, MPI_DOUBLE, 1, 64 * (at / 2), 1, MPI_DOUBLE, win);
      MPI_Win_flush(1, win);
    }
    MPI_Win_unlock(1, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  return MPI_Finalize();
}
"""


def test_short_epochs_do_not_pay_for_the_room_of_a_long_one(mpi, preload, tmp_path):
    epochs, many = 2000, 10000
    program = compiled(
        tmp_path,
        "short_after_long",
        SHORT_AFTER_LONG,
        mpi.wrapper,
        f"-DEPOCHS={epochs}",
        f"-DMANY={many}",
    )
    valgrind, *words = instructions.counting("nearcache::GetCache::purge()", tmp_path / "purge")
    # Sizes that are given do not depend on how long gets take.
    env = {
        "NEARCACHE_MODE": "transparent",
        "NEARCACHE_SKIP_CHEAP": "false",
        "NEARCACHE_ADAPTIVE": "false",
        "NEARCACHE_INDEX": "20000",
        "NEARCACHE_STORAGE": "4M",
    }
    launch.run(mpi, 2, shutil.which(valgrind), *words, program, env=env, timeout=300).check()
    # The first of them drops what the long epoch has left.
    assert (
        20 * epochs < instructions.counted(tmp_path / "purge") <= DROPS_ONE * (epochs + many / 10)
    )
