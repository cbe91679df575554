"""`nearcache simulate`: traces of all ranks by their prefix, the table, CSV and JSON, and traces that are none."""

import csv
import json
import os
import signal
import subprocess
import sys

import pytest
from nearcache import simulate
from support import launch
from support.trace_file import Trace, rounds


@pytest.fixture(autouse=True)
def built(monkeypatch):
    if (
        not (launch.BUILD / "bin" / simulate.PROGRAM).exists()
        or not (launch.BUILD / "share/nearcache/tables.json").exists()
    ):
        pytest.skip(f"{simulate.PROGRAM} is not built")
    monkeypatch.setenv("NEARCACHE_HOME", str(launch.BUILD))


@pytest.fixture
def run(tmp_path):
    """The prefix of the traces of two ranks: 10 keys four times, 20 keys three times."""
    rounds(0, 1, 10, 4).write(tmp_path / "run.0.nctrace")
    rounds(1, 0, 20, 3).write(tmp_path / "run.1.nctrace")
    return tmp_path / "run"


FLAGS = ("--model", "1000,1", "--set", "skip_cheap=false")


def test_prefix_stands_for_the_traces_of_all_ranks(run):
    assert [path.rsplit("/", 1)[1] for path in simulate.traces([run])] == [
        "run.0.nctrace",
        "run.1.nctrace",
    ]
    assert simulate.traces([f"{run}.1.nctrace", run]) == [f"{run}.1.nctrace", f"{run}.0.nctrace"]


def test_ranks_are_in_the_order_of_their_numbers(tmp_path):
    for rank in (10, 9, 100):
        (tmp_path / f"t.{rank}.nctrace").touch()
    (tmp_path / "t.old.nctrace").touch()
    assert [path.rsplit(".", 2)[1] for path in simulate.traces([tmp_path / "t"])] == [
        "9",
        "10",
        "100",
    ]


def test_table_has_every_policy_and_bound_by_storage(nearcache, run):
    done = nearcache("simulate", run, "--policy", "rate,lru", "--storage", "50%,200%", *FLAGS)
    assert done.returncode == 0, done.stderr
    rows = [
        line.split()
        for line in done.stdout.splitlines()
        if line.strip().startswith(("50%", "200%"))
    ]
    assert [row[1] for row in rows] == 2 * ["rate", "lru", "best", "clairvoyant", "infinite"]
    # All fits: every get but the first of each key hits. 30 of 100 gets are first ones.
    assert rows[5][3:6] == ["70.0", "70.0", "70.0"]


def test_json_and_csv_say_the_same(nearcache, run, tmp_path):
    done = nearcache(
        "simulate",
        run,
        "--policy",
        "rate,lru",
        "--json",
        tmp_path / "a.json",
        "--csv",
        tmp_path / "a.csv",
        *FLAGS,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "a.json").read_text())
    assert (document["format"], document["version"]) == ("nearcache-simulation", 1)
    assert [trace["rank"] for trace in document["traces"]] == [0, 1]
    assert document["cost"] == {
        "latency_ns": 1000.0,
        "ns_per_byte": 1.0,
        "hit": {"latency_ns": 50.0, "ns_per_byte": 0.15},
        "from": "model",
        "samples": 0,
        "measured": None,
        "least": None,
    }
    (window,) = document["windows"]
    assert (window["id"], window["name"], window["gets"], window["distinct_keys"]) == (
        5,
        "rows",
        100,
        30,
    )
    with open(tmp_path / "a.csv", encoding="utf-8") as file:
        table = {row["policy"]: row for row in csv.DictReader(file)}
    for row in document["rows"]:
        assert float(table[row["policy"]]["cost_saved"]) == pytest.approx(
            row["cost_saved"], abs=1e-6
        )
        assert row["windows"][0]["gets"] == row["gets"] == 100
    assert (
        float(table["infinite"]["cost_saved"])
        == pytest.approx(document["bounds"][0]["infinite"]["cost_saved"])
        == 0.7
    )


def test_costs_are_those_that_the_trace_has_measured(run, tmp_path):
    measured = rounds(0, 1, 5, 2)
    for size in (100, 100, 4100, 4100):
        measured.cost(size, 5000 + 2 * size)
    measured.write(tmp_path / "m.0.nctrace")
    cost = simulate.ask([tmp_path / "m"])["cost"]
    assert (cost["from"], cost["samples"]) == ("trace", 4)
    assert (cost["latency_ns"], cost["ns_per_byte"]) == (
        pytest.approx(5000, rel=0.01),
        pytest.approx(2, rel=0.01),
    )


def test_window_traced_in_mode_off_needs_a_mode(nearcache, tmp_path):
    rounds(0, 1, 10, 4, mode="off").write(tmp_path / "off.0.nctrace")
    assert "--mode says by which rule" in nearcache("simulate", tmp_path / "off").stdout
    (row,) = simulate.ask([tmp_path / "off"], "--mode", "always", "--storage", "200%", *FLAGS)[
        "rows"
    ]
    assert row["hits_full"] == 30


def test_trace_of_a_coherent_window_is_known_as_such(tmp_path):
    for rank in (0, 1):
        rounds(rank, 1 - rank, 10, 4, mode="coherent").write(tmp_path / f"c.{rank}.nctrace")
    answer = simulate.ask([tmp_path / "c"], "--storage", "200%", *FLAGS)
    (row,) = answer["rows"]
    assert answer["windows"][0]["mode"] == "coherent"
    # all in one phase
    assert (row["hits_full"], row["hits_kept"], row["validations"]) == (60, 0, 2)
    asked = simulate.ask([tmp_path / "c"], "--mode", "coherent", "--storage", "200%", *FLAGS)
    assert (
        asked["mode"] == "coherent"
        and asked["rows"] == answer["rows"]
        and asked["bounds"][0]["infinite"]["hit_ratio"] == 0.75
    )


def of_nodes(folder, ranks_per_node, *traces, storage="800%"):
    for rank, trace in enumerate(traces):
        trace.write(folder / f"n.{rank}.nctrace")
    flags = ("--ranks-per-node", ranks_per_node, "--storage", storage, *FLAGS)
    (row,) = simulate.ask([folder / "n"], *flags)["rows"]
    return row["hits_full"], row["hits_of_others"]


def once(rank, keys, at, mode="always"):
    """Each key of rank 9's once, at this time."""
    trace = Trace(rank=rank, ranks=10, mode=mode).later(at)
    for key in range(keys):
        trace.get(9, key * 128, 100).flush(9)
    return trace


@pytest.mark.parametrize("mode", ["always", "user", "coherent", "transparent"])
def test_ranks_of_a_node_hit_what_another_one_fetched_before(tmp_path, mode):
    ranks = [once(rank, 20, 10**6 * (5 - rank), mode) for rank in range(4)]
    assert of_nodes(tmp_path, 1, *ranks) == (0, 0)
    assert of_nodes(tmp_path, 2, *ranks) == (40, 40)
    assert of_nodes(tmp_path, 3, *ranks) == (40, 40)
    assert of_nodes(tmp_path, 4, *ranks) == (60, 60)


def test_traces_of_a_node_are_replayed_in_the_order_of_their_times(tmp_path):
    first, second = (Trace(rank=rank, ranks=10) for rank in (0, 1))
    for key in range(10):  # in turn, the other one first
        for trace, apart in ((first, 1000), (second, 1000 if key else 500)):
            trace.later(apart).get(9, key * 128, 100).flush(9)
    for trace in (first, second):
        trace.later(10**6).get(9, 0, 100).flush(9)
    assert of_nodes(tmp_path, 2, first, second) == (12, 11)


def test_a_rank_that_invalidates_sees_nothing_from_before(tmp_path):
    late = once(1, 10, 10**6).later(10).invalidate()
    for key in range(10):
        late.get(9, key * 128, 100).flush(9)
    other = once(0, 10, 0).later(2 * 10**6)
    for key in range(10):
        other.get(9, key * 128, 100).flush(9)
    # All that the second one asks for first; then nothing; and the first one has what the second fetched.
    assert of_nodes(tmp_path, 2, other, late) == (20, 20)


def test_a_node_s_cache_is_as_large_as_those_of_its_ranks_together(tmp_path):
    # Each asks for keys of its own, twice: half of them would fit, but that is for all.
    ranks = []
    for rank in range(4):
        trace = Trace(rank=rank, ranks=10).later(rank)
        for _ in range(2):
            for key in range(500) if rank == 0 else ():
                trace.get(9, key * 2048, 2000).flush(9)
        ranks.append(trace if rank == 0 else once(rank, 1, 10**6))
    alone, _ = of_nodes(tmp_path, 1, *ranks, storage="512k")
    together, _ = of_nodes(tmp_path, 4, *ranks, storage="512k")
    assert alone < 300 and together >= 490


def test_hosts_of_the_traces_are_the_nodes(tmp_path):
    for rank in range(5):  # in turn, and one host has a rank more
        trace = Trace(rank=rank, ranks=10, host=(b"one", b"other")[rank % 2]).later(rank * 10**6)
        for key in range(20):
            trace.get(9, key * 128, 100).flush(9)
        trace.write(tmp_path / f"h.{rank}.nctrace")
    asked = simulate.ask([tmp_path / "h"], "--by-host", "--storage", "800%", *FLAGS)
    (row,) = asked["rows"]
    assert (row["hits_full"], row["hits_of_others"]) == (60, 60)
    assert asked["by_host"] and asked["ranks_per_node"] == 1
    assert {trace["host"] for trace in asked["traces"]} == {"one", "other"}


def test_nodes_are_told_in_one_way(nearcache, run):
    done = nearcache("simulate", run, "--by-host", "--ranks-per-node", "2")
    assert done.returncode == 2 and "give only one of them" in done.stderr
    done = nearcache("simulate", run, "--by-host", "--curve")
    assert done.returncode == 2 and "--by-host is for the table" in done.stderr
    done = nearcache("simulate", run, "--by-host")
    assert "the ranks of a host have one cache" in done.stdout and "others%" in done.stdout


def test_ranks_per_node_are_for_the_table(nearcache, run):
    for task in ("--curve", "--summary", "--safety"):
        done = nearcache("simulate", run, "--ranks-per-node", "2", task)
        assert done.returncode == 2 and "is for the table" in done.stderr
    assert nearcache("simulate", run, "--ranks-per-node", "0").returncode == 2
    done = nearcache("simulate", run, "--ranks-per-node", "2")
    assert "2 ranks of a node have one cache" in done.stdout and "others%" in done.stdout


def test_curve_rises_to_what_an_infinite_cache_saves(run):
    (window,) = simulate.ask([run], "--curve", "--points", "5", *FLAGS)["windows"]
    saved = [point["cost_saved"] for point in window["points"]]
    assert len(saved) == 5 and saved[-1] == pytest.approx(
        window["infinite"]["cost_saved"]
    ) == pytest.approx(0.7)
    assert saved[0] < 0.2


def test_summary_says_how_often_gets_repeat(run):
    (window,) = simulate.ask([run], "--summary")["windows"]
    assert window["repeats"] == [{"times": 3, "keys": 20}, {"times": 4, "keys": 10}]
    assert window["sizes"] == [{"up_to_bytes": 128, "gets": 100, "bytes": 10000}]
    assert [rank["gets"] for rank in window["ranks"]] == [40, 60]


def test_trace_that_was_cut_off_is_used_and_said_so(nearcache, tmp_path):
    whole = rounds(0, 1, 10, 4).bytes()
    # bytes after the end
    (tmp_path / "cut.0.nctrace").write_bytes(whole + whole[len(whole) // 2 :])
    damaged = nearcache("simulate", tmp_path / "cut")
    assert damaged.returncode == 2 and "after the end" in damaged.stderr
    (tmp_path / "cut.0.nctrace").write_bytes(whole[:-3])
    done = nearcache("simulate", tmp_path / "cut")
    assert done.returncode == 0 and "cut off before its end" in done.stderr


@pytest.mark.parametrize(
    "words, expected",
    [
        (["missing"], "there is no such trace"),
        (["{run}", "--policy", "best"], "best"),
        (["{run}", "--storage", "lots"], "a share of the distinct bytes"),
        (["{run}", "--mode", "off"], "as-traced"),
        (["{run}", "--window", "6"], "no such window"),
        (["{run}", "--window", "3:5"], "--window 3:5: the traces have no such window"),
        (["{run}", "--window", "3:4294967296"], "RANK:NUMBER"),
        (["{run}", "--model", "12"], "L,G"),
        (["{run}", "--set", "anchors"], "NAME=VALUE"),
        (["{run}", "--set", "ankors=2"], "anchors"),
        (["{run}", "--curve", "--summary"], "ask for one"),
        (["{run}", "--points", "3"], "--points is for --curve"),
        (["{run}", "--csv", "-", "--json", "-"], "only one of them can be standard output"),
        (["{run}", "--summary", "--csv", "{run}.csv"], "--csv is for the table"),
        (["{run}", "--set", "policy=lru"], "cannot be set here; use --policy"),
        (["{run}", "--set", "share=node"], "use --ranks-per-node or --by-host"),
        (["{run}", "--set", "strict_flush=true"], "cannot be set here; use --strict-flush"),
        (["{run}", "--set", "rma=on"], "'rma' has no effect on a replay"),
        (["{run}", "--index", "0"], "allowed: a number of entries from 1 to 268435456, or auto"),
        (["{run}", "--index", "64,0"], "'0' is not allowed"),
    ],
)
def test_wrong_usage_is_told_with_what_is_allowed(nearcache, run, words, expected):
    done = nearcache("simulate", *[word.format(run=run) for word in words])
    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--policy", "lru"),
        ("--mode", "user"),
        ("--adaptive",),
        ("--index", "64"),
        ("--strict-flush",),
    ],
)
def test_what_pages_have_not_is_refused(nearcache, tmp_path, words):
    trace = Trace(ranks=2, api=b"OpenSHMEM").get(1, 1 << 44, 8).write(tmp_path / "s.0.nctrace")
    assert nearcache("simulate", trace).returncode == 0
    done = nearcache("simulate", trace, *words)
    assert done.returncode == 2 and f"{words[0]} is for traces of MPI" in done.stderr


def test_what_is_no_trace_is_refused(nearcache, tmp_path):
    (tmp_path / "notes.txt").write_text("no trace at all")
    done = nearcache("simulate", tmp_path / "notes.txt")
    assert done.returncode == 2 and "not a Nearcache trace" in done.stderr


def test_a_reader_that_reads_no_further_is_no_error(run):
    """As `| head` does."""
    words = [sys.executable, "-m", "nearcache", "simulate", str(run), *FLAGS]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


def test_names_in_a_trace_are_no_commands_to_the_terminal(nearcache, tmp_path):
    name = tmp_path / "w\udce9"
    trace = rounds(0, 1, 10, 4, program=b"p\x1b]0;q", name=b"\x1b[2J\xc2\x9bw")
    trace.write(tmp_path / f"{name}.0.nctrace")
    done = nearcache("simulate", name, "--model", "1000,1")
    assert done.returncode == 0 and "?[2J?w" in done.stdout and "\x1b" not in done.stdout
    assert "no cache that fetches only what was requested saves more" in done.stdout
    done = nearcache("advise", "--from", name, "--model", "100000,1")
    assert done.returncode == 0, done.stderr
    assert "p?]0;q" in done.stdout and "\x1b" not in done.stdout
