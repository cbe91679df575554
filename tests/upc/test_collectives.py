"""The UPC runtime's collectives, atomics and non-blocking copies: C programs that call them at random, and UPC programs (collectives/)."""
from pathlib import Path

from support import launch, launch_shmem, launch_upc
import pytest

# Elements are read one by one to check them: fewer where each is a round trip.
NETWORKS = {"near": (False, True, 8000), "near, no cache": (False, False, 8000),
            "tcp": (True, True, 4000), "tcp, no cache": (True, False, 500)}
ERRORS = {
    "two_ins": "upc_all_broadcast: flags 0x6 has more than one of UPC_IN_ALLSYNC",
    "no_flag": "upc_all_gather_all: flags 0x100000 has bits that are no UPC_IN_",
    "null_dst": "upc_all_scatter: dst is a null pointer",
    "null_src": "upc_all_exchange: src is a null pointer",
    "dst_thread": "upc_all_broadcast: dst has affinity to thread 2, and must have to thread 0",
    "bits_of_double": "upc_all_reduceD: UPC_AND, UPC_OR and UPC_XOR are not for floating-point",
    "no_operation": "upc_all_reduceI: 0x3039 is no operation",
    "no_function": "upc_all_prefix_reduceL: the function is a null pointer",
    "sizes_differ": "upc_all_broadcast: the arguments differ from those of thread",
    "calls_differ": "instead",
    "no_thread": "upc_all_permute: perm[",
    "domain_type": "upc_all_atomicdomain_alloc: type 21 is none of atomic domains",
    "domain_operation": "upc_all_atomicdomain_alloc: operations 0x10 are not for this type",
    "other_operation": "upc_atomic_relaxed: the operation is none of the domain's",
    "freed_domain": "upc_atomic_strict: this is no atomic domain",
    "unaligned": "upc_atomic_relaxed: the target is not aligned",
    "handle": "upc_sync: 99 is no handle",
}


def run(shmem, program, threads, *args, tcp=False, cache=True, above=()):
    if not shmem.binary(program).exists():
        pytest.skip(f"{program} is not built")
    env = {} if cache else {"NEARCACHE_SHMEM": "off"}
    return launch_shmem.run(shmem, threads, program, *args, preload=False, tcp=tcp, above=above, env={"SMA_SYMMETRIC_SIZE": "128M", **env})


def over(shmem, network, program, threads, *args):
    tcp, cache, _ = NETWORKS[network]
    result = run(shmem, program, threads, *args, tcp=tcp, cache=cache).check()
    assert result.lines("ok"), result.stdout


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("network", NETWORKS)
def test_copies_of_random_sizes_under_all_flags(shmem, network, threads):
    over(shmem, network, "upc_coll_copies", threads, 40, 300000, threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("network", NETWORKS)
def test_reductions_of_all_types_in_the_order_of_elements(shmem, network, threads):
    over(shmem, network, "upc_coll_reductions", threads, 2, NETWORKS[network][2], threads)


@pytest.mark.parametrize("network, threads, object", [("tcp", 2, "slow_quiet"), ("tcp, no cache", 2, "slow_quiet"), ("near", 4, "two_nodes")])
def test_allsync_orders_what_was_written_before_and_read_after(shmem, network, threads, object):
    """A late quiet shows a call that tells others of its thread's arrival before what the thread wrote is complete."""
    tcp, cache, _ = NETWORKS[network]
    above = [launch.BUILD / "lib" / shmem.tag / f"upc_{object}.so"]
    result = run(shmem, "upc_coll_ordering", threads, 1, tcp=tcp, cache=cache, above=above).check()
    assert result.lines("ok"), result.output


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("network", NETWORKS)
def test_atomics_of_all_threads_and_copies_without_blocking(shmem, network, threads):
    over(shmem, network, "upc_coll_optional", threads, 25)


@pytest.mark.parametrize("network", ["near", "tcp"])
@pytest.mark.parametrize("program", ["copies", "reductions", "optional"])
def test_pointers_to_shared_as_structs(shmem, network, program):
    over(shmem, network, f"upc_coll_{program}_struct", 3, *([] if program == "optional" else [2, 4000]))


@pytest.mark.parametrize("wrong", ERRORS)
def test_a_wrong_call_ends_all_threads_with_its_source_line(shmem, wrong):
    result = run(shmem, "upc_coll_errors", 3, wrong)
    assert result.code not in (0, None)
    lines = [line for line in result.output.splitlines() if line.startswith("upc: thread ")]
    assert any(ERRORS[wrong] in line for line in lines), result.output
    assert wrong == "handle" or all("errors.c:" in line for line in lines)


@launch_upc.needs_upc
@pytest.mark.parametrize("tcp, threads", [(False, 1), (False, 4), (True, 3)])
@pytest.mark.parametrize("program", ["sample_sort", "histogram", "matrix_vector"])
def test_upc_programs(program, tcp, threads):
    compiled = launch_upc.upcc(Path(__file__).parent / "collectives" / f"{program}.upc", "-O1")
    assert launch_upc.run(compiled, threads, tcp=tcp).check().stdout.startswith("ok ")
