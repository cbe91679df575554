"""The UPC runtime's collectives, atomics and non-blocking copies: C programs that call them at random, and UPC programs (collectives/)."""

from pathlib import Path

import pytest
from support import launch, launch_shmem, launch_upc

# Elements are read one by one to check them: fewer where each is a round trip.
NETWORKS = {
    "near": (False, True, 8000),
    "near, no cache": (False, False, 8000),
    "tcp": (True, True, 4000),
    "tcp, no cache": (True, False, 500),
}
# Without NEARCACHE_TEST_LONG each network and each number of threads, but not each of both.
WAYS = [
    (network, threads)
    for network in NETWORKS
    for threads in (1, 2, 3, 5)
    if launch.LONG
    or (network, threads)
    in [
        ("near", 1),
        ("near", 3),
        ("near", 5),
        ("near, no cache", 2),
        ("tcp", 2),
        ("tcp", 3),
        ("tcp, no cache", 3),
    ]
]
ERRORS = {
    "two_ins": "upc_all_broadcast: flags 0x6 has more than one of UPC_IN_ALLSYNC",
    "no_flag": "upc_all_gather_all: flags 0x100000 has bits that are not UPC_IN_",
    "null_dst": "upc_all_scatter: dst is a null pointer",
    "null_src": "upc_all_exchange: src is a null pointer",
    "dst_thread": "upc_all_broadcast: dst has affinity to thread 2, and must have to thread 0",
    "bits_of_double": "upc_all_reduceD: UPC_AND, UPC_OR and UPC_XOR cannot be used with floating-point",
    "no_operation": "upc_all_reduceI: 0x3039 is not an operation",
    "no_function": "upc_all_prefix_reduceL: the function is a null pointer",
    "sizes_differ": "upc_all_broadcast: the arguments differ from those of thread",
    "calls_differ": "instead",
    "no_thread": "upc_all_permute: perm[",
    "domain_type": "upc_all_atomicdomain_alloc: type 21 is not one of atomic domains",
    "domain_operation": "upc_all_atomicdomain_alloc: operations 0x10 cannot be used with this type",
    "other_operation": "upc_atomic_relaxed: the operation is not one of the domain's",
    "freed_domain": "upc_atomic_strict: this is not an atomic domain",
    "unaligned": "upc_atomic_relaxed: the target is not aligned",
    "handle": "upc_sync: 99 is not a handle",
}
# Functions whose errors name no source line.
ERRORS_OF_EXTENSIONS = {
    "bupc_handle": "bupc_waitsync_all: 98 is not a handle",
    "region": "bupc_begin_accessregion: within another region",
    "no_region": "bupc_end_accessregion: no bupc_begin_accessregion",
    "runs_differ": "bupc_memput_fstrided: the destination has 32 bytes, the source 31",
    "atomic_null": "bupc_atomicI_fetchadd_strict: the target is a null pointer",
    "atomic_unaligned": "bupc_atomicD_set_relaxed: the target is not aligned",
    "no_semaphore": "bupc_sem_post: this is not a semaphore",
    "semaphore_freed": "bupc_sem_free: this is not a semaphore",
    "semaphore_kind": "bupc_sem_alloc: flags 0x3 are not one of each kind",
    "semaphore_boolean": "bupc_sem_postN: 2 of a boolean semaphore",
    "semaphore_full": "bupc_sem_post: the value is above BUPC_SEM_MAXVALUE",
    "signal_elsewhere": "bupc_memput_signal: the destination is on thread",
    "value_root": "bupc_allv_broadcast: the root is 3, and must be a thread",
    "value_types": "bupc_allv_reduce: the arguments differ from those of thread",
    "value_function": "bupc_allv_reduce: UPC_FUNC and UPC_NONCOMM_FUNC cannot be used with values",
    "value_bits": "bupc_allv_prefix_reduce: UPC_AND, UPC_OR and UPC_XOR cannot be used with floating-point",
    "value_nowhere": "bupc_allv_gather: the array is a null pointer at its root",
    "value_permutation": "threads send to thread",
    "no_file": "upc_all_fsync: this is not an open file",
    "no_distance": "bupc_thread_distance: there is no thread 3 among 3",
    "private_address": "bupc_local_to_shared: the pointer is not to shared memory",
}


def run(shmem, program, threads, *args, tcp=False, cache=True, above=(), env=None):
    if not shmem.binary(program).exists():
        pytest.skip(f"{program} is not built")
    env = {**(env or {}), **({} if cache else {"NEARCACHE_SHMEM": "off"})}
    return launch_shmem.run(
        shmem,
        threads,
        program,
        *args,
        preload=False,
        tcp=tcp,
        above=above,
        env={"SMA_SYMMETRIC_SIZE": "128M", **env},
    )


def over(shmem, network, program, threads, *args):
    tcp, cache, _ = NETWORKS[network]
    result = run(shmem, program, threads, *args, tcp=tcp, cache=cache).check()
    assert result.lines("ok"), result.stdout


@pytest.mark.parametrize("network, threads", WAYS)
def test_copies_of_random_sizes_under_all_flags(shmem, network, threads):
    over(shmem, network, "upc_coll_copies", threads, 40, 300000, threads)


@pytest.mark.parametrize("network, threads", WAYS)
def test_reductions_of_all_types_in_the_order_of_elements(shmem, network, threads):
    over(shmem, network, "upc_coll_reductions", threads, 2, NETWORKS[network][2], threads)


@pytest.mark.parametrize(
    "network, threads, object",
    [("tcp", 2, "slow_quiet"), ("tcp, no cache", 2, "slow_quiet"), ("near", 4, "two_nodes")],
)
def test_allsync_orders_what_was_written_before_and_read_after(shmem, network, threads, object):
    """A late quiet shows a call that tells others of its thread's arrival before what the thread wrote is complete."""
    tcp, cache, _ = NETWORKS[network]
    above = [launch.BUILD / "lib" / shmem.tag / f"upc_{object}.so"]
    result = run(shmem, "upc_coll_ordering", threads, 1, tcp=tcp, cache=cache, above=above).check()
    assert result.lines("ok"), result.output


def test_messages_in_a_page_with_dirty_words_go_at_once(shmem):
    """Pages larger than usual hold static data beside the runtime's own words, on which threads spin."""
    large = {
        "NEARCACHE_SHMEM_PAGE": "64K",
        "NEARCACHE_SHMEM_LINE": "1K",
        "NEARCACHE_SHMEM_SIZE": "4M",
    }
    result = run(shmem, "upc_coll_ordering", 2, 1, tcp=True, env=large).check()
    assert result.lines("ok"), result.output


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("network", NETWORKS)
def test_atomics_of_all_threads_and_copies_without_blocking(shmem, network, threads):
    over(shmem, network, "upc_coll_optional", threads, 25)


@pytest.mark.parametrize("network", ["near", "tcp"])
@pytest.mark.parametrize("program", ["copies", "reductions", "optional"])
def test_pointers_to_shared_as_structs(shmem, network, program):
    over(
        shmem,
        network,
        f"upc_coll_{program}_struct",
        3,
        *([] if program == "optional" else [2, 4000]),
    )


@pytest.mark.parametrize("wrong", ERRORS)
def test_a_wrong_call_ends_all_threads_with_its_source_line(shmem, wrong):
    result = run(shmem, "upc_coll_errors", 3, wrong)
    assert result.code not in (0, None)
    lines = [line for line in result.output.splitlines() if line.startswith("upc: thread ")]
    assert any(ERRORS[wrong] in line for line in lines), result.output
    assert wrong == "handle" or all("errors.c:" in line for line in lines)


@pytest.mark.parametrize("wrong", ERRORS_OF_EXTENSIONS)
def test_a_wrong_call_of_an_extension_ends_all_threads_with_a_message(shmem, wrong):
    result = run(shmem, "upc_coll_errors", 3, wrong)
    assert result.code not in (0, None)
    lines = [line for line in result.output.splitlines() if line.startswith("upc: thread ")]
    assert any(ERRORS_OF_EXTENSIONS[wrong] in line for line in lines), result.output


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("network", NETWORKS)
def test_extensions_of_berkeley(shmem, network, threads):
    over(shmem, network, "upc_coll_bupc", threads, 15)


def test_extensions_where_some_threads_are_near(shmem):
    nodes = launch.BUILD / "lib" / shmem.tag / "upc_two_nodes.so"
    assert run(shmem, "upc_coll_bupc", 4, 15, above=[nodes]).check().lines("ok")


@pytest.mark.parametrize(
    "network, threads, elements", [("near", 1, 200000), ("near", 3, 200000), ("tcp", 2, 200000)]
)
def test_files_as_posix_sees_them(shmem, network, threads, elements, tmp_path):
    over(shmem, network, "upc_coll_io", threads, tmp_path, threads, elements)


@pytest.mark.parametrize("program", ["bupc", "io"])
def test_extensions_with_pointers_as_structs(shmem, program, tmp_path):
    over(shmem, "tcp", f"upc_coll_{program}_struct", 2, *([5] if program == "bupc" else [tmp_path]))


@launch_upc.needs_upc
@pytest.mark.parametrize("tcp, threads", [(False, 1), (False, 4), (True, 3)])
@pytest.mark.parametrize("program", ["sample_sort", "histogram", "matrix_vector", "extensions"])
def test_upc_programs(program, tcp, threads):
    compiled = launch_upc.upcc(Path(__file__).parent / "collectives" / f"{program}.upc", "-O1")
    assert launch_upc.run(compiled, threads, tcp=tcp).check().stdout.startswith("ok ")
