"""Traces of real programs hold what the programs did."""

import json
import subprocess

import pytest
from support import launch

# One front end writes traces, whatever the MPI.
pytestmark = pytest.mark.few_mpis
BLOCKS = 256  # of access_patterns; 256 bytes each
OWN_BYTES = 256 * BLOCKS * 8


def simulate(*words):
    program = launch.BUILD / "bin" / "nearcache-simulate"
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def traced(mpi, preload, tmp_path):
    """Runs a pattern with a trace; returns what the summary says of it, and the traces."""

    def run(pattern, *args, ranks=2, **env):
        prefix = tmp_path / "trace"
        launch.run(
            mpi,
            ranks,
            "access_patterns",
            pattern,
            *args,
            env={"NEARCACHE_TRACE": str(prefix), **env},
        ).check()
        traces = [tmp_path / f"trace.{rank}.nctrace" for rank in range(ranks)]
        return simulate("--summary", *traces), traces

    return run


@pytest.mark.parametrize(
    "mode, strict",
    [
        ("off", False),
        ("transparent", False),
        ("transparent", True),
        ("user", False),
        ("always", False),
    ],
)
def test_every_get_and_flush_is_there_in_every_mode(traced, mode, strict):
    summary, traces = traced("read_only", mode, NEARCACHE_STRICT_FLUSH=str(int(strict)))
    (window,) = summary["windows"]
    assert window["mode"] == mode and window["memory_bytes"] == 2 * OWN_BYTES
    assert window["gets"] == 2 * 10 * BLOCKS and window["distinct_keys"] == 2 * BLOCKS
    assert window["repeats"] == [{"times": 10, "keys": 2 * BLOCKS}]
    assert window["sizes"] == [
        {"up_to_bytes": 256, "gets": window["gets"], "bytes": 256 * window["gets"]}
    ]
    assert (
        window["syncs"]["flush"] == window["gets"]
        and window["syncs"]["lock_all"] == window["syncs"]["unlock_all"] == 2
    )
    outcomes = window["outcomes"]
    if mode == "off":
        assert outcomes == {"uncached": window["gets"]}
    elif strict:
        assert "full" not in outcomes and "uncached" not in outcomes
    else:
        assert outcomes["full"] >= 2 * 5 * BLOCKS and sum(outcomes.values()) == window["gets"]
    assert sum(trace.stat().st_size for trace in traces) <= 16 * window["gets"], (
        "bytes a get, all that a trace holds included"
    )


def test_gets_of_one_epoch_are_traced_as_pending(traced):
    summary, _ = traced("epochs", "transparent", NEARCACHE_STRICT_FLUSH="1")
    (window,) = summary["windows"]
    assert window["gets"] == 2 * 64 * BLOCKS // 4
    assert window["outcomes"]["pending"] >= 0.9 * window["gets"]


def test_puts_and_stores_are_traced_where_they_happen(traced):
    summary, traces = traced("puts_between", ranks=3)
    window, _counters = summary["windows"]
    assert (
        window["own_writes"] == 3 * 10 * BLOCKS
        and window["own_write_bytes"] == 256 * window["own_writes"]
    )
    # What was stored before the barrier, by pages.
    assert all(rank["owner_write_bytes"] >= OWN_BYTES for rank in window["ranks"])
    safety = simulate("--safety", *traces)["windows"][0]
    assert safety["writes_while_read"] > 0 and safety["user"]["stale"] > 0


def test_stores_between_phases_are_found_in_time(traced):
    summary, traces = traced("phases")
    (window,) = summary["windows"]
    assert window["owner_write_bytes"] >= 2 * (OWN_BYTES + 5 * 256 * BLOCKS)
    (safety,) = simulate("--safety", *traces)["windows"]
    assert safety["always"]["stale"] >= 2 * 4 * BLOCKS
    assert safety["always"]["example"]["stored_by_owner"]


def test_own_memory_can_be_left_alone(traced):
    summary, _ = traced("phases", NEARCACHE_TRACE_WRITES="false")
    assert summary["windows"][0]["owner_writes"] == 0


def test_traced_costs_are_those_of_the_network(traced):
    summary, _ = traced("read_only", "user", NEARCACHE_MODEL="200000,0")
    assert summary["cost"]["from"] == "trace" and summary["cost"]["samples"] > 0
    assert summary["cost"]["latency_ns"] >= 190000
    assert all(trace["modelled"] for trace in summary["traces"])


def test_gets_of_the_own_rank_are_not_measured(mpi, preload, tmp_path):
    if not mpi.binary("clients").exists():
        pytest.skip("clients is not built for this MPI")
    launch.run(
        mpi,
        1,
        "clients",
        "cg",
        "--size",
        16,
        "--rounds",
        12,
        env={"NEARCACHE_TRACE": str(tmp_path / "trace")},
    ).check()
    summary = simulate("--summary", tmp_path / "trace.0.nctrace")
    assert summary["windows"][0]["own_gets"] > 1 << 16 and summary["cost"]["samples"] == 0


@pytest.mark.few_mpis
def test_a_place_that_cannot_be_written_does_not_stop_the_program(mpi, preload, tmp_path):
    result = launch.run(
        mpi,
        2,
        "access_patterns",
        "read_only",
        env={"NEARCACHE_TRACE": str(tmp_path / "none" / "trace")},
    ).check()
    assert "trace: cannot write" in result.output


@pytest.mark.few_mpis
def test_a_trace_does_not_change_what_is_cached(mpi, preload, tmp_path):
    counters = []
    for env in ({}, {"NEARCACHE_TRACE": str(tmp_path / "trace")}):
        report = tmp_path / "report.json"
        launch.run(
            mpi,
            2,
            "access_patterns",
            "read_only",
            "always",
            env={"NEARCACHE_REPORT": str(report), **env},
        ).check()
        totals = json.loads(report.read_text())["totals"]
        counters.append(
            {
                name: totals[name]
                for name in ("gets", "hits_full", "direct", "bytes_from_cache", "syncs_served")
            }
        )
    assert counters[0] == counters[1]


def test_windows_whose_ranks_have_different_units(mpi, preload, tmp_path):
    """Of a get it is not known which bytes it touches, contiguous ones or others."""
    words = ["edges", "--only", "displacement_unit_of_each_rank"]
    env = {"NEARCACHE_TRACE": tmp_path / "trace"}
    launch.run(mpi, 3, *words, env=env).check()
    traces = [tmp_path / f"trace.{rank}.nctrace" for rank in range(3)]
    (window,) = simulate("--summary", *traces)["windows"]
    assert window["gets"] == 3 * 3 * 2 * 2  # of others
