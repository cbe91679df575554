"""Mode coherent: coherent.cpp."""

import pytest
from support import host_defects, launch, runs

# At once, and for as long as a starved run may take.
COHERENT = {"NEARCACHE_QUIET_AFTER": "1", "NEARCACHE_LONGEST_AGE": "3600s"}


# Hundreds of windows and steps, more than half of the whole time. What they show depends neither on the MPI nor on threads or flushes:
# one run of each family has them, and all under --long.
LARGE = "made_and_freed,more_windows_than_slots,a_reader_that_reads_no_more"
WITHOUT_LARGE = () if launch.LONG else ("--except", LARGE)


def keeps(mpi):
    """An MPI without quiet phases has no kept hits, and must be right all the same."""
    return () if host_defects.without_quiet_phases(mpi) else ("--kept",)


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_every_case(mpi, preload, layer):
    whole = layer == "cached" and mpi in launch.newest_of_each_family(launch.mpis())
    large = () if whole else WITHOUT_LARGE
    runs.run(mpi, layer, 3, "coherent", *keeps(mpi), *large, env=COHERENT, timeout=300)


@pytest.mark.few_mpis
def test_of_programs_with_threads_nothing_is_kept(mpi, preload):
    words = ("--threads", *WITHOUT_LARGE)
    runs.run(mpi, "cached", 3, "coherent", *words, env=COHERENT, timeout=300)


@pytest.mark.few_mpis
def test_no_writer_waits_for_an_owner_that_makes_no_calls(mpi, preload):
    words = (*keeps(mpi), "--only", "an_owner_that_makes_no_calls")
    runs.run(mpi, "shim", 3, "coherent", *words, env=COHERENT)


# Where earlier cases have read, everybody is told already.
ALONE = ["told_of_nothing_under_a_lock", "put_in_a_pscw_epoch_of_a_pause"]


@pytest.mark.few_mpis
@pytest.mark.parametrize("case", ALONE)
def test_before_anybody_has_read(mpi, preload, case):
    runs.run(mpi, "cached", 3, "coherent", *keeps(mpi), "--only", case, env=COHERENT)


@pytest.mark.few_mpis
def test_pauses_above_the_engine(mpi, preload):
    """Its calls go straight to memory."""
    env = dict(COHERENT, NEARCACHE_RMA="on")
    cases = "flushed_in_a_pause,all_flushed_in_a_pause,put_in_a_pscw_epoch_of_a_pause"
    runs.run(mpi, "cached", 3, "coherent", *keeps(mpi), "--only", cases, env=env, timeout=300)


@pytest.mark.few_mpis
def test_memory_of_two_windows(mpi, preload):
    if not keeps(mpi):
        pytest.skip("with this MPI nothing is kept")
    words = ("--single", "--only", "memory_of_two_windows_is_not_kept_before_the_second_is_made")
    runs.run(mpi, "shim", 2, "faults", *words, env=COHERENT)


@pytest.mark.few_mpis
def test_strict_flush(mpi, preload):
    env = dict(COHERENT, NEARCACHE_STRICT_FLUSH="1")
    runs.run(mpi, "cached", 3, "coherent", *WITHOUT_LARGE, env=env, timeout=300)


@pytest.mark.few_mpis
def test_lines_where_others_write(mpi, preload):
    """Gets over shared memory are too cheap for lines, unless cheap ones are not skipped."""
    env = dict(COHERENT, NEARCACHE_SKIP_CHEAP="false")
    runs.run(mpi, "cached", 3, "coherent", "--only", "neighbour_of_a_get_in_flight", env=env)


@pytest.mark.long
@pytest.mark.few_mpis
def test_over_the_network(mpi, preload):
    runs.run(
        mpi,
        "cached",
        3,
        "coherent",
        *keeps(mpi),
        "--except",
        "more_windows_than_slots",
        env=COHERENT,
        tcp=True,
        timeout=300,
    )
