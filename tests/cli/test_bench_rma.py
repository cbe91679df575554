"""bench/run rma and rma_apps: figures from runs, and one run of its program with the engine."""

import sys

import pytest
from support import launch

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import rma, rma_apps  # noqa: E402
from driver.build import Build  # noqa: E402
from driver.launch import DidNotEnd, Launch, launched  # noqa: E402

# Ranks that wait let others run, where there are more of them than cores.
POLITE = ("env", "MPIR_CVAR_POLLS_BEFORE_YIELD=0", "OMPI_MCA_mpi_yield_when_idle=1")


def runs(**calls):
    """Two runs of a side, by the medians of its calls."""
    return [
        {call.replace("_", " "): {"us": [time, time, 100 * time]} for call, time in calls.items()}
        for _ in range(2)
    ]


FOUND = {
    ("tcp", "slow-1"): runs(get_8=30, put_8=5),
    ("tcp", "mpich-5.0.2"): runs(get_8=20, put_8=1),
    ("tcp", "engine"): runs(get_8=10, put_8=4),
    ("tcp", "plain"): runs(plain_get_8=8),
    ("node", "slow-1"): runs(get_8=1),
    ("node", "mpich-5.0.2"): runs(get_8=2),
    ("node", "engine"): runs(get_8=10),
}
TAGS = ("slow-1", "mpich-5.0.2")


def test_a_cell_is_the_engine_over_the_best_host():
    row = rma.cell(FOUND, "tcp", "get 8", TAGS)
    assert (row["slow-1"], row["mpich-5.0.2"], row["engine_us"]["median"]) == (30, 20, 10)
    assert (row["best"], row["over_best"], row["goal"]) == ("mpich-5.0.2", 0.5, "0.95 of best")


def test_times_are_compared_round_by_round():
    found = {
        ("tcp", side): [{"fence": {"us": [time]}} if time else {} for time in times]
        for side, times in {
            "slow-1": (13, 26, 26, 13),
            "mpich-5.0.2": (12, 12, 24, 24),  # the machine was slower in two rounds
            "engine": (9, 9, 18, None),
        }.items()
    }
    row = rma.cell(found, "tcp", "fence", TAGS)
    assert (row["mpich-5.0.2"], row["engine_us"]["median"]) == (18, 9)
    assert (row["best"], row["over_best"]) == ("mpich-5.0.2", 0.75)


def test_every_side_runs_in_each_round_and_their_order_alternates(monkeypatch):
    calls = []

    def run(side, network, quick, **flags):
        calls.append((network, side, flags))
        return len(calls)

    monkeypatch.setattr(rma, "run", run)
    monkeypatch.setattr(rma, "CANNOT", {("a-1", "node"): ("fence",)})
    monkeypatch.setattr(rma, "ROUNDS", {"quick": 3, "whole": 4})
    found = rma.in_turn({name: name for name in ("a-1", "engine", "plain")}, True)
    order = [(network, side) for network, side, _ in calls]
    assert order[:5] == list(found) == order[10:] == order[5:10][::-1]
    assert sorted(order[:5]) == [
        ("node", "a-1"),
        ("node", "engine"),
        ("tcp", "a-1"),
        ("tcp", "engine"),
        ("tcp", "plain"),
    ]
    assert found["tcp", "a-1"] == [1, 10, 11]
    flags = {(network, side): flags for network, side, flags in calls}
    assert flags["node", "a-1"] == {"without": ("fence",)} and flags["tcp", "a-1"] == {
        "without": ()
    }
    assert flags["node", "engine"] == {"options": rma.ENGINE["node"]}
    assert set(flags["tcp", "plain"]["calls"]) == {f"plain {call}" for call in rma.PLAIN.values()}
    assert len(rma.in_turn({"a-1": "a-1"}, False)["tcp", "a-1"]) == 4


def test_a_put_that_is_not_complete_is_shown_and_no_bar():
    row = rma.cell(FOUND, "tcp", "put 8", TAGS)
    assert row["mpich-5.0.2"] == 1
    assert (row["best"], row["over_best"]) == ("slow-1", 0.8)


def test_the_worst_cell_is_of_its_network():
    rows = [
        rma.cell(FOUND, network, call, TAGS)
        for network, call in (
            ("tcp", "get 8"),
            ("tcp", "put 8"),
            ("node", "get 8"),
            ("node", "put 8"),
        )
    ]
    assert rma.worst(rows) == {"tcp_worst_over_host": 0.8, "node_worst_over_host": 10}
    messages = [{"call": "messages", "thread_ratio": {"median": ratio}} for ratio in (1.01, 1.02)]
    details = rma.details([*rows, *messages])
    assert details["two_sided_of_a_thread"] == 1.02
    assert (details["tcp_worst"], details["node_worst"]) == ("put 8", "get 8")


def test_calls_over_tcp_are_compared_with_a_connection_without_mpi():
    rows = [rma.cell(FOUND, "tcp", call, TAGS) for call in ("get 8", "put 8")]
    assert [(row["plain_us"], row["over_plain"]) for row in rows] == [(8, 1.25), (8, 0.5)]
    details = rma.details(rows)
    assert (details["tcp_over_plain"], details["tcp_worst_over_plain"]) == (0.875, 1.25)
    assert rma.cell(FOUND, "node", "get 8", TAGS)["plain_us"] == "-"


def test_percentiles_are_of_the_values():
    assert rma.percentile(list(range(1, 101)), 0.99) == 100
    assert rma.percentile([7], 0.99) == 7


@pytest.mark.one_mpi
@pytest.mark.parametrize("network", rma.NETWORKS)
def test_every_call_is_measured_on_the_engine(mpi, preload, network):
    if not mpi.binary("bench_rma").exists():
        pytest.skip("bench_rma is not built")
    rows = rma.run(
        Launch(Build(launch.BUILD, mpi.tag), timeout=100),
        network,
        True,
        options=rma.ENGINE[network],
        milliseconds=1,
        periods=2,
        period=100,
    )
    assert rma.CALLS
    assert set(rma.CALLS) <= set(rows)
    assert all(rows[call]["us"] for call in rma.CALLS)
    assert len(rows["computing"]["us"]) > 6, (
        "a get waits for the end of each computation: no engine"
    )


@pytest.mark.one_mpi
def test_a_connection_without_mpi_is_measured(mpi):
    if not mpi.binary("bench_rma").exists():
        pytest.skip("bench_rma is not built")
    calls = {f"plain {call}" for call in rma.PLAIN.values()}
    rows = rma.run(
        Launch(Build(launch.BUILD, mpi.tag), timeout=100),
        "tcp",
        True,
        calls=calls,
        milliseconds=1,
        periods=1,
        period=30,
    )
    assert set(rows) == calls
    assert all(rows[call]["us"] for call in calls)


@pytest.mark.one_mpi
@pytest.mark.parametrize("network", rma.NETWORKS)
def test_every_size_is_measured_on_the_engine(mpi, preload, network):
    if not mpi.binary("bench_rma_sizes").exists():
        pytest.skip("bench_rma_sizes is not built")
    rows = rma.rows_of(
        Launch(Build(launch.BUILD, mpi.tag), timeout=100),
        "bench_rma_sizes",
        network,
        {"milliseconds": 1, "except": "rate"},
        rma.ENGINE[network],
    )
    sizes = {8, 64, 512, 4096, 32768, 262144, 2097152}
    for call in ("get", "put", "sum", "min", "overlap"):
        assert {row["size"] for row in rows if row["call"] == call} == sizes
    assert {row["size"] for row in rows if row["call"] == "compare_and_swap"} == {8}
    assert all(row.get("us") or row.get("share") for row in rows)


@pytest.mark.one_mpi
def test_fence_and_post_to_wait_are_measured_in_a_ring(mpi, preload):
    if not mpi.binary("bench_rma").exists():
        pytest.skip("bench_rma is not built")
    three = Launch(Build(launch.BUILD, mpi.tag), timeout=100, ranks=3)
    calls = ("fence", "post to wait")
    rows = rma.run(
        three, "tcp", True, calls=calls, options=rma.ENGINE["tcp"], wrap=POLITE, milliseconds=1
    )
    assert set(rows) == set(calls) and all(rows[call]["us"] for call in calls)


@pytest.mark.one_mpi
def test_an_option_that_the_program_has_not_is_an_error_of_every_rank(mpi):
    if not mpi.binary("bench_rma").exists():
        pytest.skip("bench_rma is not built")
    result = launch.run(mpi, 2, "bench_rma", "--callz", "get 8", preload=False)
    assert result.code != 0
    assert result.output.count("were not expected") == 1


@pytest.mark.one_mpi
def test_an_idle_agent_is_found_and_sleeps(mpi, preload):
    if not mpi.binary("bench_rma").exists():
        pytest.skip("bench_rma is not built")
    bench = Launch(Build(launch.BUILD, mpi.tag), timeout=100)
    row = rma.run(bench, "tcp", True, calls=("idle",), options=rma.ENGINE["tcp"], idle=100)["idle"]
    assert (row["agents"], row["wakeups"]) == (1, 0)


def test_an_application_is_compared_with_the_best_host_in_the_same_way():
    times = {
        ("hashtable", "rma"): (6, 8, 4),
        ("hashtable", "rma ahead"): (4, 3, 1),
        ("hashtable", "messages"): (0.5, 2, 2),
        ("fft3d", "puts"): (2, 2, 2),
        ("fft3d", "messages"): (3, 1, 3),
        ("milc_cg", "rma"): (3, 6, 2),
        ("milc_cg", "messages"): (5, 5, 5),
        ("dsde", "accumulate"): (1, 1, 2),
        ("dsde", "alltoall"): (3, 4, 1),
        ("dsde", "reduce_scatter"): (3, 4, 5),
        ("dsde", "nbx"): (3, 4, 5),
    }
    seconds = {
        (*which, side): [time, time]
        for which, all_times in times.items()
        for side, time in zip(("a-1", "b-1", "engine"), all_times)
    }
    seconds["milc_cg", "messages", "c-1"] = [9, 9]  # and what it cannot do is left out
    summary, details = rma_apps.figures(seconds)
    assert summary == {
        "hashtable_speedup": 3,
        "fft_speedup": 1,
        "milc_speedup": 1.5,
        "dsde_best": 0.5,
    }
    assert (details["hashtable_best_host"], details["hashtable_over_messages"]) == (
        "rma ahead on b-1",
        0.5,
    )
    assert details["hashtable_speedup_of_single_inserts"] == 1.5
    assert (details["fft_over_messages"], details["dsde_best_other"]) == (0.5, "alltoall on engine")


def test_a_host_that_does_not_end_is_left_out_and_the_engine_must_end(monkeypatch):
    ends = {"a-1": iter([True, False, True]), "engine": iter([True, False])}

    def run(launch, *what):
        if not next(ends[launch]):
            raise DidNotEnd("dsde did not end within 60 s")
        return {"seconds": [1, 2, 3], "checksum": "7"}

    monkeypatch.setattr(rma_apps, "one_run", run)
    times = rma_apps.Times({("dsde", "nbx", "a-1")})
    what = ("dsde", "alltoall", 200, 5)
    assert times.add(("dsde", "nbx", "a-1"), "a-1", "dsde", "nbx", 200, 5, None) is None
    for side, options in (("a-1", None), ("engine", {})):
        assert times.add((*what[:2], side), side, *what, options)["checksum"] == "7"
    assert times.seconds == {(*what[:2], "a-1"): [2], (*what[:2], "engine"): [2]}
    for _ in range(2):
        assert times.add((*what[:2], "a-1"), "a-1", *what, None) is None
    assert times.stuck == {(*what[:2], "a-1")} and list(times.seconds) == [(*what[:2], "engine")]
    with pytest.raises(DidNotEnd):
        times.add((*what[:2], "engine"), "engine", *what, {})
    forgiven = (*what[:2], "engine on mpich-4.0.2")
    ends["c-1"] = iter([False])
    assert times.add(forgiven, "c-1", *what, {}) is None and forgiven in times.stuck


def test_a_launcher_whose_ranks_do_not_heed_the_signal_is_killed(monkeypatch):
    monkeypatch.setattr("driver.launch.GRACE", 0.3)
    with pytest.raises(DidNotEnd):
        launched("loop", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], timeout=0.3)


def test_every_side_has_the_windows_that_are_best_for_it_and_go_by_the_network_it_is_told():
    found = {
        (tag, network, options is not None): rma_apps.memory_of(
            Launch(Build("build", tag)), options, network
        )
        for tag in ("mpich-5.0.2", "openmpi-5.0.11")
        for network in rma.NETWORKS
        for options in (None, rma.ENGINE[network])
    }
    assert [which for which, memory in found.items() if memory == "created"] == [
        ("openmpi-5.0.11", "tcp", False)
    ]


def test_of_the_hosts_of_the_engine_the_fastest_one_counts():
    seconds = {
        ("dsde", "alltoall", "mpich-5.0.2"): [1],
        ("dsde", "alltoall", "engine on mpich-5.0.2"): [4, 5, 6],
        ("dsde", "alltoall", "engine on openmpi-5.0.11"): [3, 2, 9],
        ("dsde", "nbx", "engine on mpich-5.0.2"): [7],
    }
    engines = ["engine on mpich-5.0.2", "engine on openmpi-5.0.11"]
    chosen = rma_apps.choose_engines(seconds, engines)
    assert chosen == {("dsde", "alltoall"): "openmpi-5.0.11", ("dsde", "nbx"): "mpich-5.0.2"}
    assert seconds == {
        ("dsde", "alltoall", "mpich-5.0.2"): [1],
        ("dsde", "alltoall", "engine"): [3, 2, 9],
        ("dsde", "nbx", "engine"): [7],
    }
