"""Threads on one context, with a page cache so small that they are in each other's way all the time. Over shared memory: over tcp
Open MPI 4.1.4 hangs now and then where several threads communicate, without Nearcache as well."""

import pytest
from support import launch, shmem_runs


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
def test_threads_find_their_own_writes_and_complete_each_others(shmem, preload_shmem, cache):
    rounds = 200 if launch.LONG else 20
    result = shmem_runs.check_cached(
        shmem_runs.over_model(shmem, 2, "shmem_threads", 1, rounds, env=cache)
    )
    assert len(result.lines("ok")) == 2
