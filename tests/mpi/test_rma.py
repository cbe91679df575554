"""The RMA engine under real MPIs: rma.cpp."""

import json
import os
import re
import subprocess

import pytest
from support import launch, libfabric
from support.programs import compiled

CASES = 34


# Whether the cache is above matters little to what is below: all ways with it are for ./test --long.
WAYS = [
    (fabric, memory, mode)
    for fabric in ("socket", "node", "ofi")
    for memory in ("created", "allocated")
    for mode in ("off", "transparent")
    if launch.LONG
    or mode == "off"
    or (fabric, memory) in {("socket", "created"), ("node", "allocated")}
]
WAYS.append(("rdma", "allocated", "off"))

# Libfabric reads and writes memory itself, as far as its provider for TCP can show that.
RDMA = {**libfabric.ENV, "NEARCACHE_RMA_RDMA": "on"}
READ = re.compile(
    r"the network has read memory of others ([1-9]\d*) times and written ([1-9]\d*) times"
)


def check_with_threads(result):
    if result.lines("skipped"):
        pytest.skip("this MPI has no threads")
    result.check()


@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric, memory, mode", WAYS, ids=["-".join(each) for each in WAYS])
def test_windows_that_the_engine_does_are_as_the_standard_has_them(
    mpi, preload, fabric, memory, mode
):
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_RMA_FABRIC": fabric,
        "NEARCACHE_MODE": mode,
        "NEARCACHE_VERBOSE": "2",
        "MALLOC_PERTURB_": "165",  # of glibc: what is freed is not there any more
    }
    if fabric in ("ofi", "rdma"):
        libfabric.skip_without(mpi)
        env["NEARCACHE_RMA_PROVIDER"] = "tcp"
    if fabric == "rdma":
        env.update(RDMA)
    result = launch.run(mpi, 3, "rma", f"--{memory}", env=env).check()
    assert len(result.lines("ok")) == CASES
    assert "a window uses the RMA engine" in result.output
    assert "not use the RMA engine" not in result.output
    assert ("this rank reaches the memory of 3 of 3 ranks" in result.output) == (fabric == "node")
    has_hook = mpi.family == "openmpi" or (mpi.family == "mpich" and mpi.version >= (5,))
    assert ("while it waits in MPI it polls" in result.output) == has_hook


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "fabric, memory, by_kernel, mode",
    [
        ("socket", "created", "on", "off"),
        ("socket", "created", "on", "transparent"),
        ("node", "allocated", "on", "off"),
        ("node", "allocated", "on", "transparent"),
        pytest.param("node", "created", "off", "off", id="messages-within-the-node"),
    ],
)
def test_calls_that_are_unusual_are_right_or_an_error(
    mpi, preload, fabric, memory, by_kernel, mode
):
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_RMA_FABRIC": fabric,
        "NEARCACHE_RMA_PROCESS_MEMORY": by_kernel,
        "NEARCACHE_MODE": mode,
        "MALLOC_PERTURB_": "165",
    }
    result = launch.run(mpi, 3, "rma_edges", f"--{memory}", env=env).check()
    assert len(result.lines("ok")) >= 16
    assert result.output.count("its window was freed: rank") == 3


# The hosts go by TCP, where nothing moves while nobody calls them.
@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric, memory", [("socket", "created"), ("node", "allocated")])
def test_messages_of_the_host_move_while_a_program_waits_by_calls_on_windows(
    mpi, preload, fabric, memory
):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_RMA_FABRIC": fabric, "NEARCACHE_MODE": "off"}
    cases = (
        "messages_move_while_calls_in_a_passive_epoch_wait,messages_move_while_locks_and_tests_wait"
    )
    args = ("--only", cases, f"--{memory}")
    result = launch.run(mpi, 2, "rma_edges", *args, env=env, tcp=True).check()
    assert len(result.lines("ok")) == 2


@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric", ["socket", "node", "rdma"])
def test_large_transfers_in_epochs_of_every_kind(mpi, preload, fabric):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_RMA_FABRIC": fabric, "NEARCACHE_MODE": "off"}
    if fabric == "rdma":
        libfabric.skip_without(mpi)
        env.update(RDMA)
    result = launch.run(mpi, 3, "rma_large", "--except", "killed", env=env).check()
    assert len(result.lines("ok")) == 7
    assert len(READ.findall(result.output)) == (3 if fabric == "rdma" else 0)


@pytest.mark.one_mpi
@pytest.mark.parametrize("rdma", ["off", "auto"])
def test_software_reads_and_writes_memory_only_if_that_is_asked_for(mpi, preload, rdma):
    libfabric.skip_without(mpi)
    env = {**RDMA, "NEARCACHE_RMA_RDMA": rdma}
    result = launch.run(mpi, 2, "rma_large", "--only", "blocks", env=env).check()
    assert "uses libfabric's provider tcp" in result.output
    assert "the network has read" not in result.output


@pytest.mark.few_mpis
def test_memory_that_the_kernel_may_not_copy_is_reached_by_messages(mpi, preload):
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_RMA_FABRIC": "node",
        "NEARCACHE_RMA_PROCESS_MEMORY": "off",
        "NEARCACHE_MODE": "off",
        "NEARCACHE_VERBOSE": "2",
    }
    result = launch.run(mpi, 3, "rma", "--created", env=env).check()
    assert len(result.lines("ok")) == CASES
    assert "not use the RMA engine" not in result.output
    assert "this rank reaches the memory of 1 of 3 ranks" in result.output
    if hasattr(os, "pidfd_open"):
        assert "messages within its node use sockets" not in result.output


# Ranks 2 and 3 are started by a command, after another one.
APART = """#!/bin/sh
rank=${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}
[ "$rank" -lt 2 ] && exec {program} "$@"
exec {wrapper} sh -c '{first}; exec "$@"' sh {program} "$@"
"""


def run_apart(mpi, folder, wrapper, first, *arguments, **env):
    done = subprocess.run([*wrapper.split(), "true"], capture_output=True)
    if done.returncode != 0:
        pytest.skip(f"{wrapper} is not allowed here: {done.stderr}")
    script = folder / "apart"
    script.write_text(
        APART.format(program=mpi.binary("rma"), wrapper=wrapper, first=first), encoding="utf-8"
    )
    script.chmod(0o755)
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_RMA_INTERFACE": "lo",
        "NEARCACHE_MODE": "off",
        "NEARCACHE_VERBOSE": "2",
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "0",  # there are more ranks than cores
        **env,
    }
    return launch.run(mpi, 4, script, "--allocated", *arguments, env=env)


@pytest.mark.few_mpis
def test_ranks_of_two_nodes_use_memory_and_sockets_in_one_window(mpi, preload, tmp_path):
    result = run_apart(mpi, tmp_path, "unshare --uts", "hostname another").check()
    assert len(result.lines("ok")) == CASES
    assert "not use the RMA engine" not in result.output
    assert "this rank reaches the memory of 2 of 4 ranks" in result.output


@pytest.mark.few_mpis
def test_who_cannot_map_the_arena_goes_by_sockets(mpi, preload, tmp_path):
    result = run_apart(mpi, tmp_path, "env", "ulimit -v 8000000").check()
    assert len(result.lines("ok")) == CASES
    assert "shares no memory with others of its node: mmap of the arena" in result.output
    assert "this rank reaches the memory of 2 of 4 ranks" in result.output
    assert "this rank reaches the memory of 1 of 4 ranks" in result.output


@pytest.mark.one_mpi
def test_fabric_node_does_nothing_by_sockets(mpi, preload, tmp_path):
    # The host alone finds no errors of range.
    only = ("--only", "exclusive_locks_exclude")
    fabric = {"NEARCACHE_RMA_FABRIC": "node"}
    result = run_apart(mpi, tmp_path, "unshare --uts", "hostname another", *only, **fabric).check()
    assert "option rma_fabric=node: not all ranks share memory" in result.output
    assert "a window uses the RMA engine" not in result.output


@pytest.mark.few_mpis
@pytest.mark.parametrize("interface, done", [("lo", True), ("nothing0", False)])
def test_the_interface_is_the_one_that_is_asked_for(mpi, preload, interface, done):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_VERBOSE": "2", "NEARCACHE_RMA_INTERFACE": interface}
    result = launch.run(mpi, 2, "rma", "--only", "exclusive_locks_exclude", env=env).check()
    assert ("a window uses the RMA engine" in result.output) == done


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "fabric, provider, by_libfabric, done",
    [
        ("auto", "tcp", True, True),
        ("auto", "nothing", False, True),
        ("ofi", "nothing", False, False),
        # has endpoints without connections only, and takes 134 MiB a process
        ("ofi", "tcp;ofi_rxm", False, False),
        ("socket", "tcp", False, True),
    ],
)
def test_libfabric_is_used_by_the_provider_that_is_named_or_not_at_all(
    mpi, preload, fabric, provider, by_libfabric, done
):
    libfabric.skip_without(mpi)
    env = {
        **libfabric.ENV,
        "NEARCACHE_RMA_FABRIC": fabric,
        "NEARCACHE_RMA_PROVIDER": provider,
    }
    result = launch.run(mpi, 2, "rma", "--only", "exclusive_locks_exclude", env=env).check()
    assert ("uses libfabric's provider tcp" in result.output) == by_libfabric
    assert ("a window uses the RMA engine" in result.output) == done


@pytest.mark.few_mpis
def test_auto_leaves_windows_of_one_node_to_the_host(mpi, preload):
    result = launch.run(
        mpi,
        2,
        "rma",
        "--only",
        "exclusive_locks_exclude",
        env={"NEARCACHE_RMA": "auto", "NEARCACHE_VERBOSE": "2"},
    ).check()
    assert "a window does not use the RMA engine: its ranks are on one node" in result.output


@pytest.mark.few_mpis
@pytest.mark.parametrize("mode", ["off", "transparent"])
def test_threads_that_make_first_windows_at_once_set_the_engine_up_together(mpi, preload, mode):
    result = launch.run(
        mpi,
        3,
        "rma_first",
        "--only",
        "of_threads",
        env={"NEARCACHE_RMA": "on", "NEARCACHE_MODE": mode, "NEARCACHE_VERBOSE": "2"},
        timeout=60,
    )
    check_with_threads(result)
    assert result.lines("ok") == ["ok of_threads"]
    assert "not use the RMA engine" not in result.output


@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric", ["socket", "node"])
def test_locks_of_threads_that_take_turns_are_in_the_order_of_their_calls(mpi, preload, fabric):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_RMA_FABRIC": fabric, "NEARCACHE_MODE": "off"}
    case = "locks_are_taken_in_the_order_of_their_calls"
    result = launch.run(mpi, 3, "rma", "--serialized", "--only", case, env=env, timeout=60)
    result.check()
    assert result.lines("ok"), result.output


@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric", ["socket", "node", "messages"])
def test_threads_use_windows_at_the_same_time(mpi, preload, fabric):
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_RMA_FABRIC": "socket" if fabric == "socket" else "node",
        "NEARCACHE_RMA_PROCESS_MEMORY": "off" if fabric == "messages" else "on",
        "NEARCACHE_MODE": "off",
        "NEARCACHE_VERBOSE": "2",
    }
    result = launch.run(mpi, 2, "rma_threads", env=env)
    check_with_threads(result)
    assert len(result.lines("ok")) == 6
    assert "not use the RMA engine" not in result.output


@pytest.mark.few_mpis
def test_of_the_engines_threads_one_at_a_time_makes_or_frees_a_window_of_the_host(mpi, preload):
    result = launch.run(
        mpi,
        2,
        "rma_first",
        "--only",
        "of_threads",
        below=[mpi.binary("libshim_mpi.so")],
        env={"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_VERBOSE": "2"},
    )
    check_with_threads(result)
    assert result.lines("ok") == ["ok of_threads"]
    assert "not use the RMA engine" not in result.output


@pytest.mark.one_mpi
@pytest.mark.slow
def test_ranks_that_have_given_up_a_late_one_make_its_window_by_the_host_with_it(mpi, preload):
    result = launch.run(
        mpi,
        3,
        "rma_first",
        "--only",
        "with_a_late_rank",
        env={"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_VERBOSE": "2"},
        timeout=60,
    )
    result.check()
    assert result.lines("ok") == ["ok with_a_late_rank"]
    assert (
        result.output.count("a window does not use the RMA engine: another rank does not answer")
        == 3
    )
    assert (
        result.output.count("a window does not use the RMA engine: one of its ranks was late") >= 3
    )
    assert "pending" not in result.output  # what MPICH says of requests that nobody has completed
    # the last window, and the hidden one, whose communicator nobody was late for
    assert result.output.count("a window uses the RMA engine") == 2 * 3


@pytest.mark.few_mpis
def test_ranks_with_another_version_or_byte_order_are_refused(mpi, preload):
    words = ["--only", "with_another_engine"]
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_VERBOSE": "2"}
    shim = [mpi.binary("libshim_mpi.so")]
    result = launch.run(mpi, 3, "rma_first", *words, below=shim, env=env)
    check_with_threads(result)
    assert result.lines("ok") == ["ok with_another_engine"]
    # the hidden window, whose communicator is another one: the shim distorts once
    assert result.output.count("a window uses the RMA engine") == 3
    why = "rank 1 of its communicator has another version, byte order or word size"
    assert result.output.count(f"a window does not use the RMA engine: {why}") >= 6
    assert result.output.count(f"rma: windows are left to MPI: {why}") == 1


@pytest.mark.one_mpi
@pytest.mark.slow
def test_ranks_that_are_stopped_together_are_not_late(mpi, preload):
    words = ["--only", "of_a_job_that_is_stopped"]
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_VERBOSE": "2"}
    result = launch.run(mpi, 2, "rma_first", *words, env=env, timeout=60).check()
    assert result.lines("ok") == ["ok of_a_job_that_is_stopped"]
    assert "does not answer" not in result.output
    assert "not use the RMA engine" not in result.output


@pytest.mark.few_mpis
@pytest.mark.slow
def test_a_thousand_windows_leave_nothing_behind(mpi, preload):
    words = ["--only", "many_windows", *([6000] if launch.LONG else [])]
    result = launch.run(mpi, 3, "rma_job", *words, env={"NEARCACHE_RMA": "on"}, timeout=300).check()
    assert result.lines("ok") == ["ok many_windows"]


@pytest.mark.one_mpi
@pytest.mark.slow
def test_sixty_four_ranks_of_one_machine(mpi, preload):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_VERBOSE": "2"}
    result = launch.run(mpi, 64, "rma_job", "--only", "of_many_ranks", env=env).check()
    assert result.lines("ok") == ["ok of_many_ranks"]
    assert "not use the RMA engine" not in result.output


# The network needs 4 of them, the agent 3 more; in a node a bell and a process of each rank.
@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "fabric, descriptors",
    [*(("socket", few) for few in (2, 5, 12)), *(("auto", few) for few in (5, 8, 9, 10, 11, 13))],
)
def test_a_rank_that_has_too_few_descriptors_holds_up_nobody(mpi, preload, fabric, descriptors):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_RMA_FABRIC": fabric}
    words = ["--only", "with_few_descriptors", str(descriptors)]
    result = launch.run(mpi, 3, "rma_job", *words, env=env, timeout=60).check()
    assert result.lines("ok") == ["ok with_few_descriptors"]


# Whose launcher does not see that a rank has died before rank 2 has said what came of it: Hydra may
# end the others, whatever it was told.
HIDING = """#!/bin/sh
{program} "$@" >"{folder}/said.$PMI_RANK" 2>&1
for turn in $(seq 100); do
    grep -q killed "{folder}/said.2" && exit
    sleep 0.3
done
"""


# With a cache, hidden windows have errors, too, which are not the program's.
@pytest.mark.one_mpi
@pytest.mark.parametrize("fabric, mode", [("auto", "off"), ("socket", "off"), ("auto", "coherent")])
def test_a_rank_that_is_killed_with_a_lock_loses_it_and_is_named(
    mpi, preload, tmp_path, fabric, mode
):
    if mpi.family != "mpich":
        pytest.skip("ranks know their number by PMI_RANK")
    env = {
        "NEARCACHE_RMA": "on",
        "NEARCACHE_MODE": mode,
        "NEARCACHE_QUIET_AFTER": "0",
        "NEARCACHE_RMA_FABRIC": fabric,
    }
    words = ("--only", "killed_with_a_lock")
    script = tmp_path / "hiding"
    script.write_text(
        HIDING.format(program=mpi.binary("rma_job"), folder=tmp_path), encoding="utf-8"
    )
    script.chmod(0o755)
    result = launch.run(mpi, 3, script, *words, env=env, timeout=60)
    said = (tmp_path / "said.2").read_text(encoding="utf-8")
    assert not result.timed_out
    assert "ok killed_with_a_lock\n" in said, said
    assert "one-sided communication failed: rank 1 is gone" in said
    result = launch.run(mpi, 3, "rma_job", *words, env=env, timeout=60)  # as users start it
    assert not result.timed_out
    assert result.code != 0 or "rank 1 is gone" in result.output


@pytest.mark.one_mpi
def test_a_fence_that_ends_because_of_a_killed_rank_gives_buffers_back(mpi, preload, tmp_path):
    if mpi.family != "mpich":
        pytest.skip("ranks know their number by PMI_RANK")
    script = tmp_path / "hiding"
    script.write_text(
        HIDING.format(program=mpi.binary("rma_job"), folder=tmp_path), encoding="utf-8"
    )
    script.chmod(0o755)
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "off", "NEARCACHE_RMA_FABRIC": "socket"}
    result = launch.run(mpi, 3, script, "--only", "killed_in_a_fence", env=env, timeout=60)
    said = (tmp_path / "said.2").read_text(encoding="utf-8")
    assert not result.timed_out
    assert "ok killed_in_a_fence\n" in said, said
    assert "one-sided communication failed: rank 1 is gone" in said


@pytest.mark.one_mpi
def test_who_reads_memory_of_a_rank_that_is_killed_is_told(mpi, preload, tmp_path):
    if mpi.family != "mpich":
        pytest.skip("ranks know their number by PMI_RANK")
    libfabric.skip_without(mpi)
    script = tmp_path / "hiding"
    script.write_text(
        HIDING.format(program=mpi.binary("rma_large"), folder=tmp_path), encoding="utf-8"
    )
    script.chmod(0o755)
    env = {**RDMA, "NEARCACHE_MODE": "off"}
    result = launch.run(mpi, 3, script, "--only", "killed", env=env, timeout=60)
    said = (tmp_path / "said.2").read_text(encoding="utf-8")
    assert not result.timed_out
    assert "ok killed\n" in said, said
    assert "one-sided communication failed: rank 1 is gone" in said


@pytest.mark.few_mpis
@pytest.mark.parametrize("fabric", ["socket", "node"])
def test_ranks_that_only_hit_let_a_third_one_finish(mpi, preload, fabric):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_RMA_FABRIC": fabric, "NEARCACHE_MODE": "always"}
    launch.run(mpi, 3, "progress", env=env).check()


def with_a_window(declarations, work):
    """Return a program of two ranks that does some work while it has locked a window of longs."""
    return (
        r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank;
  long *memory;
  MPI_Win win;
  """
        + declarations
        + r"""
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(8000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  """
        + work
        + r"""
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}"""
    )


def for_50_ms(reads):
    """Return work that repeats some reads of rank 0 from rank 1."""
    return f"""began = MPI_Wtime();
  do {{
    for (int i = 0; rank == 0 && i < 1000; ++i) {{
      {reads}
    }}
    took = MPI_Wtime() - began;
  }} while (rank == 0 && took < 0.05);"""


ONLY_HITS = with_a_window(
    "long word; double began, took;",
    for_50_ms("MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); MPI_Win_flush(1, win);")
    + r"""
  if (rank == 0) printf("took %ld us\n", (long)(took * 1e6));""",
)


@pytest.mark.few_mpis
def test_hits_leave_progress_to_the_agent(mpi, preload, tmp_path):
    """They call the host for its messages only, every 100 us instead of every 4 to 10."""
    report = tmp_path / "report.json"
    program = compiled(tmp_path, "only_hits", ONLY_HITS, mpi.wrapper)
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "always", "NEARCACHE_REPORT": report}
    result = launch.run(mpi, 2, program, env={**env, "NEARCACHE_RMA_FABRIC": "socket"}).check()
    took = int(re.search(r"took (\d+) us", result.output)[1])
    calls = json.loads(report.read_text(encoding="utf-8"))["totals"]["progress_calls"]
    assert 0 < calls <= took / 100 + 2


ONLY_WAITS = with_a_window(
    """long word, tests, (*calls)(const char *) = (long (*)(const char *))dlsym(RTLD_DEFAULT, "shim_calls");
  double began, took;
  MPI_Request request;""",
    'tests = calls("MPI_Test");\n  '
    + for_50_ms(
        "MPI_Rget(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win, &request); MPI_Wait(&request, MPI_STATUS_IGNORE);"
    )
    + r"""
  if (rank == 0) printf("took %ld us and %ld tests\n", (long)(took * 1e6), calls("MPI_Test") - tests);""",
)


@pytest.mark.few_mpis
def test_waits_for_served_rgets_leave_progress_to_the_agent(mpi, preload, tmp_path):
    program = compiled(tmp_path, "only_waits", ONLY_WAITS, mpi.wrapper)
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "always", "NEARCACHE_RMA_FABRIC": "socket"}
    result = launch.run(mpi, 2, program, env=env, below=[mpi.binary("libshim_mpi.so")]).check()
    took, tests = map(int, re.search(r"took (\d+) us and (\d+) tests", result.output).groups())
    assert 0 < tests <= took / 100 + 2


ASKS_AND_LOOKS = with_a_window(
    "const long one = 1; double began;",
    r"""*(volatile long *)memory = 0;
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Accumulate(&one, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, MPI_REPLACE, win);
  began = MPI_Wtime();
  while (*(volatile long *)memory == 0 && MPI_Wtime() - began < 10) MPI_Win_flush(rank, win);
  printf("%s\n", *(volatile long *)memory == 1 ? "it came" : "nothing came");""",
)


@pytest.mark.few_mpis
def test_flushes_that_the_cache_answers_send_what_was_asked_of_others(mpi, preload, tmp_path):
    program = compiled(tmp_path, "asks_and_looks", ASKS_AND_LOOKS, mpi.wrapper)
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "always", "NEARCACHE_RMA_FABRIC": "socket"}
    result = launch.run(mpi, 2, program, env=env).check()
    assert result.output.count("it came") == 2, result.output


TOLD_BY_A_WORD = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static long put(MPI_Win win, long word) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
  return MPI_Win_unlock(1, win);
}
int main(int argc, char **argv) {
  int rank;
  long *memory, *words, word;
  MPI_Win win, other;
  MPI_Info off;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info_create(&off);
  MPI_Info_set(off, "nearcache_mode", "off");
  MPI_Win_allocate(80, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_allocate(80, 8, off, MPI_COMM_WORLD, &words, &other);
  MPI_Info_free(&off);
  *(volatile long *)words = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int turn = 0; turn < 3; ++turn) {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
      MPI_Win_unlock(1, win);
    }
    for (int turn = 0; turn < 200; ++turn) put(other, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Get(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    put(other, 1);
    usleep(100000);
    MPI_Get(&word, 1, MPI_LONG, 1, 5, 1, MPI_LONG, win);
    put(other, 2);
    MPI_Win_unlock(1, win);
  } else {
    while (*(volatile long *)words == 0) usleep(10);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    printf("told %ld\n", *(volatile long *)words);
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&other);
  MPI_Win_free(&win);
  MPI_Finalize();
  return 0;
}"""


@pytest.mark.few_mpis
def test_a_word_put_under_a_lock_tells_of_it(mpi, preload, tmp_path):
    """A lock of a cached window goes down before a put to another window, whichever way that takes."""
    program = compiled(tmp_path, "told", TOLD_BY_A_WORD, mpi.wrapper)
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_MODE": "always"}
    assert "told 2" in launch.run(mpi, 2, program, env=env).check().output


@pytest.mark.few_mpis
def test_older_windows_leave_device_memory_alone_where_the_engine_finds_it_first(mpi, preload):
    case = "device_memory_is_left_to_mpi"
    result = launch.run(mpi, 2, "edges", "--only", case, env={"NEARCACHE_RMA": "on"}).check()
    assert result.lines("ok"), result.output


@pytest.mark.few_mpis
def test_a_window_without_communicator_is_one_error(mpi, preload):
    case = "window_that_is_refused_is_left_alone"
    launch.run(mpi, 2, "edges", "--only", case, env={"NEARCACHE_RMA": "on"}).check()


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "program, case",
    [
        ("edges", "rget_buffer_reused_after_another_was_freed"),
        ("threads", "buffers_change_after_waits_for_one_handle"),
    ],
)
def test_requests_that_are_complete_at_once_have_one_handle(mpi, preload, program, case):
    launch.run(mpi, 2, program, "--only", case, env={"NEARCACHE_RMA": "on"}).check()
