"""Memory that loads and stores reach: nothing of it is cached, and next to nothing is done for it."""

import pytest
from support import shmem_runs

CASES = 3


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
@pytest.mark.parametrize("threads", [{}, shmem_runs.THREADED], ids=["one thread", "threads"])
def test_the_heap_is_near_and_static_data_is_not(shmem, preload_shmem, cache, threads):
    env = {**cache, **threads}
    run = shmem_runs.over_tcp(shmem, 2, "shmem_near", env=env, tcp=False)
    assert len(shmem_runs.check_cached(run).lines("ok")) == CASES
