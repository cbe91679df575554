"""The program's heap is as it is without Nearcache: heap.c."""

import os
import re
import resource
import subprocess

import pytest
from support import launch
from support.programs import compiled


def said(mpi, what, *args, **more):
    result = launch.run(mpi, 2, "heap", *args, **more).check()
    return re.search(rf"^{what} (.*)$", result.output, re.M)[1]


@pytest.fixture(scope="module")
def another_object(tmp_path_factory):
    """An object that does nothing. The system's loader itself takes a little of the heap for each."""
    path = tmp_path_factory.mktemp("object") / "libempty.so"
    subprocess.run(["cc", "-shared", "-o", path, "-x", "c", "-"], input="", text=True, check=True)
    return path


@pytest.mark.parametrize("mode", ["off", "transparent"])
def test_blocks_lie_where_they_lie_without_nearcache(mpi, preload, another_object, mode):
    def places(**how):
        """(where the blocks begin, the others relative to that). The first few may lie in gaps that the loader has left."""
        _, _, _, _, first, *others = map(int, said(mpi, "before", **how).split())
        return first, [place - first for place in others]

    first, others = places(env={"NEARCACHE_MODE": mode})
    first_without, others_without = places(preload=False, below=[another_object])
    # What the loader takes depends on an object's symbols and variables, too.
    assert others == others_without and abs(first - first_without) <= 64


@pytest.mark.parametrize("mode", ["off", "transparent"])
def test_nothing_is_allocated_on_the_programs_heap(mpi, preload, mode):
    assert said(mpi, "from nearcache", env={"NEARCACHE_MODE": mode}) == "0"


def test_a_window_takes_as_many_small_blocks_as_without_nearcache(mpi, preload):
    if mpi.family != "openmpi":
        pytest.skip("this MPI has no limit of what is attached")
    # Open MPI's limit is of pages, and MPI's own blocks differ a little from run to run
    page = 4096 // 512
    assert (
        int(said(mpi, "attached", "attach"))
        >= int(said(mpi, "attached", "attach", preload=False)) - page
    )


def test_a_limit_of_addresses_is_left_to_the_program(preload):
    """A process that may have 2 GB of addresses (ulimit -v) gives Nearcache's heap a small part of them."""
    limit = 2_000_000 << 10
    done = subprocess.run(
        ["cat", "/proc/self/status"],
        env={**os.environ, "LD_PRELOAD": str(preload)},
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    size = next(
        int(line.split()[1]) << 10 for line in done.stdout.splitlines() if line.startswith("VmSize")
    )
    assert size < limit / 4


WANTS_MEMORY = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, ranks;
  static double memory[1000];
  double word;
  size_t pieces = 0;
  MPI_Win windows[WINDOWS];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int w = 0; w < WINDOWS; ++w) {
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[w]);
    MPI_Win_lock_all(0, windows[w]);
    for (int i = 0; i < 100; ++i) {
      MPI_Get(&word, 1, MPI_DOUBLE, (rank + 1) % ranks, i, 1, MPI_DOUBLE, windows[w]);
      MPI_Win_flush_all(windows[w]);
    }
    MPI_Win_unlock_all(windows[w]);
  }
  while (pieces < 1000 && malloc(1 << 20) != NULL) ++pieces;
  printf("MiB %zu\n", pieces);
  for (int w = 0; w < WINDOWS; ++w) MPI_Win_free(&windows[w]);
  return MPI_Finalize();
}
"""


@pytest.mark.few_mpis
def test_a_limit_of_addresses_is_left_to_a_program_with_windows(mpi, preload, tmp_path):
    program = compiled(tmp_path, "wants_memory", WANTS_MEMORY, mpi.wrapper, "-DWINDOWS=3")

    def mebibytes(**how):
        command = f"ulimit -v 2000000; exec {program}"
        result = launch.run(mpi, 2, "/bin/sh", "-c", command, **how).check()
        return min(map(int, re.findall(r"MiB (\d+)", result.output)))

    env = {"NEARCACHE_MODE": "transparent", "NEARCACHE_SKIP_CHEAP": "false"}
    assert mebibytes(env=env) >= 0.7 * mebibytes(preload=False)


@pytest.mark.one_mpi
def test_who_runs_out_of_memory_is_said(mpi, preload):
    """With 1 GB of addresses, Nearcache's heap has 15 MB."""
    if mpi.family == "openmpi":
        pytest.skip("this MPI sends a message for each block of a datatype, a million here")
    command = f"ulimit -v 1000000; exec {mpi.binary('heap')} refuse"
    env = {"NEARCACHE_MODE": "always"}
    result = launch.run(mpi, 2, "/bin/sh", "-c", command, env=env)
    assert result.code != 0 and not result.timed_out
    assert "nearcache: out of memory: the system refuses " in result.output, result.output
