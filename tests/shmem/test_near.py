"""Memory that loads and stores reach: nothing of it is cached, and next to nothing is done for it."""

import pytest
from support import launch, shmem_runs

CASES = 5


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
@pytest.mark.parametrize("threads", [{}, shmem_runs.THREADED], ids=["one thread", "threads"])
def test_the_heap_is_near_and_static_data_is_not(shmem, preload_shmem, cache, threads):
    env = {**cache, **threads}
    run = shmem_runs.over_tcp(shmem, 2, "shmem_near", env=env, tcp=False)
    assert len(shmem_runs.check_cached(run).lines("ok")) == CASES


@pytest.mark.parametrize("cache", [True, False])
def test_stores_do_not_overtake_the_library(shmem, preload_shmem, cache):
    late = launch.BUILD / "lib" / shmem.tag / "shmem_late_updates.so"
    assert late.exists()
    run = shmem_runs.over_tcp(shmem, 2, "shmem_near", preload=cache, below=[late], tcp=False)
    assert len(run.check().lines("ok")) == CASES
