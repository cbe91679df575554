"""Jobs of several programs, spawned ones, sessions, late threads, forks, ends: world.cpp."""

import json
import os
import re
import subprocess

import pytest
from support import host_defects, launch, programs


def hits(result, what):
    """Hits by rank, of all lines of `what`."""
    return [
        int(found)
        for _, found in sorted(
            re.findall(rf"^ok {what} rank (\d+) hits (\d+)", result.output, re.M)
        )
    ]


def only_first_ones_miss(result, what, ranks, rounds=10):
    """Each of 16 words was read so many times: a miss brings one word or several."""
    found = hits(result, what)
    return len(found) == ranks and all(16 * (rounds - 1) <= each < 16 * rounds for each in found)


def two_programs(mpi, way, env=None, timeout=60, other=None):
    """Rank 0 with Nearcache and `env`; rank 1 without, or with it and the environment `other`."""
    binary = str(mpi.binary("world"))
    first = ["env", *launch.rank_environment(mpi, True, (), (), env, False), binary, way]
    with_it = other is not None
    second = ["env", *launch.rank_environment(mpi, with_it, (), (), other, False), binary, way]
    surroundings = {**os.environ, **launch.launcher_variables()}
    return launch.execute(
        [*launch.launcher(mpi, 1), *first, ":", "-n", "1", *second], timeout, surroundings
    )


def spawning(mpi, ranks, way, env=None):
    """A run of a way that spawns a job; skips the test where the host alone cannot."""
    result = launch.run_spawning(mpi, ranks, "world", way, env=env)
    if result.code != 0 and launch.run_spawning(mpi, ranks, "world", way, preload=False).code != 0:
        pytest.skip("this MPI cannot spawn here")
    return result


@pytest.mark.few_mpis
def test_a_rank_without_nearcache_is_not_waited_for_in_init(mpi, preload):
    result = two_programs(mpi, "nothing", timeout=30).check()
    assert hits(result, "nothing") == [0, 0]


@pytest.mark.few_mpis
def test_a_window_with_a_rank_without_nearcache_is_left_alone_and_said_so(mpi, preload, tmp_path):
    result = two_programs(
        mpi, "window", {"NEARCACHE_REPORT": str(tmp_path / "report.json")}
    ).check()
    assert hits(result, "window") == [0, 0]
    assert "rank 0: another rank of this job does not answer" in result.output
    assert "no report is written" in result.output and not (tmp_path / "report.json").exists()


@pytest.mark.few_mpis
def test_a_report_is_written_if_rank_0_alone_wants_it(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    result = two_programs(mpi, "window", {"NEARCACHE_REPORT": str(report)}, other={}).check()
    assert only_first_ones_miss(result, "window", 2)
    counters = json.loads(report.read_text())["totals"]
    assert counters["hits_full"] == sum(hits(result, "window"))


@pytest.mark.few_mpis
def test_no_rank_waits_for_a_report_that_rank_0_does_not_want(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    result = two_programs(mpi, "window", {}, other={"NEARCACHE_REPORT": str(report)}).check()
    assert only_first_ones_miss(result, "window", 2) and not report.exists()
    assert "rank 1 has option report, and rank 0 has not" in result.output


@pytest.mark.few_mpis
@pytest.mark.slow
def test_a_rank_that_comes_late_leaves_alone_what_the_others_do(mpi, preload, tmp_path):
    """It is stopped for 11 s just when the others wait for it."""
    report = tmp_path / "report.json"
    below, env = [mpi.binary("libshim_mpi.so")], {"NEARCACHE_REPORT": str(report)}
    result = launch.run(mpi, 2, "world", "late", below=below, env=env, timeout=60).check()
    assert "rank 0: another rank of this job does not answer" in result.output
    assert only_first_ones_miss(result, "late", 2)
    assert json.loads(report.read_text())["ranks"] == 2


def test_a_communicator_beyond_the_own_world_is_left_alone(mpi, preload):
    result = spawning(mpi, 1, "beyond").check()
    assert "does not answer" not in result.output


@pytest.mark.few_mpis
def test_no_phase_is_quiet_after_a_window_beyond_the_own_world(mpi, preload):
    if host_defects.without_quiet_phases(mpi):
        pytest.skip("there are no quiet phases with this MPI")
    env = {"NEARCACHE_QUIET_AFTER": "0", "NEARCACHE_LONGEST_AGE": "3600s"}
    result = spawning(mpi, 2, "quiet_beyond", env=env).check()
    assert all(each > 0 for each in hits(result, "quiet_beyond"))


@pytest.mark.one_mpi
def test_the_report_is_whole_where_no_window_spans_all_ranks(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    result = launch.run(mpi, 4, "world", "halves", env={"NEARCACHE_REPORT": str(report)}).check()
    assert only_first_ones_miss(result, "halves", 4)
    assert json.loads(report.read_text())["ranks"] == 4


@pytest.mark.few_mpis
def test_windows_of_groups_without_a_common_rank_are_told_apart(mpi, preload, tmp_path):
    env = {"NEARCACHE_REPORT": str(tmp_path / "r.json"), "NEARCACHE_TRACE": str(tmp_path / "t")}
    launch.run(mpi, 4, "world", "halves", env=env).check()
    windows = json.loads((tmp_path / "r.json").read_text())["windows"]
    assert [(window["id"], window["ranks"]) for window in windows] == [(0, 2), (2 << 32, 2)]
    assert [window["counters"]["gets"] for window in windows] == [2 * 160, 2 * 160]
    program = launch.BUILD / "bin" / "nearcache-simulate"
    told = subprocess.run(
        [program, "--safety", *(tmp_path / f"t.{rank}.nctrace" for rank in range(4))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert [
        (window["id"], window["ranks"], window["traced_ranks"], window["gets"])
        for window in json.loads(told)["windows"]
    ] == [(0, 2, 2, 320), (2 << 32, 2, 2, 320)]


def test_ranks_in_different_numbers_of_groups_make_windows_together(mpi, preload):
    result = launch.run(mpi, 4, "world", "many_groups", timeout=60)
    if (
        not result.timed_out
        and result.lines("FAILED")
        and launch.run(mpi, 4, "world", "many_groups", preload=False, timeout=60).lines("FAILED")
    ):
        pytest.skip("this MPI alone reads wrong values where groups have another order")
    result.check()
    assert only_first_ones_miss(result, "many_groups", 4)


FINALIZES_ONCE = """
#include <mpi.h>
int MPI_Finalize(void) {
  int ended = 0;
  PMPI_Finalized(&ended);
  return ended ? MPI_SUCCESS : PMPI_Finalize();
}
"""
FINALIZES_TWICE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ((int (*)(void))dlsym(RTLD_DEFAULT, "PMPI_Finalize"))();
  MPI_Finalize();
  puts("ok");
}
"""


@pytest.mark.few_mpis
def test_nothing_is_called_after_mpi_was_ended_past_nearcache(mpi, preload, tmp_path):
    program = programs.compiled(tmp_path, "twice", FINALIZES_TWICE, mpi.wrapper, "-ldl")
    below = programs.compiled(
        tmp_path, "libonce.so", FINALIZES_ONCE, mpi.wrapper, "-shared", "-fPIC"
    )
    result = launch.run(
        mpi,
        2,
        program,
        below=[below],
        env={"NEARCACHE_REPORT": str(tmp_path / "report.json")},
        timeout=60,
    ).check()
    assert result.output.count("ok") == 2  # lines of two ranks may mix


def done(result):
    """Every rank has said how it ended."""
    return result.code == 0 and len(result.lines("ok")) >= 2


def session_run(mpi, way, **more):
    if (
        mpi.family == "openmpi"
        and mpi.version < (5,)
        or mpi.family == "mpich"
        and mpi.version < (5,)
    ):
        pytest.skip("this MPI has no sessions, or counts them as a preview")
    for _ in range(5):
        result = launch.run(mpi, 2, "world", way, **more)
        if not host_defects.ended(mpi, result.output):
            break
    if not done(result) and not done(
        launch.run(mpi, 2, "world", way, preload=False, below=more.get("below", ()))
    ):
        # Open MPI 5.0.11 ends such a program without a word; MPICH gives no threads that late
        pytest.skip("the host alone does not do this")
    assert done(result.check())
    return result


def test_sessions_are_cached_and_reported_like_all_others(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    result = session_run(mpi, "sessions", env={"NEARCACHE_REPORT": str(report)})
    assert only_first_ones_miss(result, "sessions", 4)
    assert json.loads(report.read_text())["ranks"] == 2


def test_keyvals_of_a_later_session_are_the_programs_own(mpi, preload):
    result = session_run(mpi, "session_keyvals")
    assert only_first_ones_miss(result, "session_keyvals", 4)


def test_a_session_whose_end_failed_goes_on(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    result = session_run(
        mpi,
        "failed_end",
        below=[mpi.binary("libshim_mpi.so")],
        env={"NEARCACHE_REPORT": str(report)},
    )
    assert only_first_ones_miss(result, "failed_end", 2, rounds=20)
    assert json.loads(report.read_text())["totals"]["hits_full"] == sum(hits(result, "failed_end"))


@pytest.mark.parametrize("way", ["session_threads", "late_threads"])
def test_threads_that_come_late_take_locks(mpi, preload, way):
    session_run(mpi, way)


@pytest.mark.parametrize("fabric", ["socket", "node"])
def test_a_session_that_goes_on_after_finalize_has_its_windows_of_the_engine(mpi, preload, fabric):
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_RMA_FABRIC": fabric, "NEARCACHE_VERBOSE": "2"}
    result = session_run(mpi, "session_left", env=env)
    assert "does not use the RMA engine" not in result.output


@pytest.mark.parametrize("part", ["base", "cache", "front", "net", "rma", "telemetry"])
def test_nothing_of_the_engines_is_destroyed_when_the_process_ends(part):
    """Calls that come later would find it destroyed; where nothing is freed, that may not be seen."""
    archive = launch.BUILD / "src" / part / f"libnearcache_{part}.a"
    missed = subprocess.run(
        ["nm", "--undefined-only", archive], check=True, capture_output=True, text=True
    ).stdout
    assert "__cxa_atexit" not in missed.split()


@pytest.mark.few_mpis
def test_a_window_that_is_made_while_mpi_ends_is_left_alone(mpi, preload):
    """What Nearcache has of MPI was given back before; nobody would give it back again."""
    result = launch.run(mpi, 2, "world", "end", timeout=60).check()
    assert hits(result, "end") == [0, 0]


LEAVES_A_WINDOW = """
#include <mpi.h>
static void use_and_leave(MPI_Comm comm) {
  int rank, other;
  void *memory;
  MPI_Win win;
  MPI_Group all, others;
  MPI_Comm_rank(comm, &rank);
  other = 1 - rank;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &memory, &win);
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &other, &others);
  MPI_Win_post(others, 0, win);
  MPI_Win_start(others, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&all);
  MPI_Group_free(&others);
  MPI_Barrier(comm);
}
int main(int argc, char **argv) {
#ifdef BY_SESSION
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&world);
  use_and_leave(comm);
  MPI_Session_finalize(&session);
#else
  MPI_Init(&argc, &argv);
  use_and_leave(MPI_COMM_WORLD);
  MPI_Finalize();
#endif
  return 0;
}
"""


@pytest.mark.few_mpis
@pytest.mark.parametrize("engine", ["off", "on"])
@pytest.mark.parametrize("by_session", [False, True], ids=["init", "session"])
def test_a_window_may_be_left_after_an_epoch_of_start_and_complete(
    mpi, preload, tmp_path, by_session, engine
):
    """Open MPI 5 frees it when it ends, and makes any call then an error of the job."""
    if by_session and mpi.family != "openmpi":
        pytest.skip("of other MPIs, MPI_Init shows the same")
    macros = ["-DBY_SESSION"] if by_session else []
    program = programs.compiled(tmp_path, "leaves", LEAVES_A_WINDOW, mpi.wrapper, *macros)
    launch.run(mpi, 2, program, env={"NEARCACHE_RMA": engine}, timeout=60).check()


@pytest.mark.few_mpis
@pytest.mark.parametrize("trace", [False, True])
def test_a_forked_child_ends_and_leaves_its_parent_alone(mpi, preload, tmp_path, trace):
    env = {"NEARCACHE_TRACE": str(tmp_path / "t")} if trace else {}
    result = launch.run(mpi, 2, "world", "fork", env=env, timeout=60).check()
    assert only_first_ones_miss(result, "fork", 2)
    if trace:
        assert all((tmp_path / f"t.{rank}.nctrace").stat().st_size > 0 for rank in (0, 1))


def test_calls_that_come_when_all_statics_are_destroyed_are_served(mpi, preload, tmp_path):
    report = tmp_path / "report.json"
    below = [mpi.binary("libshim_mpi.so")]
    env = {"NEARCACHE_REPORT": str(report), "NEARCACHE_TRACE": str(tmp_path / "t")}
    # Of a host whose MPI_Finalize comes so late, ranks may be killed after all is done: MPICH 5.0.2
    # with the standard ABI does that alone, too, in one run of seven beside other load.
    for _ in range(6):
        result = launch.run(mpi, 2, "world", "very_end", below=below, env=env, timeout=60)
        if done(result):
            break
    if not done(result) and not done(
        launch.run(mpi, 2, "world", "very_end", preload=False, below=below, timeout=60)
    ):
        pytest.skip("the host alone does not do this")
    assert done(result.check())
    assert only_first_ones_miss(result, "very_end", 2)
    assert json.loads(report.read_text())["ranks"] == 2
