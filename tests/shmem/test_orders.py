"""Program order of own accesses: every sequence of them, with the cache and, so that a defect of the library is told, without."""

import pytest
from support import launch, shmem_runs


def test_every_short_sequence_over_tcp(shmem, preload_shmem):
    shmem_runs.check_cached(shmem_runs.over_tcp(shmem, 2, "shmem_orders", 3, 16, 4, 6))


@pytest.mark.long
def test_every_short_sequence_without_the_cache(shmem):
    shmem_runs.over_tcp(shmem, 2, "shmem_orders", 3, 16, preload=False).check()


@pytest.mark.parametrize(
    "cache", [{}, shmem_runs.TINY, shmem_runs.COARSE], ids=["default", "tiny", "coarse"]
)
def test_every_longer_sequence_over_a_modelled_network(shmem, preload_shmem, cache):
    result = shmem_runs.check_cached(
        shmem_runs.over_model(shmem, 2, "shmem_orders", 4, 16, 5, 9, 6, 5, env=cache)
    )
    assert len(result.lines("ok")) == 3


@pytest.mark.parametrize(
    "cache",
    [{}, {"NEARCACHE_SHMEM_READAHEAD": "512k", "NEARCACHE_SHMEM_SIZE": "8M"}],
    ids=["default", "long_puts"],
)
def test_words_that_are_joined_into_one_put_arrive_whole_over_tcp(shmem, preload_shmem, cache):
    rounds = 3000 if launch.LONG else 100
    assert shmem_runs.over_tcp(shmem, 2, "shmem_torn_words", rounds, env=cache).check().lines("ok")
