"""The program's heap is as it is without Nearcache: heap.c."""
import re

from support import launch
import pytest


def said(mpi, what, *args, **more):
    result = launch.run(mpi, 2, "heap", *args, **more).check()
    return re.search(rf"^{what} (.*)$", result.output, re.M)[1]


@pytest.mark.parametrize("mode", ["off", "transparent"])
def test_blocks_lie_where_they_lie_without_nearcache(mpi, preload, mode):
    assert said(mpi, "before", env={"NEARCACHE_MODE": mode}) == said(mpi, "before", preload=False)


@pytest.mark.parametrize("mode", ["off", "transparent"])
def test_nothing_is_allocated_on_the_programs_heap(mpi, preload, mode):
    assert said(mpi, "from nearcache", env={"NEARCACHE_MODE": mode}) == "0"


def test_a_window_takes_as_many_small_blocks_as_without_nearcache(mpi, preload):
    if mpi.family != "openmpi":
        pytest.skip("this MPI has no limit of what is attached")
    page = 4096 // 512  # Open MPI's limit is of pages, and MPI's own blocks differ a little from run to run
    assert int(said(mpi, "attached", "attach")) >= int(said(mpi, "attached", "attach", preload=False)) - page
