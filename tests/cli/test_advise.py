"""`nearcache advise` on programs that ought to be told different things, and on traces."""

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
from nearcache.advise import estimates, measure, text
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


def test_run_time_comes_from_the_report_beside_the_traces(tmp_path):
    report = json.loads((Path(__file__).parent / "report_example.json").read_text())
    (tmp_path / "t.report.json").write_text(json.dumps(report))
    expected = report["wall_seconds"]["mean"]
    assert measure.seconds_of(str(tmp_path / "t.report.json")) == expected
    assert measure.seconds_of(str(tmp_path / "none.report.json")) == 0


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


def test_what_is_advised_is_allowed(fake_home):
    point = {"storage_bytes": 40 << 30, "cost_saved": 0.9}
    curve = {"points": [point], "distinct_keys": 1 << 40, "stored_bytes": 40 << 30, "ranks": 1}
    storage = estimates.storage_for(curve)
    table = tables.load()
    table.option("storage").check(text.size(storage))
    table.option("index").check(str(estimates.index_for(curve, storage)))
    assert values.read_bytes(table.option("storage").most) == values.MOST_STORAGE
    assert values.read_count(table.option("index").most) == values.MOST_INDEX


def test_traces_of_an_earlier_run_of_more_ranks_are_not_judged(tmp_path):
    reports = ["t.report.json", "t.uncached.report.json"]
    names = ["t.0.nctrace", "t.3.nctrace", *reports, "t.x.nctrace", "u.0.nctrace"]
    for name in names:
        (tmp_path / name).write_text("")
    with measure.folder_for(str(tmp_path / "t")) as prefix:
        assert prefix == str(tmp_path / "t")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.x.nctrace", "u.0.nctrace"]


@pytest.mark.parametrize("model", ["", "x", "5", "1e12,0"])
def test_a_cost_that_is_none_is_refused_before_anything_runs(nearcache, tmp_path, model):
    done = nearcache("advise", "--model", model, "--", "touch", tmp_path / "ran")
    assert done.returncode == 2 and "is not allowed; allowed: L,G" in " ".join(done.stderr.split())
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_folder_and_program_go_when_advise_is_ended_by_a_signal(fake_home, tmp_path, number):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho $$ > started\nexec sleep 60\n")
    program.chmod(0o755)
    # the tests may run under nohup
    process = subprocess.Popen(
        [sys.executable, "-m", "nearcache", "advise", "--mpi", "mpich-4.0.2", "--", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(launch.ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
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
