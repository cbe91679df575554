"""The UPC runtime by C programs as the translator would emit them: tests/upc/runtime/*.c."""

import pytest
from support import launch, launch_shmem

# Small, as many programs may run at the same time.
HEAP = {"NEARCACHE_UPC_SHARED_HEAP": "32M", "SMA_SYMMETRIC_SIZE": "64M"}


def run(shmem, name, threads, form="", tcp=False, cache=True, args=(), env=None, above=()):
    binary = shmem.binary(f"upc_{name}{form}")
    if not binary.exists():
        pytest.skip(f"{binary} is not built")
    variables = {**HEAP, **({} if cache else {"NEARCACHE_SHMEM": "off"}), **(env or {})}
    return launch_shmem.run(
        shmem,
        threads,
        str(binary),
        *args,
        preload=False,
        above=above,
        tcp=tcp,
        env=variables,
        timeout=120,
    )


def check(result, threads):
    result.check()
    assert result.output.count(": ok") == threads, result.output


# Programs that communicate little show the same over any way, so they run less often.
@pytest.mark.parametrize("name", ["pointers", "forall", "statics"])
@pytest.mark.parametrize(
    "threads, form, tcp", [(1, "", False), (3, "_struct", False), (4, "", True)]
)
def test_layout_and_start(shmem, name, threads, form, tcp):
    check(run(shmem, name, threads, form, tcp), threads)


@pytest.mark.parametrize("form", ["", "_struct"])
def test_static_number_of_threads(shmem, form):
    check(run(shmem, "pointers_three", 3, form), 3)
    ends(
        run(shmem, "pointers_three", 2, form),
        1,
        "upc_pointers.c: was compiled for 3 threads, and runs with 2",
    )


WAYS = {
    "alone": (1, "", False, True),
    "loads-and-stores": (4, "", False, True),
    "struct-pointers": (3, "_struct", False, True),
    "cached": (3, "", True, True),
    "cached-struct": (2, "_struct", True, True),
    "uncached": (3, "", True, False),
}


# Fewer rounds where every access is a message.
ROUNDS_OVER_TCP = {
    "accesses": 1200,
    "barriers": 100,
    "copies": 150,
    "heap": 1000,
    "litmus": 50,
    "locks": 120,
}


@pytest.mark.parametrize("name", ["accesses", "barriers", "copies", "heap", "litmus", "locks"])
@pytest.mark.parametrize("way", WAYS)
def test_memory_and_synchronisation(shmem, name, way):
    threads, form, tcp, cache = WAYS[way]
    args = [ROUNDS_OVER_TCP[name]] if tcp else []
    check(run(shmem, name, threads, form, tcp, cache, args), threads)


@pytest.mark.parametrize("name", ["accesses", "barriers", "heap", "litmus", "locks"])
@pytest.mark.parametrize("form", ["", "_struct"])
def test_nodes_of_two_threads(shmem, name, form):
    """Some threads are within reach of loads and stores, others are not."""
    nodes = launch.BUILD / "lib" / shmem.tag / "upc_two_nodes.so"
    check(run(shmem, name, 4, form, above=[nodes]), 4)


@pytest.mark.parametrize("way", ["loads-and-stores", "cached", "cached-struct", "uncached"])
def test_relaxed_atomics_and_copies_that_do_not_block_leave_the_cache_as_it_is(shmem, way):
    threads, form, tcp, cache = WAYS[way]
    check(run(shmem, "kept", min(threads, 3), form, tcp, cache), min(threads, 3))


@pytest.mark.parametrize("cache", [True, False])
def test_loads_and_stores_of_own_memory_come_after_relaxed_atomics(shmem, cache):
    late = launch.BUILD / "lib" / shmem.tag / "upc_late_sets.so"
    check(run(shmem, "kept", 2, tcp=True, cache=cache, above=[late]), 2)


@pytest.mark.parametrize("name", ["accesses", "copies", "litmus"])
@pytest.mark.parametrize(
    "uncached",
    [{"NEARCACHE_SHMEM": "off"}, {"NEARCACHE_MAX_STORAGE": "256K"}],
    ids=["off", "no-room"],
)
def test_program_order_where_nothing_caches(shmem, name, uncached):
    """The runtime itself must order accesses to the same memory, also where a cache is wanted and has no room."""
    late = launch.BUILD / "lib" / shmem.tag / "upc_late_puts.so"
    check(
        run(shmem, name, 2, tcp=True, args=[ROUNDS_OVER_TCP[name]], env=uncached, above=[late]), 2
    )


@pytest.mark.parametrize("cache", [True, False])
def test_a_block_is_freed_right_after_its_allocation(shmem, cache):
    """Its mark at thread 0 may still be under way: it is complete before it is asked for."""
    late = launch.BUILD / "lib" / shmem.tag / "upc_late_sets.so"
    check(run(shmem, "errors", 2, tcp=True, cache=cache, args=["free-at-once"], above=[late]), 2)


def ends(result, status, message=None, line=None):
    """The program has ended on all threads with this status, and has said where it was misused."""
    assert result.code == status, result.output
    if message is None:
        return
    told = [
        row
        for row in result.output.splitlines()
        if row.startswith("upc: thread ") and message in row
    ]
    assert told, result.output
    if line is not None:
        assert any(f"upc_errors.c:{line}: " in row for row in told), told


def line_of(text):
    """The line of upc_errors.c that holds a text."""
    source = (launch.ROOT / "tests" / "upc" / "runtime" / "upc_errors.c").read_text().splitlines()
    return next(number for number, row in enumerate(source, 1) if text in row)


MISUSE = {
    "mismatch": (
        "upc_barrier: the expression is 5 here, 3 on another thread",
        "NCUPC_BARRIER_EXPR(last ? 5 : 3)",
    ),
    "split-mismatch": ("the expression is 8 here, 9 on another thread", None),
    "wait-mismatch": (
        "upc_wait: the expression is 2 here, 1 in a upc_notify",
        "NCUPC_WAIT_EXPR(2)",
    ),
    "wait-first": ("upc_wait: no upc_notify came before it", '"wait-first"'),
    "notify-twice": ("upc_notify: follows the upc_notify of line", None),
    "barrier-inside": ("upc_barrier: comes between the upc_notify of line", None),
    "free-static": ("upc_free: thread 0, address", '"free-static"'),
    "free-middle": ("is not a block of the shared heap", '"free-middle"'),
    "free-twice": ("upc_free: the block at thread 2, address", None),
    "free-global-twice": ("has been freed already", "if (last) upc_free(p);"),
    "exhaust-local": (
        "upc_alloc: no room for 1000000 bytes in the shared heap",
        "upc_alloc(1000000)",
    ),
    "exhaust-global": (
        "raise --shared-heap (NEARCACHE_UPC_SHARED_HEAP)",
        "upc_global_alloc((size_t)THREADS, (size_t)1",
    ),
    "unlock": ("upc_unlock: this thread does not hold the lock", '"unlock"'),
    "lock-twice": ("upc_lock: this thread holds the lock already", None),
    "lock-null": ("upc_lock: the lock is a null pointer", '"lock-null"'),
    "long-name": ("xxx: the reason", 'ncupc_error(NCUPC_HERE, name, "the reason")'),
    "null": ("access: through a null pointer to shared", None),
    "null-write": ("access: through a null pointer to shared", None),
    "return-from-collective": ("collective call: another thread has ended without it", None),
    "return-early": ("upc_barrier: another thread has ended without this barrier", None),
}


@pytest.mark.parametrize("misuse", MISUSE)
def test_misuse_ends_all_threads_with_a_message(shmem, misuse):
    message, where = MISUSE[misuse]
    line = line_of(where) if where else None
    ends(run(shmem, "errors", 3, args=[misuse]), 1, message, line)


@pytest.mark.parametrize("misuse", ["mismatch", "free-global-twice", "unlock", "null"])
def test_misuse_over_a_network(shmem, misuse):
    ends(run(shmem, "errors", 3, tcp=True, args=[misuse]), 1, MISUSE[misuse][0])


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("access", ["strict", "memget", "nb-get", "nb-put"])
def test_every_access_through_a_null_pointer_is_found(shmem, access, tcp):
    ends(
        run(shmem, "errors", 2, tcp=tcp, args=[f"null-{access}"]),
        1,
        "access: through a null pointer to shared",
    )


@pytest.mark.parametrize(
    "what, status",
    [
        ("global-exit", 7),
        ("exit-alone", 6),
        ("exit-all", 9),
        ("exit-from-collective", 5),
        ("collective-then-exit", 0),
    ],
)
def test_exit_status(shmem, what, status):
    result = run(shmem, "errors", 3, args=[what])
    ends(result, status)
    if what == "exit-all":
        assert result.output.count("goodbye") == 3


@pytest.mark.parametrize("end", ["exits", "global-exit", "null"])
def test_a_forked_child_ends_alone(shmem, end):
    check(run(shmem, "errors", 2, tcp=True, args=[f"child-{end}"]), 2)


def test_same_variable_with_two_layouts(shmem):
    result = run(shmem, "errors", 2, env={"UPC_TEST_PLACE_AGAIN": "1"})
    ends(
        result,
        1,
        "variable: 5 elements of 4 bytes in blocks of 1, but 4 of 4 bytes in blocks of 1 in ",
    )


@pytest.mark.parametrize(
    "alignment, message",
    [
        ("8192", "second: an alignment of 8192 bytes: that of shared data can be 4096 at most"),
        ("64", "second: an alignment of 64 bytes, which another file does not say"),
    ],
)
def test_alignment_that_cannot_be(shmem, alignment, message):
    ends(run(shmem, "errors", 2, env={"UPC_TEST_ALIGNMENT": alignment}), 1, message)


def test_heap_option(shmem):
    ends(
        run(shmem, "errors", 2, env={"NEARCACHE_UPC_SHARED_HEAP": "1Q"}),
        1,
        "NEARCACHE_UPC_SHARED_HEAP: '1Q' is not a number of bytes",
    )
    ends(
        run(shmem, "errors", 2, env={"NEARCACHE_UPC_SHARED_HEAP": "2G"}),
        1,
        "raise its symmetric heap (SMA_SYMMETRIC_SIZE",
    )
    for size in ("300K", "0.3MiB"):
        check(run(shmem, "errors", 2, env={"NEARCACHE_UPC_SHARED_HEAP": size}), 2)
