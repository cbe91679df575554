"""Quiet phases of mode transparent, and shared locks that need not go down: phases.cpp."""

import pytest
from support import runs

# At once, and for as long as a starved run may take.
QUIET = {"NEARCACHE_QUIET_AFTER": "0", "NEARCACHE_LONGEST_AGE": "3600s"}
AGE = "nothing_is_older_than_the_longest_age"
SESSION = "threads_that_come_by_a_session"  # and stay


@pytest.mark.parametrize("layer", runs.LAYERS)
@pytest.mark.parametrize(
    "strict",
    [
        pytest.param(False, id="quiet"),
        pytest.param(True, id="strict", marks=pytest.mark.few_mpis),
    ],
)
def test_every_case(mpi, preload, layer, strict):
    runs.run(
        mpi,
        layer,
        3,
        "phases",
        "--except",
        ",".join([AGE, SESSION, *IN_ORDER]),
        env=dict(QUIET, **({"NEARCACHE_STRICT_FLUSH": "1"} if strict else {})),
    )


LOCKS = [
    "kept_across_locks",
    "after_an_exclusive_epoch",
    "after_a_store_under_an_exclusive_lock",
    "exclusive_epoch_before_a_miss",
    "exclusive_epoch_before_the_unlock",
    "a_flush_takes_the_lock",
    "a_put_takes_the_lock",
    "many_gets_in_one_epoch",
]


# Locks that go down late, and in their order. (Those of the lazy MPI come later by themselves.)
IN_ORDER = [
    "locks_of_two_targets_in_one_order",
    "locks_of_two_windows_in_one_order",
    "an_exclusive_lock_after_a_shared_one",
    "a_message_under_a_lock",
    "a_reduction_under_a_lock",
    "a_fence_under_a_lock",
    "a_put_under_a_lock",
    "an_unlock_under_a_lock",
]


# Calls that are acquires in quiet phases, of windows whose calls are not noted, too.
ACQUIRES = [
    "own_fetch_acquires",
    "fetch_of_a_pause_acquires_by_flush",
    "fetch_of_a_pause_acquires_by_flush_all",
    "puts_by_another_window",
    "puts_by_another_window_that_is_off",
]


# Calls of a pause, which go straight to memory if the engine is there.
PAUSES = [
    "fetches_of_a_pause_beside_a_cache_that_pauses",
    "fetches_of_a_pause_beside_a_cache_in_turn",
    "fetches_of_a_pause_beside_a_cache",
    "fetches_of_a_pause_beside_a_late_cache",
    "put_after_many_gets_of_the_own_rank",
    "gets_of_an_earlier_pause",
    "exclusive_lock_of_a_pause",
    "shared_lock_of_a_pause",
]


@pytest.mark.few_mpis
@pytest.mark.parametrize("mode", ["transparent", "coherent"])
def test_pauses_above_the_engine(mpi, preload, mode):
    env = dict(QUIET, NEARCACHE_RMA="on", NEARCACHE_MODE=mode)
    runs.run(mpi, "cached", 3, "phases", "--only", ",".join(PAUSES + ACQUIRES), env=env)


@pytest.mark.few_mpis
@pytest.mark.parametrize("case", LOCKS + ACQUIRES)
def test_locks_and_acquires_of_programs_with_threads(mpi, preload, case):
    # One case each: with threads no phase follows the first in which somebody wrote.
    runs.run(mpi, "cached", 3, "phases", "--threads", "--only", case, env=QUIET)


@pytest.mark.parametrize("case", IN_ORDER)
def test_locks_that_go_down_late_keep_their_order(mpi, preload, case):
    """Else two ranks that take the same locks in the same order may wait for each other for ever."""
    runs.run(mpi, "cached", 3, "phases", "--only", case, env=QUIET, timeout=60)


@pytest.mark.few_mpis
@pytest.mark.parametrize("case", [*IN_ORDER, "another_threads_lock_is_not_waited_for"])
def test_locks_of_a_thread_that_go_down_late_keep_their_order(mpi, preload, case):
    words = ["--threads", "--only", case]
    runs.run(mpi, "cached", 3, "phases", *words, env=QUIET, timeout=60)


@pytest.mark.few_mpis
def test_an_unlock_that_failed_does_its_work_when_it_is_tried_again(mpi, preload):
    cases = [f"exclusive_epoch_before_an_unlock_whose_{call}_fails" for call in ("flush", "get")]
    runs.run(mpi, "shim", 3, "phases", "--only", ",".join(cases), env=QUIET)


@pytest.mark.few_mpis
def test_locks_go_down_at_once_where_gets_bypass_the_cache(mpi, preload):
    env = dict(QUIET, NEARCACHE_MAX_GET="64")
    result = runs.run(
        mpi, "shim", 3, "phases", "--only", "locks_where_gets_bypass", env=env, timeout=60
    )
    assert len(result.lines("ok")) == 1, result.output


REFUSED = [f"late_lock_is_refused_to_{what}" for what in ("a_put", "a_get", "an_rget", "a_flush")]
REFUSED += ["late_lock_is_refused_at_a_message", "get_under_a_late_lock_is_refused_in_part"]


@pytest.mark.few_mpis
def test_a_lock_that_mpi_refuses_late_is_not_taken(mpi, preload):
    result = runs.run(mpi, "shim", 3, "phases", "--only", ",".join(REFUSED), env=QUIET)
    assert len(result.lines("ok")) == len(REFUSED), result.output


@pytest.mark.few_mpis
def test_a_rank_whose_window_could_not_be_noted_tells_of_its_writes(mpi, preload):
    case = "writer_whose_window_is_unknown"
    result = runs.run(mpi, "shim", 3, "phases", "--only", case, env=QUIET)
    assert len(result.lines("ok")) == 1, result.output


@pytest.mark.few_mpis
def test_locks_of_a_window_without_room_for_a_cache(mpi, preload):
    small = {"NEARCACHE_INDEX": 16, "NEARCACHE_MAX_STORAGE": "512k"}
    runs.run(mpi, "lazy", 3, "phases", "--only", "locks_of_two_targets", env=dict(QUIET, **small))


@pytest.mark.parametrize(
    "case", ["phases_that_bring_nothing", "phases_that_bring_nothing_and_free_windows"]
)
def test_phases_that_bring_nothing(mpi, preload, case):
    env = dict(QUIET, NEARCACHE_QUIET_AFTER="16")
    runs.run(mpi, "cached", 3, "phases", "--only", case, env=env)


def test_few_ranks_are_asked_soon(mpi, preload):
    env = dict(QUIET, NEARCACHE_QUIET_AFTER="64")
    runs.run(mpi, "cached", 3, "phases", "--only", "few_ranks_are_asked_soon", env=env)


def test_a_rank_whose_init_went_past_nearcache_counts_phases(mpi, preload):
    """A tool in front of Nearcache calls PMPI_Init, and a rank has its first window later than others."""
    case = "writer_that_had_no_window"
    runs.run(mpi, "cached", 3, "phases", "--hidden-init", "--only", case, env=QUIET)


@pytest.mark.parametrize("tcp", [False, True])
def test_the_first_communicator_of_the_ranks_is_gone(mpi, preload, tcp):
    case = "the_first_communicator_is_gone"
    runs.run(mpi, "cached", 3, "phases", "--only", case, env=QUIET, tcp=tcp)


@pytest.mark.few_mpis
def test_threads_that_come_by_a_session(mpi, preload):
    runs.run(mpi, "cached", 3, "phases", "--only", SESSION, env=QUIET)


def test_longest_age(mpi, preload):
    runs.run(mpi, "cached", 3, "phases", "--only", AGE, env=dict(QUIET, NEARCACHE_LONGEST_AGE="2s"))
