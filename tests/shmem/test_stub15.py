"""Every call of OpenSHMEM 1.6 through Nearcache, against a library that records what reaches it."""

import os

import pytest
from support import launch

FOLDER = launch.BUILD / "stub15"


@pytest.mark.parametrize("mode", ["on", "off"])
def test_every_call_arrives_with_its_arguments_after_what_must_come_before(mode):
    program, preload = FOLDER / "stub15_calls", FOLDER / "libnearcache_shmem.so"
    if not program.exists() or not preload.exists():
        pytest.skip(f"{program} is not built")
    env = {**os.environ, "LD_PRELOAD": str(preload), "NEARCACHE_SHMEM": mode}
    result = launch.execute([str(program), mode], 60, env).check()
    count = int(result.lines("ok")[0].split()[1])
    assert count > 1750  # of some 1,850 functions; the rest are set-up and queries


def test_stub_is_seen_without_nearcache_as_well():
    """The program's own expectations fail where nothing writes back: else it could not fail at all."""
    program = FOLDER / "stub15_calls"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    assert launch.execute([str(program), "off"], 60, env).code == 0
    result = launch.execute([str(program), "on"], 60, env)
    assert result.code == 1 and len(result.lines("FAILED")) > 100


ORDER = [
    "polling_through_one_context_starts_all",
    "polling_through_a_teams_context_starts_all",
    "polling_through_an_unknown_context_starts_all",
    "polling_through_an_uncached_context_starts_all",
    "polling_of_an_uncached_range_starts_all",
    "reads_of_many_words_start_all",
    "polling_by_non_blocking_gets_starts_all",
    "polling_of_two_words_by_non_blocking_gets_starts_all",
    "polling_by_strided_gets_starts_all",
    "spinning_on_non_blocking_atomics_starts_all",
    "a_flag_after_any_call_that_orders_goes_at_once",
    "a_flag_after_a_quiet_of_the_only_context_goes_at_once",
    "only_the_first_word_goes_at_once",
    "the_end_of_a_teams_context_acquires",
    "the_end_of_an_unknown_context_acquires",
    "more_contexts_than_are_known",
    "a_relaxed_atomic_is_seen_through_other_contexts",
    "a_relaxed_atomic_through_an_unknown_context_acquires",
    "a_forked_child_writes_nothing_back",
    "releases_complete_what_was_written",
    "releases_start_what_was_written_through_other_contexts",
    "a_context_that_goes_completes_what_was_written",
    "a_quiet_after_a_non_blocking_get_acquires",
    "what_was_put_past_the_cache_has_arrived_when_a_lock_goes",
    "a_quiet_goes_down_though_nothing_was_written",
    "what_was_fetched_ahead_is_here_after_a_quiet",
    "a_range_becomes_uncached",
    "a_put_to_an_uncached_range_goes_at_once",
    "what_follows_a_put_with_a_used_signal_is_ordered_behind_it",
]
TEAMS = [
    "what_goes_through_a_teams_context_is_cached",
    "a_relaxed_atomic_is_seen_through_other_teams",
    "an_atomic_at_a_pe_outside_of_a_team_leaves_it_alone",
    "pes_that_a_team_has_not_are_left_to_the_library",
    "a_team_that_is_not_told_is_passed_on",
    "a_team_that_goes_completes_what_was_written",
]
HINTED = [
    "hinted_blocks_are_cached_by_themselves",
    "a_hinted_block_that_grows_stays_apart",
    "a_hinted_block_that_is_freed_is_cached_no_more",
]
SINCE16 = [
    "blocks_are_ordered_to_their_last_element",
    "no_blocks_touch_nothing",
    "ends_within_others_are_barriers",
    "an_unknown_call_comes_after_what_was_written",
    "an_unknown_call_acquires",
    "what_an_unknown_call_put_is_complete_before_there_is_a_cache",
    "an_unknown_call_may_not_be_complete",
]
THREADS = [
    "a_signal_without_data_has_its_context_for_itself",
    "the_end_completes_private_contexts_of_other_threads",
]
CASES = [
    *HINTED,
    *ORDER,
    *SINCE16,
    *TEAMS,
    *THREADS,
    "a_get_after_a_fetching_atomic_pays_no_quiet",
    "a_put_before_a_fetching_atomic_is_ordered",
    "ordered_atomics_acquire_and_start_write_back",
    "unordered_calls_cost_the_cache_nothing",
    "unordered_atomics_drop_what_they_change",
    "spinning_on_unordered_atomics_starts_write_back",
    "caching_is_said_before_the_first_access_and_holds",
]
CHEAP_IS_CACHED = ["own_memory_is_never_cached", "own_memory_in_a_team_is_never_cached"]
MODELLED = [
    "own_memory_in_a_team_is_near_in_a_model",
    "pointers_into_other_pes_are_null_in_a_model",
]
CHECKED = {
    "old_data_after_the_end_of_a_team": "shmem_team_destroy",
    "old_data_after_an_inner_finalize": "shmem_finalize",
}
UNCACHED = ["caching_is_denied_where_there_is_no_memory_for_it"]


def run_case(name, **variables):
    program, preload = FOLDER / "stub15_cases", FOLDER / "libnearcache_shmem.so"
    if not program.exists() or not preload.exists():
        pytest.skip(f"{program} is not built")
    return launch.execute(
        [str(program), name], 60, {**os.environ, "LD_PRELOAD": str(preload), **variables}
    )


def test_every_case_is_run():
    assert sorted(run_case("list").check().output.split()) == sorted(
        [*CASES, *CHEAP_IS_CACHED, *MODELLED, *CHECKED, *UNCACHED]
    )


@pytest.mark.parametrize("name", CASES)
def test_what_reaches_the_library(name):
    run_case(name).check()


@pytest.mark.parametrize("name", CHEAP_IS_CACHED)
def test_where_pes_that_are_near_are_cached(name):
    run_case(name, NEARCACHE_SKIP_CHEAP="0").check()


@pytest.mark.parametrize("name", MODELLED)
def test_where_another_pe_is_a_second_away(name):
    run_case(name, NEARCACHE_MODEL="1e9,0").check()


@pytest.mark.parametrize("name", CHECKED)
def test_the_last_acquire_is_named(name):
    output = run_case(name, NEARCACHE_SHMEM_CHECK="1").check().output
    assert f"; the last acquire was {CHECKED[name]};" in output


@pytest.mark.parametrize("name", UNCACHED)
def test_where_no_cache_can_be_made(name):
    result = run_case(name, NEARCACHE_MAX_STORAGE="256K").check()
    assert "no memory for a cache within max_storage" in result.output
