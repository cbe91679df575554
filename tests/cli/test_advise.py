"""`nearcache advise` on programs that ought to be told different things, and on numbers made up for the rest."""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nearcache import tables, values
from nearcache.advise import estimates, judgement, measure, text
from support import launch, programs
from support.trace_file import Trace, rounds

# Gets cost what a slow network's would, whatever this machine does meanwhile: what hits save is some of the run's time even beside compilers.
MODEL = {"NEARCACHE_MODEL": "300000,0.2"}
# The same where ranks wait for a processor at every flush.
SLOW_MODEL = {"NEARCACHE_MODEL": "3000000,0.2"}


@pytest.fixture
def advise(mpi, preload, nearcache, tmp_path, monkeypatch):
    """Runs a pattern under `advise`; returns the advice as JSON and as text."""
    for name, value in launch.ROOT_MAY_RUN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NEARCACHE_HOME", str(launch.BUILD))
    if mpi.family == "openmpi":
        monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
        monkeypatch.setenv("OMPI_MCA_osc", "^ucx")

    def run(pattern, *args, ranks=2, check=True, model=MODEL):
        done = nearcache(
            "advise",
            "--json",
            tmp_path / "advice.json",
            "--mpi",
            mpi.tag,
            "--",
            *launch.launcher(mpi, ranks),
            mpi.binary("access_patterns"),
            pattern,
            *args,
            env=model,
            cwd=tmp_path,
        )
        if not check:
            return done
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "advice.json").read_text()), done.stdout

    return run


@pytest.mark.few_mpis
def test_read_only_window_may_always_be_cached(advise, mpi):
    advice, words = advise("read_only")
    (window,) = advice["windows"]
    assert window["helps"] and advice["helps"] and words.startswith("Caching would help: ")
    assert window["repeats"] == pytest.approx(0.9)
    assert "promise" in words
    # What the default keeps depends on how soon its reads of versions are known to pay.
    if window["mode"] == "always":
        assert 64 << 10 <= window["storage_bytes"] <= 256 << 10  # 64 KiB are read by each rank
        assert f"nearcache run --mpi {mpi.tag} --mode always --storage" in words
    else:
        assert (
            window["mode"] == "coherent"
            and f"No options needed:  nearcache run --mpi {mpi.tag} -- " in words
        )


@pytest.mark.few_mpis
def test_phases_of_writing_and_reading_need_no_promise(advise):
    advice, words = advise("phases")
    (window,) = advice["windows"]
    assert window["mode"] == "coherent" and window["helps"]
    assert "needs no promise" in words and "nearcache_invalidate" not in words


STORES = r"""
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *mine, value;
  MPI_Win win;
  MPI_Win_allocate(4096, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  for (int phase = 0; phase < 5; ++phase) {
    MPI_Win_fence(0, win);
    for (int i = 0; i < 1024; ++i) mine[i] = phase + i;
    for (int round = 0; round < 5; ++round)
      for (int i = 0; i < 20; ++i) {
        MPI_Win_fence(0, win);
        MPI_Get(&value, 1, MPI_INT, (rank + 1) % ranks, i, 1, MPI_INT, win);
      }
    MPI_Win_fence(0, win);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
}
"""


@pytest.mark.one_mpi
def test_own_stores_count_whatever_the_environment_says(mpi, preload, nearcache, advise, tmp_path):
    """Else a promise is advised that the program does not keep: nobody had seen its stores."""
    program = programs.compiled(tmp_path, "stores", STORES, mpi.wrapper)
    words = (*launch.launcher(mpi, 2), program)
    env = {"NEARCACHE_TRACE_WRITES": "false"}
    done = nearcache("advise", "--mpi", mpi.tag, "--model", "300000,1", "--", *words, env=env)
    assert done.returncode == 0, done.stderr
    assert "never written" not in done.stdout and "mode always" not in done.stdout, done.stdout


@pytest.mark.few_mpis
@pytest.mark.parametrize("mode", ["-", "coherent"])
def test_what_changes_in_part_between_barriers_is_kept_by_its_versions(advise, mpi, mode):
    advice, words = advise("islands", mode)
    (window,) = advice["windows"]
    assert window["now"] == "coherent"
    # 39 of 40 passes repeat; seven of the eight regions that are read stay as they are. Some passes go by until validations are known to pay.
    assert 0.6 * window["gets"] < window["coherent"]["hits_kept"] < 0.875 * window["gets"]
    if mode == "coherent":
        return  # what a get costs is known from few, as most were answered
    assert (window["mode"], window["helps"]) == ("coherent", True)
    assert f"No options needed:  nearcache run --mpi {mpi.tag} -- " in words
    assert "nearcache_invalidate" not in words


@pytest.mark.few_mpis
def test_writes_amid_reads_leave_only_the_mode_that_asks_no_promise(advise):
    advice, words = advise("puts_between", ranks=3)
    window = advice["windows"][0]  # the other one counts who is there
    assert not window["helps"] and window["mode"] == "off"
    assert words.startswith("Caching would not") and "would have returned old data" in words


@pytest.mark.few_mpis
def test_gets_that_never_repeat_are_not_worth_it(advise):
    advice, words = advise("once")
    assert not advice["helps"] and words.startswith("Caching would not")
    assert "rarely repeat" in words


@pytest.mark.few_mpis
def test_repeats_within_an_epoch_need_no_promise(advise, monkeypatch):
    # The hits of an epoch call for MPI's progress, which by yielding could take longer than the get would.
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")
    advice, _ = advise("epochs", model=SLOW_MODEL)
    (window,) = advice["windows"]
    assert window["mode"] == "coherent" and window["helps"] and advice["settings"] == {}


@pytest.mark.few_mpis
def test_own_memory_is_not_remote(advise):
    _, words = advise("own")
    assert words.startswith("Caching would not") and "no rank read another rank's memory" in words


@pytest.mark.few_mpis
def test_a_mode_that_the_program_chose_wrongly_is_a_danger(advise):
    advice, words = advise("phases", "always")
    assert "Warning: in this run it was in mode always" in words
    assert advice["windows"][0]["danger"]


@pytest.mark.few_mpis
def test_a_cost_can_be_given_for_another_network(mpi, preload, nearcache, advise, tmp_path):
    done = nearcache(
        "advise",
        "--keep",
        tmp_path / "kept",
        "--mpi",
        mpi.tag,
        "--model",
        "1e6,0",
        "--",
        *launch.launcher(mpi, 2),
        mpi.binary("access_patterns"),
        "read_only",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout.startswith("Caching would help")
        and "1,000,000 ns + 0.00 ns/B (given)" in done.stdout
    )
    cheap = nearcache("advise", "--from", tmp_path / "kept", "--model", "60,0")
    assert cheap.stdout.startswith("Caching would not") and "hardly more than a hit" in cheap.stdout


HIDDEN = """
#include <mpi.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2; ++i) {
    MPI_Win win;
    char *memory, byte;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    PMPI_Win_fence(0, win);
    MPI_Get(&byte, 1, MPI_BYTE, 0, 0, 1, MPI_BYTE, win);
    PMPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
  MPI_Finalize();
}
"""


@pytest.mark.few_mpis
def test_windows_that_are_left_alone_are_told_with_the_reason(
    mpi, preload, nearcache, advise, tmp_path
):
    program = programs.compiled(tmp_path, "hidden", HIDDEN, mpi.wrapper)
    done = nearcache(
        "advise", "--mpi", mpi.tag, "--", *launch.launcher(mpi, 2), program, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    lines = [
        line
        for line in " ".join(done.stdout.split()).split("Windows that Nearcache left alone: ")[1:]
    ]
    assert len(lines) == 1 and "PMPI_Win_fence" in lines[0]
    assert done.stdout.startswith("No verdict: the program's windows were left alone")


@pytest.mark.few_mpis
def test_a_program_that_fails_gets_no_advice(advise, tmp_path):
    done = advise("read_only", "-", 7, check=False)
    assert done.returncode == 7
    assert "exit code 7" in done.stderr and "Caching" not in done.stdout
    assert not list(tmp_path.glob("nearcache-advise-*")), "the traces are gone"


def test_a_program_that_a_signal_ends_is_told_as_a_shell_does(nearcache, fake_home, tmp_path):
    words = ["--mpi", "mpich-5.0.2", "--", "sh", "-c", "kill -TERM $$"]
    done = nearcache("advise", *words, cwd=tmp_path)
    assert done.returncode == 143 and "was ended by signal 15 (SIGTERM)" in done.stderr


def test_no_program_is_run_whose_traces_nobody_could_judge(nearcache, fake_home, tmp_path):
    (fake_home / "bin" / "nearcache-simulate").unlink()
    words = ["--mpi", "mpich-5.0.2", "--", "touch", tmp_path / "ran"]
    done = nearcache("advise", *words, cwd=tmp_path)
    assert done.returncode == 2 and "nearcache-simulate is not in" in done.stderr, done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def traced_program(tmp_path):
    """A script that leaves behind what a rank would: the trace of a small run."""
    rounds(0, 1, 10, 4).write(tmp_path / "rank0")
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ncp {tmp_path}/rank0 "$NEARCACHE_TRACE.0.nctrace"\n')
    program.chmod(0o755)
    return program


def test_traces_that_could_not_be_judged_are_kept(nearcache, fake_home, traced_program, tmp_path):
    done = nearcache("advise", "--mpi", "mpich-5.0.2", "--", traced_program, cwd=tmp_path)
    assert done.returncode == 2 and "it is a stub" in done.stderr, done.stderr
    again = done.stderr.split("nearcache advise ")[1].split()
    done = nearcache("advise", *again, env={"NEARCACHE_HOME": str(launch.BUILD)})
    assert done.returncode == 0 and done.stdout.startswith("No verdict"), done.stderr


def test_the_command_that_is_advised_names_the_mpi_that_was_named(
    nearcache, traced_program, tmp_path
):
    env = {"NEARCACHE_HOME": str(launch.BUILD)}
    words = ["--mpi", launch.mpis()[0].tag, "--model", "1e6,0", "--", traced_program]
    done = nearcache("advise", *words, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "nearcache run " in line)
    printed = shlex.split(line[line.index("nearcache run ") :])[1:]
    assert nearcache(*printed, env=env, cwd=tmp_path).returncode == 0, line


def test_a_program_that_writes_no_trace_is_told_why(nearcache, fake_home, tmp_path):
    done = nearcache("advise", "--mpi", "mpich-5.0.2", "--", "true", cwd=tmp_path)
    assert done.returncode == 2 and "the program wrote no trace" in done.stderr, done.stderr
    assert "nearcache-advise-" not in done.stderr, "that folder is gone"
    assert not list(tmp_path.glob("nearcache-advise-*"))


def test_advice_is_said_where_its_file_cannot_be_written(nearcache, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARCACHE_HOME", str(launch.BUILD))
    rounds(0, 1, 1000, 4).write(tmp_path / "run.0.nctrace")
    done = nearcache("advise", "--from", tmp_path / "run", "--json", tmp_path)
    assert done.returncode == 2 and "No verdict" in done.stdout and "cannot write" in done.stderr


@pytest.mark.few_mpis
def test_kept_traces_give_the_same_advice_again(mpi, preload, nearcache, advise, tmp_path):
    first = tmp_path / "advice.json"
    done = nearcache(
        "advise",
        "--keep",
        tmp_path / "kept",
        "--json",
        first,
        "--mpi",
        mpi.tag,
        "--",
        *launch.launcher(mpi, 2),
        mpi.binary("access_patterns"),
        "read_only",
        env=MODEL,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    again = nearcache("advise", "--from", tmp_path / "kept", "--json", "-")
    assert json.loads(again.stdout)["windows"] == json.loads(first.read_text())["windows"]
    one = nearcache("advise", "--from", tmp_path / "kept.0.nctrace", "--json", "-")
    advice = json.loads(one.stdout)
    assert not advice["complete"] and advice["windows"][0]["mode"] in ("off", "coherent"), (
        "other ranks may have written"
    )
    cut = tmp_path / "cut.nctrace"
    cut.write_bytes((tmp_path / "kept.0.nctrace").read_bytes()[:-4])
    noted = nearcache("advise", "--from", cut, "--json", "-").stderr
    assert noted.count("cut off before its end") == 1, "several questions have the same note"


def test_a_command_or_traces_but_not_both(nearcache):
    assert nearcache("advise").returncode == 2
    assert nearcache("advise", "--from", "x", "--", "ls").returncode == 2


# From here on without a program: numbers that a run cannot be made to show.


def rule(hits=0, stale=0, size=100, **more):
    return {
        "hits": hits,
        "hit_bytes": hits * size,
        "stale": stale,
        "invalidations": 0,
        "example": None,
        **more,
    }


def evidence(
    latency=10000.0,
    gets=100000,
    hits=90000,
    seconds=2.0,
    run_seconds=0.0,
    stale=0,
    user_stale=0,
    writes=0,
    dropped=0,
    ranks=1,
    epoch_hits=0,
    least=None,
    cost_from="trace",
    own_gets=0,
    left_alone=(),
    obstacles=(),
    quiet_hits=0,
    user_hits=None,
    coherent_hits=None,
    validations=0,
    incoherent=(),
    hosts=("a",),
    shared=(),
    now="coherent",
    served=0,
):
    window = {
        "id": 1,
        "name": "",
        "mode": now,
        "ranks": ranks,
        "traced_ranks": 1,
        "gets": gets,
        "bytes": gets * 100,
        "own_gets": own_gets,
        "puts": writes,
        "stores": 0,
        "writes_while_read": writes,
        "transparent": rule(),
        "user": rule(hits if user_hits is None else user_hits, user_stale),
        "always": rule(hits, stale),
    }
    measured = {"latency_ns": latency, "ns_per_byte": 0.1}
    cost = {
        **measured,
        "hit": {"latency_ns": 50.0, "ns_per_byte": 0.15},
        "from": cost_from,
        "samples": 10,
        "measured": measured,
        "least": {**measured, "latency_ns": least or latency},
    }
    if cost_from == "assumed":
        cost.update(samples=0, measured=None, least=None)
    share = hits / max(1, gets)
    points = [
        {
            "storage_bytes": size,
            "cost_saved": share * saved,
            "hit_ratio": share * saved,
            "byte_hit_ratio": share * saved,
        }
        for size, saved in ((100000, 0.2), (500000, 0.7), (900000, 0.97), (2000000, 1.0))
    ]
    curve = {
        "id": 1,
        "ranks": 1,
        "gets": gets,
        "bytes": gets * 100,
        "distinct_keys": gets - hits,
        "distinct_bytes": 100 * (gets - hits),
        "stored_bytes": 112 * (gets - hits),
        "points": points,
    }
    trace = {"ranks": ranks, "dropped": dropped, "cut_short": False, "program": "p", "modelled": ""}
    window["traced_ranks"] = curve["ranks"] = len(hosts)
    coherent = coherent_hits is not None and {
        "hits_kept": max(0, coherent_hits - quiet_hits),
        "validations": validations,
    }

    def within(count, **more):
        return {
            "rows": [
                {
                    "windows": [
                        {
                            "id": 1,
                            "hits_full": count,
                            "hits_pending": 0,
                            "hits_partial": 0,
                            "hit_bytes": count * 100,
                            **more,
                        }
                    ]
                }
            ]
        }

    return measure.Evidence(
        safety={
            "cost": cost,
            "traces": [{**trace, "rank": rank, "host": host} for rank, host in enumerate(hosts)],
            "windows": [window],
        },
        summary={
            "span": {"first_ns": 0, "last_ns": int(seconds * 1e9)},
            "windows": [
                {"id": 1, "gets": gets, "outcomes": {"full": served, "direct": gets - served}}
            ],
        },
        run_seconds=run_seconds,
        curve={"windows": [curve]},
        transparent=within(epoch_hits),
        quiet=within(max(epoch_hits, quiet_hits)),
        coherent=coherent and within(coherent_hits, **coherent),
        incoherent=dict(incoherent),
        obstacles=dict(obstacles),
        left_alone=list(left_alone),
        shared={
            mode: {
                "rows": [
                    within(count, hits_of_others=count // 2, validations=0)["rows"][0]
                    for count in counts
                ]
            }
            for mode, counts in dict(shared).items()
        },
    )


def test_saving_is_a_share_of_the_whole_run_not_of_the_traced_part():
    # The program reads its input for a long time before it creates its window.
    whole, traced = (
        judgement.judge(evidence(run_seconds=each, quiet_hits=90000)) for each in (40.0, 0.0)
    )
    assert whole.helps and whole.wall_seconds == 40 and traced.wall_seconds == 2
    assert whole.saved_seconds == traced.saved_seconds
    assert "(2%)" in text.render(whole)


def test_run_time_comes_from_the_report_beside_the_traces(tmp_path):
    report = json.loads((Path(__file__).parent / "report_example.json").read_text())
    (tmp_path / "t.report.json").write_text(json.dumps(report))
    expected = report["wall_seconds"]["mean"]
    assert measure.seconds_of(str(tmp_path / "t.report.json")) == expected
    assert measure.seconds_of(str(tmp_path / "none.report.json")) == 0


def test_one_cache_for_a_node_is_advised_where_it_saves_more():
    # Each of two ranks reads once what the other one reads, too; so it does with a quarter of the room.
    given = {"gets": 200000, "hits": 0, "ranks": 2, "hosts": ("a", "a")}
    advice = judgement.judge(evidence(**given, shared={"always": (98000, 98000, 98000, 1000)}))
    (window,) = advice.windows
    assert (window.mode, window.helps, advice.verdict) == ("always", True, "helps")
    assert window.shared.helps and window.shared.hits_of_others == 49000
    assert window.saved_seconds == pytest.approx(98000 * (10010 - 80 - 15 - 10) * 1e-9 / 2)
    assert window.storage_bytes == 4 << 20  # of 10 MB a rank a quarter
    assert advice.settings["share"] == "node"
    words = text.render(advice, ["mpiexec", "-n", "2", "./p"])
    assert "nearcache run --mode always --storage 4M --index 65536 --share node -- mpiexec" in words
    assert 'MPI_Info_set(info, "nearcache_share", "node")' in words
    assert "50% of 98,000 hits are on data read by another of up to 2 ranks" in " ".join(
        words.split()
    )
    assert "its gets rarely repeat" in words


def test_one_cache_for_a_node_is_not_advised_where_it_saves_no_more():
    shared = {"always": (90100,) * 4}
    advice = judgement.judge(evidence(ranks=2, hosts=("a", "a"), shared=shared))
    assert advice.helps and "share" not in advice.settings
    assert not advice.windows[0].shared.helps and "share" not in text.render(advice)


def test_what_ranks_read_first_at_different_times_must_not_be_written_between():
    # No rank alone would have been served old data in mode always; one that has what another one read earlier might.
    given = {"hits": 40000, "writes": 3, "ranks": 2, "hosts": ("a", "a")}
    shared = {"always": (95000,) * 4}
    advice = judgement.judge(evidence(**given, shared=shared))
    assert advice.windows[0].mode == "always" and advice.windows[0].shared is None
    # nor may they share one by themselves
    assert advice.settings["share"] == "off"
    assert 'MPI_Info_set(info, "nearcache_share", "off")' in text.render(advice)
    quiet = {**shared, "transparent": (95000,)}
    (window,) = judgement.judge(evidence(**given, quiet_hits=32000, shared=quiet)).windows
    assert (window.mode, window.shared) == ("always", None)


def test_what_others_of_a_node_read_counts_in_the_mode_that_asks_no_promise():
    given = {"hits": 40000, "writes": 3, "stale": 5, "user_stale": 1}
    shared = {"coherent": (80000,), "always": (95000,) * 4}
    advice = judgement.judge(
        evidence(**given, quiet_hits=40000, ranks=2, hosts=("a", "a"), shared=shared)
    )
    (window,) = advice.windows
    assert (window.mode, window.shared.mode) == ("coherent", "coherent")
    assert advice.settings["share"] == "node" and "mode" not in advice.settings


def test_traces_of_one_host_are_asked_what_one_cache_would_save(nearcache, tmp_path):
    def advised(name, hosts):
        owner = len(hosts)
        for rank, host in enumerate([*hosts, b"owner's"]):
            trace = Trace(rank=rank, ranks=owner + 1, mode="transparent", host=host)
            for key in range(5000 if rank != owner else 0):
                trace.later(20000 + rank).get(owner, key * 128, 100).flush(owner)
            trace.write(tmp_path / f"{name}.{rank}.nctrace")
        done = nearcache("advise", "--from", tmp_path / name, "--model", "20000,0.1", "--json", "-")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    together = advised("together", [b"a"] * 4)
    (window,) = together["windows"]
    assert together["settings"]["share"] == "node" and window["shared"]["ranks"] == 4
    # the directory of what is there may lose a few
    assert 14900 <= window["shared"]["hits_of_others"] <= 15000 and window["helps"]
    apart = advised("apart", [b"a", b"b", b"c", b"d"])
    assert not apart["helps"] and apart["windows"][0]["shared"] is None


def halves(folder, mode, second):
    """The traces of four ranks, two of which have a window, and the others another one.
    `second(trace, other)`: what a rank of the second does at each step."""
    for rank in range(4):
        window = 0 if rank < 2 else 2 << 32
        trace = Trace(rank, 4, mode, window=window, group=(rank % 2, 2), name=b"")
        other = 1 - rank % 2
        for _ in range(5000):
            trace.later(20000)
            if rank < 2:
                trace.get(other, 64, 8).flush(other)
            else:
                second(trace, other)
        trace.write(folder / f"t.{rank}.nctrace")
    return folder / "t"


def test_a_window_of_some_ranks_is_judged_by_their_traces_alone(nearcache, tmp_path):
    traces = halves(tmp_path, "off", lambda trace, other: trace.put(other, 64, 8).flush(other))
    done = nearcache("advise", "--from", traces, "--model", "20000,0.1", "--json", "-")
    advice = json.loads(done.stdout)
    first, second = advice["windows"]
    assert (first["id"], first["ranks"], first["mode"]) == (0, 2, "coherent") and first["helps"]
    assert (second["id"], second["gets"]) == (2 << 32, 0)
    # As many ranks have no part in it. What others write elsewhere ends no phase of its readers.
    assert first["saved_seconds"] > 0.97 * 5000 * 19.9e-6
    assert advice["saved_seconds"] == pytest.approx(first["saved_seconds"] / 2)
    assert advice["saved_seconds"] < advice["get_seconds"] <= advice["wall_seconds"]
    assert advice["complete"]
    words = nearcache("advise", "--from", traces, "--model", "20000,0.1").stdout
    assert "window 0: mode coherent" in words and "window 2:0: no rank read another rank's" in words


def test_the_savings_of_windows_of_different_ranks_are_no_sum_for_each_rank(nearcache, tmp_path):
    traces = halves(tmp_path, "off", lambda trace, other: trace.get(other, 64, 8).flush(other))
    done = nearcache("advise", "--from", traces, "--model", "20000,0.1", "--json", "-")
    advice = json.loads(done.stdout)
    saved = [window["saved_seconds"] for window in advice["windows"]]
    assert len(saved) == 2 and advice["saved_seconds"] == pytest.approx(sum(saved) / 2)
    assert advice["saved_seconds"] < advice["get_seconds"]
    only = nearcache("simulate", traces, "--window", "2:0", "--model", "20000,0.1", "--json", "-")
    assert [window["id"] for window in json.loads(only.stdout)["windows"]] == [2 << 32]
    both = nearcache("simulate", traces, "--mode", "always", "--model", "20000,0.1")
    assert "window 0: mode always" in both.stdout and "window 2:0: mode always" in both.stdout


def test_small_gets_of_scattered_places_have_room(nearcache, tmp_path):
    """8 bytes take 16 of a storage: what holds all of them is more than their bytes."""
    places = list(range(2000))
    random.Random(5).shuffle(places)  # nothing is read ahead
    for rank in range(2):
        trace = Trace(rank=rank, mode="off")
        for _ in range(6):
            for place in places:
                trace.later(20000).get(1 - rank, place * 512, 8).flush(1 - rank)
        trace.write(tmp_path / f"t.{rank}.nctrace")
    done = nearcache(
        "advise", "--from", tmp_path / "t", "--model", "20000,0.1", "--json", tmp_path / "a.json"
    )
    (window,) = json.loads((tmp_path / "a.json").read_text())["windows"]
    assert "`share=node`" not in done.stdout and "the default mode, `coherent`, which needs no" in (
        " ".join(done.stdout.split())
    )
    # 10,000 of 12,000 gets a rank repeat
    assert window["mode"] == "coherent" and window["saved_seconds"] > 0.97 * 10000 * 19.9e-6
    curve = nearcache("simulate", tmp_path / "t", "--curve", "--mode", "always")
    best = json.loads(curve.stdout)["windows"][0]["points"][-1]
    assert best["cost_saved"] > 0.82 and best["storage_bytes"] == 2000 * 72


def test_a_small_window_needs_no_promise(nearcache, tmp_path):
    for rank in range(2):
        trace = Trace(rank=rank, mode="off")
        for _ in range(5000):
            trace.later(20000).get(1 - rank, 64, 8).flush(1 - rank)
        trace.write(tmp_path / f"t.{rank}.nctrace")
    done = nearcache("advise", "--from", tmp_path / "t", "--model", "20000,0.1")
    said = " ".join(done.stdout.split())
    assert "the default mode, `coherent`, which needs no promise, saves just as much" in said, (
        done.stdout
    )
    assert "share" not in said


def test_traces_of_two_runs_vouch_for_nothing(nearcache, tmp_path):
    """The second rank 0 is no rank 1, which may have written anything."""
    for run in ("first", "second"):
        trace = Trace(rank=0, mode="off")
        for key in range(5000):
            trace.later(20000).get(1, key % 50 * 128, 100).flush(1)
        trace.write(tmp_path / f"{run}.0.nctrace")
    done = nearcache(
        "advise", "--from", tmp_path / "first", "--from", tmp_path / "second", "--model", "20000,1"
    )
    assert done.returncode == 0 and "always" not in done.stdout, done.stdout
    assert "not those of one run" in " ".join(done.stdout.split())
    assert "of rank 0, as" in done.stderr


def test_storage_is_the_least_that_saves_nearly_all():
    window = judgement.judge(evidence()).windows[0]
    assert window.storage_bytes == 1 << 20  # 900,000 bytes save 97% of what any storage could
    assert window.index_entries == 16384  # 10,000 keys, and a quarter more


def test_what_is_advised_is_allowed(fake_home):
    point = {"storage_bytes": 40 << 30, "cost_saved": 0.9}
    curve = {"points": [point], "distinct_keys": 1 << 40, "stored_bytes": 40 << 30, "ranks": 1}
    storage = estimates.storage_for(curve)
    table = tables.load()
    table.option("storage").check(text.size(storage))
    table.option("index").check(str(estimates.index_for(curve, storage)))
    assert values.read_bytes(table.option("storage").most) == values.MOST_STORAGE
    assert values.read_count(table.option("index").most) == values.MOST_INDEX


def test_saved_time_is_that_of_hits_less_their_own_cost():
    advice = judgement.judge(evidence())
    assert advice.saved_seconds == pytest.approx(90000 * (10010 - 80 - 15) * 1e-9)
    assert advice.get_seconds == pytest.approx(100000 * 10010 * 1e-9)


def test_gets_cannot_have_taken_longer_than_the_run():
    advice = judgement.judge(evidence(latency=1e6))
    assert advice.get_seconds == pytest.approx(2.0)
    assert advice.saved_seconds < 2.0
    # The text states the measured cost, of which that is no sum.
    assert "their measured cost, too high as on a busy machine, counts 2%" in text.render(
        advice, width=200
    )
    assert "measured cost" not in text.render(judgement.judge(evidence()), width=200)


def test_what_the_run_has_served_is_no_time_of_its_gets():
    """The run is cached as the program always is: its time is not that of a run without a cache."""
    advice = judgement.judge(evidence(served=90000, seconds=0.2))
    gets, hits = 100000 * 10010e-9, 90000 * (80 + 15) * 1e-9
    assert advice.get_seconds == pytest.approx(gets) and advice.run_seconds == 0.2
    assert advice.wall_seconds == pytest.approx(0.2 + 0.9 * gets - hits)
    assert advice.saved_seconds == pytest.approx(90000 * (10010 - 80 - 15) * 1e-9)
    said = text.render(advice, width=200)
    assert "0.89 s of 1.09 s per rank (82%)" in said and "measured cost" not in said
    assert (
        "1.09 s without a cache (this run, in which 90% of the gets were served by one, took"
        in said
    )
    assert "without a cache" not in text.render(judgement.judge(evidence()), width=200)
    # hits that a table says took longer than the whole run
    assert judgement.judge(evidence(latency=30.0, served=100000, seconds=0.001)).wall_seconds > 0
    there = evidence(served=90000, seconds=0.2)
    there.safety["cost"].update({"from": "model", "latency_ns": 20000.0, "ns_per_byte": 0.1})
    wall = 0.2 + 100000 * 20010e-9 - 10000 * 10010e-9 - hits
    assert judgement.judge(there).wall_seconds == pytest.approx(wall)


def test_gets_as_cheap_as_hits_are_left_alone():
    advice = judgement.judge(evidence(latency=60.0))
    assert not advice.helps
    assert "hardly more than a hit" in text.render(advice)


def test_a_small_part_of_a_long_run_is_not_worth_it():
    advice = judgement.judge(evidence(seconds=1000.0))
    assert not advice.helps and "would save only" in text.render(advice)


def test_repeats_within_an_epoch_that_save_too_little_are_not_said_to_come_too_late():
    advice = judgement.judge(
        evidence(seconds=1000.0, writes=3, stale=5, user_stale=1, epoch_hits=90000)
    )
    assert not advice.helps and "would save only" in text.render(advice)
    advice = judgement.judge(evidence(writes=3, stale=5, user_stale=1))
    assert not advice.helps and "only after a synchronisation" in text.render(advice)


def test_quiet_phases_take_the_place_of_invalidations_and_serve_where_no_promise_holds():
    for stale in (0, 5):
        (window,) = judgement.judge(
            evidence(writes=3, stale=5, user_stale=stale, quiet_hits=85000)
        ).windows
        assert (window.mode, window.helps) == ("coherent", True)
        assert window.saved_seconds == pytest.approx(85000 * (10010 - 80 - 15) * 1e-9)
    (window,) = judgement.judge(evidence(writes=3, stale=5, quiet_hits=50000)).windows
    assert window.mode == "user", "it saves nearly twice as much"


def test_where_the_default_does_as_well_there_is_nothing_to_set():
    advice = judgement.judge(evidence(gets=4000, hits=3600, coherent_hits=3590, latency=1e5))
    (window,) = advice.windows
    assert (window.mode, window.helps, advice.settings) == ("coherent", True, {})
    said = text.render(advice, ["mpiexec", "-n", "2", "./p"], width=300)
    assert "window 1: mode coherent, the default, saves about" in said
    assert "No options needed:  nearcache run -- mpiexec -n 2 ./p\n" in said
    assert "--mode" not in said and "MPI_Info_set" not in said and "Windows differ" not in said
    chosen = judgement.judge(
        evidence(gets=4000, hits=3600, coherent_hits=3590, latency=1e5, now="off")
    )
    assert chosen.settings == {"mode": "coherent"}, "the program or the environment chose another"


def test_the_default_is_that_of_the_table(tables_text):
    table = tables.parse(tables_text)
    assert table.option("mode").default == judgement.DEFAULT
    assert table.option("storage").default == text.size(judgement.DEFAULT_STORAGE)
    assert table.option("index").default == str(judgement.DEFAULT_INDEX)


def test_transparent_is_advised_only_where_it_saves_clearly_more_than_the_default():
    given = {"writes": 3, "stale": 5, "user_stale": 1, "quiet_hits": 60000}
    (window,) = judgement.judge(evidence(**given, coherent_hits=60000, validations=5000)).windows
    assert window.mode == "coherent"
    (window,) = judgement.judge(evidence(**given, coherent_hits=60000, validations=30000)).windows
    assert window.mode == "transparent" and "30,000 reads of versions cost" in window.reasons[0]
    assert window.saved_seconds == pytest.approx(60000 * (10010 - 80 - 15) * 1e-9)


def test_missing_traces_vouch_for_no_promise_and_are_no_reason_to_leave_the_default():
    advice = judgement.judge(evidence(ranks=2, epoch_hits=80000, coherent_hits=10))
    (window,) = advice.windows
    assert (window.mode, window.helps) == ("coherent", True) and "mode" not in advice.settings
    assert "no mode that needs a promise can be recommended" in window.reasons[-1]
    assert "transparent" not in text.render(advice)


def test_coherent_takes_the_place_of_a_promise_that_saves_little_more():
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, coherent_hits=80000, validations=1000)
    ).windows
    assert (window.mode, window.helps, window.invalidations) == ("coherent", True, 0)
    assert window.saved_seconds == pytest.approx(
        80000 * (10010 - 80 - 15) * 1e-9 - 1000 * (10000 + 102.4) * 1e-9
    )
    assert (
        "needs no promise" in window.reasons[0]
        and "`user`, which needs a promise, would save 14% more" in window.reasons[1]
    )
    assert window.storage_bytes and not window.curve
    (window,) = judgement.judge(evidence(writes=3, stale=5, coherent_hits=70000)).windows
    assert window.mode == "user", "coherent saves 78% of that"
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, coherent_hits=80000, validations=20000)
    ).windows
    assert window.mode == "user", "validations cost hits"


def test_coherent_is_advised_where_no_promise_holds():
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, user_stale=1, coherent_hits=60000)
    ).windows
    assert (window.mode, window.helps) == ("coherent", True)
    assert "would have returned old data" in window.reasons[-1]
    (window,) = judgement.judge(
        evidence(writes=3, stale=5, user_hits=20000, quiet_hits=20000, coherent_hits=60000)
    ).windows
    assert window.mode == "coherent", "it saves more than invalidations leave"


def test_a_promise_is_advised_only_where_it_saves_clearly_more_than_the_default():
    (window,) = judgement.judge(evidence(coherent_hits=81000)).windows
    assert window.mode == "coherent"
    assert any("`always`, which needs a promise, would save 11%" in r for r in window.reasons)
    (window,) = judgement.judge(evidence(coherent_hits=72000)).windows
    assert window.mode == "always"
    assert "`coherent`, which needs no promise, would save 80% of that" in window.reasons[-1]


def test_coherent_is_not_advised_on_half_the_evidence_and_what_held_it_back_is_told():
    (window,) = judgement.judge(evidence(dropped=1, coherent_hits=60000)).windows
    assert window.mode == "off"
    (window,) = judgement.judge(evidence(writes=3, stale=5, coherent_hits=0)).windows
    assert window.mode == "user"
    (window,) = judgement.judge(
        evidence(
            writes=3, stale=5, coherent_hits=80000, incoherent={1: "option watch_stores is off"}
        )
    ).windows
    assert window.mode == "coherent" and window.reasons[1].endswith(
        "kept nothing of it, or of some rank's part: option watch_stores is off"
    )


def test_more_room_than_the_default_has_is_set_for_the_whole_program():
    advice = judgement.judge(evidence(writes=3, stale=5, coherent_hits=80000))
    said = text.render(advice, width=200)
    assert advice.settings == {"storage": 1 << 20, "index": 16384}
    assert "nearcache run --storage 1M --index 16384 -- " in said
    assert 'MPI_Info_set(info, "nearcache_storage", "1M")' in said and "nearcache_mode" not in said
    assert "promises that the program makes" not in said and "nearcache_invalidate" not in said


def test_traces_of_an_earlier_run_of_more_ranks_are_not_judged(tmp_path):
    reports = ["t.report.json", "t.uncached.report.json"]
    names = ["t.0.nctrace", "t.3.nctrace", *reports, "t.x.nctrace", "u.0.nctrace"]
    for name in names:
        (tmp_path / name).write_text("")
    with measure.folder_for(str(tmp_path / "t")) as prefix:
        assert prefix == str(tmp_path / "t")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.x.nctrace", "u.0.nctrace"]


def test_without_a_measured_cost_there_is_no_verdict_but_by_counts():
    advice = judgement.judge(evidence(cost_from="assumed"))
    said = text.render(advice, width=300)
    assert (advice.verdict, advice.helps, advice.windows[0].undecided) == ("unknown", False, True)
    assert (
        said.startswith("No verdict")
        and "--model L,G" in said
        and "it depends (100,000 gets, 90% repeats)" in said
    )
    assert "ns/B" not in said
    advice = judgement.judge(evidence(cost_from="assumed", hits=10))
    assert advice.verdict == "no" and "rarely repeat" in text.render(advice)


def test_the_verdict_is_the_same_when_other_work_makes_gets_and_the_run_longer():
    """Three times as long a run, mean gets nine times: the quickest ones are what they were."""
    for quiet, helps in ((10000.0, True), (60.0, False)):
        idle = judgement.judge(evidence(latency=quiet))
        busy = judgement.judge(evidence(latency=9 * quiet, least=quiet, seconds=6.0))
        assert idle.helps == busy.helps == helps
        assert idle.windows[0].mode == busy.windows[0].mode


def test_both_bounds_are_said_where_they_differ():
    said = text.render(judgement.judge(evidence(latency=15000.0, least=5000.0)), width=200)
    assert said.startswith("Caching would help: 0.44 s to 1.34 s of 2.00 s")
    assert "15,000 ns + 0.10 ns/B (measured; the quickest 5,000 ns" in said
    said = text.render(judgement.judge(evidence()))
    assert said.startswith("Caching would help: about 0.89 s of 2.00 s")


def test_one_rank_is_one_rank():
    assert ", 1 rank, " in text.render(judgement.judge(evidence()))
    assert ", 2 ranks, " in text.render(judgement.judge(evidence(ranks=2)))


def test_a_given_cost_takes_the_place_of_the_measured_one_in_the_time_of_the_run():
    there = evidence(latency=1000.0, seconds=2.0)
    there.safety["cost"].update({"from": "model", "latency_ns": 20000.0, "ns_per_byte": 0.1})
    advice = judgement.judge(there)
    assert advice.wall_seconds == pytest.approx(2.0 + 100000 * (20010 - 1010) * 1e-9)
    assert (
        advice.saved_seconds
        == advice.saved_seconds_least
        == pytest.approx(90000 * (20010 - 80 - 15) * 1e-9)
    )
    assert "(given)" in text.render(advice)


def test_repeats_within_an_epoch_are_said_to_need_no_promise_where_they_save_something():
    said = "needs no promise to serve them"
    advice = judgement.judge(evidence(latency=70.0, epoch_hits=0))
    assert said not in text.render(advice, width=300)
    advice = judgement.judge(evidence(epoch_hits=90000))
    assert advice.windows[0].mode == "coherent" and said in text.render(advice, width=300)


def test_own_gets_are_told_apart_and_windows_without_others_share_a_line():
    assert "(100,000 gets, 90% repeats; 7 of own memory not counted)" in text.render(
        judgement.judge(evidence(own_gets=7)), width=200
    )
    found = evidence()
    for number in (2, 3):
        found.safety["windows"].append(
            {
                **found.safety["windows"][0],
                "id": number,
                "gets": 0,
                "bytes": 0,
                "own_gets": number,
                "always": rule(),
                "user": rule(),
            }
        )
    said = text.render(judgement.judge(found), width=200)
    assert "windows 2, 3: no rank read another rank's memory (5 gets of own memory)\n" in said
    assert "window 2:" not in said


def test_a_window_that_cannot_be_cached_is_not_recommended():
    advice = judgement.judge(evidence(obstacles={1: "a shared-memory window"}))
    assert advice.verdict == "no" and "it cannot be cached: a shared-memory window" in text.render(
        advice
    )


def test_why_windows_were_left_alone_is_said():
    assert "Windows that Nearcache left alone: it is of another tool.\n" in text.render(
        judgement.judge(evidence(left_alone=["it is of another tool"]))
    )


@pytest.mark.parametrize("model", ["", "x", "5", "1e12,0"])
def test_a_cost_that_is_none_is_refused_before_anything_runs(nearcache, tmp_path, model):
    done = nearcache("advise", "--model", model, "--", "touch", tmp_path / "ran")
    assert done.returncode == 2 and "is not allowed; allowed: L,G" in " ".join(done.stderr.split())
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "case, mode",
    [
        ({"writes": 3}, "always"),
        ({"writes": 3, "stale": 5}, "user"),
        ({"writes": 3, "stale": 5, "user_stale": 1}, None),
        ({"dropped": 1}, None),
        ({"ranks": 2}, None),
    ],
)
def test_no_mode_is_recommended_that_would_serve_old_data_or_that_nobody_can_vouch_for(case, mode):
    window = judgement.judge(evidence(**case)).windows[0]
    assert window.mode == (mode or "off")
    assert window.helps == (mode is not None)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_folder_and_program_go_when_advise_is_ended_by_a_signal(fake_home, tmp_path, number):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho $$ > started\nexec sleep 60\n")
    program.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "nearcache", "advise", "--mpi", "mpich-4.0.2", "--", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(launch.ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # the tests may run under nohup
    started = tmp_path / "started"
    while not started.exists() or not started.read_text():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)
    assert list(tmp_path.glob("nearcache-advise-*"))
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert not list(tmp_path.glob("nearcache-advise-*"))
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


@pytest.mark.parametrize("windows", [[1], 5, [{"id": "x", "bypass": "y"}], [{"bypass": "y"}]])
def test_a_damaged_report_beside_the_traces_is_told(nearcache, tmp_path, windows):
    rounds(0, 1, 10, 4).write(tmp_path / "t.0.nctrace")
    report = {name: {} for name in ("ranks", "totals", "spread", "verdict")}
    report.update(format="nearcache-report", version=3, windows=windows, wall_seconds={"mean": 1})
    (tmp_path / "t.report.json").write_text(json.dumps(report))
    done = nearcache("advise", "--from", tmp_path / "t", "--model", "1000,1")
    assert done.returncode == 2 and "t.report.json is damaged" in done.stderr, done.stderr
