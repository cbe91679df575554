"""Option `trace` in OpenSHMEM programs: what `nearcache simulate` and `nearcache advise` make of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nearcache import simulate
from nearcache.advise import openshmem
from support import launch, launch_shmem, launch_upc, shmem_runs

READS = "whole_arrays_forwards_and_backwards"
MODEL = {"NEARCACHE_MODEL": "20000,0.5"}


@pytest.fixture(autouse=True)
def built(monkeypatch):
    if not (launch.BUILD / "bin" / simulate.PROGRAM).exists():
        pytest.skip(f"{simulate.PROGRAM} is not built")
    monkeypatch.setenv("NEARCACHE_HOME", str(launch.BUILD))


def traced(shmem, prefix, *program, **more):
    env = {**MODEL, "NEARCACHE_TRACE": str(prefix), **more}
    shmem_runs.over_model(shmem, 2, *program, env=env).check()
    return simulate.ask([prefix])


@pytest.mark.parametrize("cached", ["true", "false"])
def test_a_replay_finds_the_hits_that_the_cache_had(shmem, preload_shmem, tmp_path, cached):
    report = tmp_path / "report.json"
    study = traced(
        shmem,
        tmp_path / "t",
        "shmem_front",
        READS,
        NEARCACHE_SHMEM=cached,
        NEARCACHE_REPORT=str(report),
    )
    assert study["gets"] == 80800 and study["puts"] == 0 and len(study["traces"]) == 2
    (row,) = study["rows"]
    assert row["storage_bytes"] == 1 << 20
    assert row["ns"] < 0.05 * study["uncached_ns"]
    # 20 us each; a line through few measured transfers may begin lower
    assert study["uncached_ns"] >= 80800 * 10000
    assert study["uncached_ns_with_slowest"] >= study["uncached_ns"]
    assert row["ns_with_slowest"] >= row["ns"]
    if cached == "true":
        totals = json.loads(report.read_text())["totals"]
        assert abs(row["hits"] - totals["hits_full"]) < 0.01 * totals["gets"]
        assert row["network_gets"] == pytest.approx(totals["network_gets"], rel=0.3, abs=10)


def test_places_are_the_same_on_every_pe_and_in_every_run(shmem, preload_shmem, tmp_path):
    for name in ("a", "b"):
        traced(shmem, tmp_path / name, "shmem_front", READS)
    windows = [
        simulate.ask([f"{tmp_path / name}.{pe}.nctrace"], "--summary")["windows"][0]
        for name in ("a", "b")
        for pe in (0, 1)
    ]
    assert [window["name"] for window in windows] == 4 * ["default context"]
    assert len({window["distinct_bytes"] for window in windows}) == 1
    # of all four together no more is distinct than of one: each reads the same places of its neighbour
    together = simulate.ask([tmp_path / "a"], "--summary")["windows"][0]
    assert together["distinct_bytes"] == 2 * windows[0]["distinct_bytes"]


def test_sizes_may_be_asked_for_and_small_ones_serve_less(shmem, preload_shmem, tmp_path):
    traced(shmem, tmp_path / "t", "shmem_contract", "bulk", "neighbouring", "a_put")
    rows = simulate.ask([tmp_path / "t"], "--storage", "8k,1M")["rows"]
    assert [row["storage_bytes"] for row in rows] == [8 << 10, 1 << 20]
    assert 0 < rows[0]["hits"] <= rows[1]["hits"] and rows[0]["joined_puts"] > 0


def test_what_is_counted_is_of_the_contexts_that_were_asked_for(shmem, preload_shmem, tmp_path):
    everything = traced(shmem, tmp_path / "t", "shmem_front", "contexts_have_caches_of_their_own")
    windows = simulate.ask([tmp_path / "t"], "--summary")["windows"]
    assert len(windows) > 1
    each = [simulate.ask([tmp_path / "t"], "--window", window["id"]) for window in windows]
    for what in ("gets", "puts", "quiets"):
        assert sum(study[what] for study in each) == everything[what]
    assert all(
        study["gets"] + study["puts"] < everything["gets"] + everything["puts"] for study in each
    )
    assert all(study["rows"][0]["hits"] <= study["gets"] for study in each)


def test_a_replay_writes_back_before_atomics_as_the_cache_does(shmem, preload_shmem, tmp_path):
    report = tmp_path / "report.json"
    study = traced(
        shmem,
        tmp_path / "t",
        "shmem_front",
        "atomics_over_cached_pages",
        NEARCACHE_REPORT=str(report),
    )
    totals = json.loads(report.read_text())["totals"]
    assert study["atomics"] > 0
    assert study["rows"][0]["network_puts"] == totals["network_puts"]


def test_questions_of_mpi_are_refused(shmem, preload_shmem, tmp_path, nearcache_command):
    traced(shmem, tmp_path / "t", "shmem_front", "put_then_barrier")
    done = nearcache_command("simulate", tmp_path / "t", "--safety")
    assert done.returncode == 2 and "shmem_check" in done.stderr


def advise(nearcache_command, tmp_path, *command, env):
    done = nearcache_command(
        "advise", "--json", tmp_path / "advice.json", "--", *command, env=env, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "advice.json").read_text()), done


def test_advice_for_a_program_that_reads_much(shmem, preload_shmem, tmp_path, nearcache_command):
    env = {**launch_shmem.SURROUNDINGS, **MODEL, **shmem_runs.SMALL_HEAP}
    program = [*launch_shmem.launcher(shmem, 2), shmem.binary("shmem_front"), READS]
    advice, done = advise(nearcache_command, tmp_path, *program, env=env)
    assert advice["helps"] and advice["hits"] > 0.9 and advice["gets"] == 80800
    assert advice["saved_seconds"] > 0.5 * 40400 * 20e-6
    assert advice["contract"]["hits_old"] == 0 and advice["contract"]["hits_checked"] > 70000
    assert "\nCaching would help: it would save " in done.stdout
    assert advice["saved_seconds"] >= advice["saved_seconds_least"] > 0
    assert "The contract was kept in this run" in done.stdout
    assert "Command:  nearcache run -- " in done.stdout and done.stdout.rstrip().endswith(READS)


def test_a_program_that_breaks_the_contract_is_not_to_be_cached(
    shmem, preload_shmem, tmp_path, nearcache_command
):
    env = {**launch_shmem.SURROUNDINGS, **MODEL, **shmem_runs.SMALL_HEAP}
    env["NEARCACHE_SHMEM"] = "off"  # what the environment says is not what is asked
    program = [*launch_shmem.launcher(shmem, 2), shmem.binary("shmem_promises"), "relaxes"]
    advice, done = advise(nearcache_command, tmp_path, *program, env=env)
    assert advice["contract"]["hits_old"] > 0
    assert "The program breaks the cache's contract" in done.stdout
    assert "was served stale data" in done.stderr and "Command:" not in done.stdout


@launch_upc.needs_upc
def test_advice_for_upc(tmp_path, nearcache_command):
    program = launch_upc.upcc([launch.ROOT / "apps/upc/heat/heat.upc"], "-O2")
    upcrun = launch.ROOT / ".deps/tools/bin/upcrun"
    env = {**launch_shmem.SURROUNDINGS, **launch_shmem.TCP}
    advice, done = advise(
        nearcache_command,
        tmp_path,
        *(upcrun, "-n", 2, program, "--size", 41, "--iterations", 6),
        env=env,
    )
    assert advice["gets"] > 0 and advice["contract"]["hits_old"] == 0
    assert "The contract was kept in this run" in done.stdout


def study(uncached, cached, slowest=1, **more):
    rows = [
        {
            "storage_bytes": size,
            "ns": ns,
            "ns_with_slowest": slowest * ns,
            "hits": 90,
            "joined_puts": 5,
        }
        for size, ns in zip(openshmem.SIZES, cached)
    ]
    trace = {"program": "app", "ranks": 1, "modelled": "", "dropped": 0, "cut_short": False}
    cost = {"from": "trace", "latency_ns": 1e4, "ns_per_byte": 1, "put_ns": 1e3, "quiet_ns": 1e4}
    return {
        "traces": [trace],
        "cost": cost,
        "gets": 100,
        "puts": 10,
        "uncached_ns": uncached,
        "uncached_ns_with_slowest": slowest * uncached,
        "rows": rows,
        **more,
    }


def test_the_default_size_is_advised_where_it_is_enough_and_else_the_least_that_is():
    enough = openshmem.advice_of(study(1e9, [9e8, 5e8, 1e8, 1e8, 1e8, 1e8]), 2.0, None)
    assert enough.storage_bytes == 1 << 20 and enough.saved_seconds == pytest.approx(0.9)
    told = openshmem.render(enough, None, 100)
    assert "--shmem-size" not in told and "app, 1 PE, " in told
    named = openshmem.render(enough, ["oshrun", "./app"], 100, "oshmem-4.1.4")
    assert "nearcache run --mpi oshmem-4.1.4 -- oshrun ./app" in named
    more = openshmem.advice_of(study(1e9, [9e8, 9e8, 9e8, 8e8, 1e8, 1e8]), 2.0, None)
    assert more.storage_bytes == 16 << 20
    assert "nearcache run --shmem-size 16M -- oshrun" in openshmem.render(more, None, 100)
    assert "was not checked" in openshmem.render(more, None, 100)


def test_saving_is_a_share_of_the_whole_run_not_of_the_traced_part(tmp_path, monkeypatch):
    # The program reads its input for a long time before its first access.
    prefix = str(tmp_path / "t")
    span = {"span": {"first_ns": 0, "last_ns": 2 * 10**9}}
    monkeypatch.setattr(
        openshmem.simulate,
        "ask",
        lambda names, *asked: span if asked == ("--summary",) else study(1e9, [1e8] * 6),
    )
    assert openshmem.judge([prefix]).wall_seconds == 2
    report = json.loads((launch.ROOT / "tests/cli/report_example.json").read_text())
    report["wall_seconds"]["mean"] = 40.0
    Path(openshmem.traced(prefix)["report"]).write_text(json.dumps(report))
    assert openshmem.judge([prefix]).wall_seconds == 40


def test_a_loss_is_told_as_a_loss():
    advice = openshmem.advice_of(study(1e9, [1.2e9] * 6), 2.0, openshmem.Contract(10, 0))
    assert not advice.helps and advice.saved_seconds == pytest.approx(-0.2)
    told = openshmem.render(advice, None, 100)
    assert told.startswith("Caching would not make this run faster. It would cost about 0.20 s")
    assert "Command:" not in told


def test_both_figures_are_told_where_the_slowest_operations_took_most_of_the_time():
    advice = openshmem.advice_of(study(1.5e9, [3e8] * 6, slowest=10), 20.0, None)
    assert advice.saved_seconds_least == pytest.approx(1.2)
    assert advice.saved_seconds == pytest.approx(12)
    told = openshmem.render(advice, None, 400)
    assert told.startswith("Caching would help: it would save 1.20 s to 12.00 s of 20.00 s per PE")
    assert "(measured without the slowest fiftieth)" in told
    assert "all of them 1.50 s to 15.00 s per PE uncached" in told
    capped = openshmem.advice_of(study(1.5e9, [3e8] * 6, slowest=100), 20.0, None)
    assert capped.saved_seconds == pytest.approx(16)
    assert capped.communication_seconds == pytest.approx(20)
    loss = openshmem.advice_of(study(1e9, [1.2e9] * 6, slowest=3), 4.0, None)
    assert "It would cost 0.20 s to 0.60 s per PE." in openshmem.render(loss, None, 100)


def test_the_smaller_figure_decides():
    advice = openshmem.advice_of(study(1e8, [5e7] * 6, slowest=20), 10.0, None)
    assert advice.saved_seconds == pytest.approx(1.0) and not advice.helps


def test_no_more_is_saved_than_the_run_took():
    advice = openshmem.advice_of(study(4e9, [1e9] * 6), 1.0, None)
    assert advice.communication_seconds == pytest.approx(1.0)
    assert advice.saved_seconds == pytest.approx(0.75)


def test_without_a_measured_cost_there_is_no_verdict():
    cost = {**study(1, [1] * 6)["cost"], "from": "assumed"}
    advice = openshmem.advice_of(study(1e9, [1e8] * 6, cost=cost), 2.0, None)
    assert (advice.verdict, advice.helps, advice.saved_seconds) == ("unknown", False, 0.0)
    assert advice.as_json()["verdict"] == "unknown"
    told = openshmem.render(advice, None, 300)
    assert told.startswith("No verdict") and "--model L,G" in told
    assert "ns/B" not in told.split("\n", 2)[2] and "Command:" not in told
    measured = openshmem.advice_of(study(1e9, [1e8] * 6), 2.0, None)
    assert measured.verdict == "helps"


@pytest.mark.parametrize(
    "changes, kept",
    [
        ({}, True),
        ({"api": "MPI"}, None),
        ({"options": {"shmem_check": "false"}}, None),
        ({"options": {}}, None),
        ({"totals": {"hits_checked": 0, "hits_old": 0}}, None),
        ({"totals": {"hits_checked": 7, "hits_old": 1}}, False),
    ],
)
def test_contract_is_vouched_for_only_where_hits_were_compared(tmp_path, changes, kept):
    document = {
        "format": "nearcache-report",
        "version": 3,
        "api": "OpenSHMEM",
        "options": {"shmem_check": "true"},
        "totals": {"hits_checked": 7, "hits_old": 0},
        **{name: {} for name in ("spread", "wall_seconds", "windows", "verdict")},
        "ranks": 1,
    }
    (tmp_path / "t.report.json").write_text(json.dumps({**document, **changes}))
    found = openshmem.contract_of(str(tmp_path / "t"))
    assert (found and found.kept) == kept
    advice = openshmem.advice_of(study(1e9, [1e8] * 6), 2.0, found)
    assert ("was not checked" in openshmem.render(advice, None, 300)) == (kept is None)


@pytest.fixture
def nearcache_command():
    """Runs the command of the checkout."""

    def run(*words, env=None, cwd=None):
        surroundings = launch_shmem.surroundings(
            tcp=False, PYTHONPATH=str(launch.ROOT / "python"), NEARCACHE_HOME=str(launch.BUILD)
        )
        return subprocess.run(
            [sys.executable, "-m", "nearcache", *map(str, words)],
            capture_output=True,
            text=True,
            env={**surroundings, **(env or {})},
            cwd=cwd,
            timeout=300,
        )

    return run
