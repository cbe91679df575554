"""The surroundings in which the programs of this folder run: which network, which cache."""

from . import launch_shmem

# A modelled network over shared memory: other PEs' memory is then far, so it is cached. No latency worth waiting for.
MODEL = {"NEARCACHE_MODEL": "300,0"}
# So small that everything is evicted all the time.
TINY = {
    "NEARCACHE_SHMEM_SIZE": "2k",
    "NEARCACHE_SHMEM_PAGE": "256",
    "NEARCACHE_SHMEM_LINE": "8",
    "NEARCACHE_SHMEM_DIRTY_PAGES": "1",
}
COARSE = {
    "NEARCACHE_SHMEM_SIZE": "32k",
    "NEARCACHE_SHMEM_PAGE": "4k",
    "NEARCACHE_SHMEM_LINE": "512",
    "NEARCACHE_SHMEM_DIRTY_PAGES": "2",
}
# One thread under SHMEM_THREAD_MULTIPLE, whose hits take no lock.
THREADED = {"CHECK_THREADED": "1"}
SMALL_HEAP = {"SMA_SYMMETRIC_SIZE": "16M"}


def over_tcp(shmem, pes, program, *args, env=None, **how):
    return launch_shmem.run(shmem, pes, program, *args, env={**SMALL_HEAP, **(env or {})}, **how)


def over_model(shmem, pes, program, *args, env=None, **how):
    return over_tcp(shmem, pes, program, *args, env={**MODEL, **(env or {})}, tcp=False, **how)


def check_cached(result):
    """The run went well, and what it shows was shown with the cache at work on every PE that read."""
    hits = [int(line.split()[1]) for line in result.check().lines("hits")]
    assert hits and max(hits) > 0, "nothing was served by the cache"
    return result
