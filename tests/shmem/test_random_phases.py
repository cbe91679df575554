"""Random programs on 2 to 4 PEs against a serial replay: 40,000 operations; one and a half million under ./test --long."""

import pytest
from support import launch, shmem_runs

FACTOR = 38 if launch.LONG else 1
# PEs beyond the processors take turns: each costs more than the one before
OPERATIONS = {2: 6_400, 3: 4_200, 4: 2_100}


@pytest.mark.parametrize("pes", [2, 3, 4])
@pytest.mark.parametrize(
    "cache", [{}, shmem_runs.TINY, shmem_runs.COARSE], ids=["default", "tiny", "coarse"]
)
def test_memory_is_that_of_a_serial_replay(shmem, preload_shmem, pes, cache):
    shmem_runs.check_cached(
        shmem_runs.over_model(
            shmem, pes, "shmem_random_phases", pes, OPERATIONS[pes] * FACTOR, 3, env=cache
        )
    )


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
def test_memory_is_that_of_a_serial_replay_under_thread_multiple(shmem, preload_shmem, cache):
    shmem_runs.check_cached(
        shmem_runs.over_model(
            shmem,
            2,
            "shmem_random_phases",
            30,
            OPERATIONS[2] * FACTOR,
            3,
            env={**cache, **shmem_runs.THREADED},
        )
    )


@pytest.mark.parametrize("pes", [2, 3, 4])
def test_memory_is_that_of_a_serial_replay_over_tcp(shmem, preload_shmem, pes):
    shmem_runs.check_cached(
        shmem_runs.over_tcp(shmem, pes, "shmem_random_phases", 10 + pes, 1_600 * FACTOR, 1)
    )


@pytest.mark.long
def test_memory_is_that_of_a_serial_replay_without_the_cache(shmem):
    shmem_runs.over_tcp(
        shmem, 3, "shmem_random_phases", 20, 1_600 * FACTOR, 1, preload=False
    ).check()
