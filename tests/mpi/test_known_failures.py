"""What the published prototype gets wrong, and what else could go wrong with single gets."""

import pytest
from support import launch, runs

# Rows about the flush of one rank among several need a third rank; more ranks than cores are slow elsewhere.
THREE_RANKS = "flush_all_completes,flush_of_one_rank_completes_only_its_gets,longer_get_after_flush_of_other_rank"


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_known_failures_of_the_prototype(mpi, preload, layer):
    cycles = 10000 if launch.LONG else 200
    runs.run(mpi, layer, 2, "known_failures", "--cycles", cycles)


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_flush_of_one_rank_completes_only_its_gets(mpi, preload, layer):
    runs.run(mpi, layer, 3, "known_failures", "--only", THREE_RANKS)


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_edges(mpi, preload, layer):
    # The functions of MPICH 5's standard ABI read arguments before they check them.
    checked = layer == "cached" and mpi.family != "abi"
    left_out = [] if checked else ["--except", "wrong_arguments_are_errors"]
    runs.run(mpi, layer, 2, "edges", *left_out)


@pytest.mark.parametrize("threads", [True, False], ids=["threads", "single"])
def test_calls_that_fail_and_syncs_that_are_overtaken(mpi, preload, threads):
    # the last one is test_coherent.py's
    words = ["--except", "memory_of_two_windows_is_not_kept_before_the_second_is_made"]
    result = runs.run(mpi, "shim", 2, "faults", *words, *([] if threads else ["--single"]))
    assert len(result.lines("ok")) >= 8


@pytest.mark.few_mpis
def test_many_window_cycles_leak_nothing(mpi, preload):
    if mpi.family != "mpich":
        pytest.skip("the other MPIs' windows take milliseconds each; they run 200 cycles")
    runs.run(
        mpi,
        "cached",
        2,
        "known_failures",
        "--cycles",
        10000 if launch.LONG else 2000,
        "--only",
        "window_cycles_leak_nothing",
        timeout=600,
    )
