"""One cache for the ranks of a node: who is served what another rank fetched (sharing.cpp)."""

import json
import re

import pytest
from support import launch, runs

# Ranks that wait let each other run.
POLITE = {"MPIR_CVAR_POLLS_BEFORE_YIELD": 0}


def run(mpi, nodes, ranks=5, **env):
    sharing = {"NEARCACHE_SHARE": "node", "NEARCACHE_SHARE_NODES": nodes, **POLITE, **env}
    return launch.run(mpi, ranks, "sharing", env=sharing).check()


def skip_where_nobody_shares(mpi):
    if mpi.tag == "mpich-4.0.2":
        pytest.skip("flush_all_before_data: what has not come yet is not shared")


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_of_a_node_serve_each_other(mpi, preload, nodes):
    skip_where_nobody_shares(mpi)
    result = run(mpi, nodes)
    assert len(result.lines("ok")) >= 11, result.output


@pytest.mark.few_mpis
def test_an_epoch_whose_lock_comes_late_is_served_nothing_from_before_it(mpi, preload):
    skip_where_nobody_shares(mpi)
    case = "an_exclusive_epoch_after_what_another_rank_fetched"
    env = {"NEARCACHE_SHARE": "node", "NEARCACHE_QUIET_AFTER": 0, **POLITE}
    result = runs.run(mpi, "lazy", 5, "sharing", "--only", case, env=env)
    assert len(result.lines("ok")) == 1, result.output


def test_threads_of_a_node_serve_each_other(mpi, preload):
    skip_where_nobody_shares(mpi)
    result = launch.run(
        mpi, 4, "sharing", "--threads", env={"NEARCACHE_SHARE": "node", **POLITE}
    ).check()
    if "thread level" in result.output:
        pytest.skip("this MPI has no such threads")
    assert "threads_read_and_write_at_once" in "".join(result.lines("ok")), result.output


def test_a_spawned_job_has_a_cache_of_its_own(mpi, preload):
    skip_where_nobody_shares(mpi)

    def spawn(preload):
        case = "a_spawned_job_has_a_cache_of_its_own"
        env = {"NEARCACHE_SHARE": "node", **POLITE}
        words = ["sharing", "--only", case, "spawn"]
        return launch.run_spawning(mpi, 4, *words, env=env, preload=preload)

    result = spawn(True)
    if result.code != 0 and spawn(False).code != 0:
        pytest.skip("this MPI cannot spawn here")
    result.check()
    # the job that was spawned ran all cases
    assert len(result.lines("ok")) >= 12, result.output


@pytest.mark.few_mpis
def test_the_same_program_is_right_with_caches_apart(mpi, preload):
    launch.run(mpi, 5, "sharing", env=POLITE).check()


@pytest.mark.few_mpis
def test_owners_see_what_they_store_while_traces_are_recorded(mpi, preload, tmp_path):
    case = "own_memory_is_never_what_others_have_fetched"
    sharing = {"NEARCACHE_SHARE": "node", "NEARCACHE_TRACE": tmp_path / "trace", **POLITE}
    launch.run(mpi, 5, "sharing", "--only", case, env=sharing).check()


@pytest.mark.few_mpis
def test_the_report_counts_hits_of_what_others_fetched(mpi, preload, tmp_path):
    name = tmp_path / "report.json"
    run(mpi, 1, NEARCACHE_REPORT=name)
    report = json.loads(name.read_text(encoding="utf-8"))
    assert report["totals"]["hits_shared"] > 0
    assert report["totals"]["hits_shared"] <= report["totals"]["hits_full"]
    points = report["details"]["timeline"]["points"]
    assert points[-1]["hits_shared"] == report["totals"]["hits_shared"]
    assert any(point["storage_bytes"] > 0 for point in points)


@pytest.mark.few_mpis
@pytest.mark.parametrize("nodes", [1, 2])
def test_the_report_says_who_shares_and_counts_the_memory_once_a_node(
    mpi, preload, tmp_path, nodes
):
    name = tmp_path / "report.json"
    size = {"NEARCACHE_ADAPTIVE": 0, "NEARCACHE_STORAGE": "1M", "NEARCACHE_INDEX": 512}
    case = "what_one_fetched_serves_the_others_of_its_node"
    sharing = {"NEARCACHE_SHARE": "node", "NEARCACHE_SHARE_NODES": nodes, "NEARCACHE_REPORT": name}
    launch.run(mpi, 5, "sharing", "--only", case, env={**sharing, **size, **POLITE}).check()
    windows = json.loads(name.read_text(encoding="utf-8"))["windows"]
    assert [window["sharing"] for window in windows] == [{"ranks": 5, "caches": nodes}] * 2
    # each rank brings as much as its own cache would be, though some never get
    for window in windows:
        assert window["counters"]["storage_bytes"] == 5 << 20
        assert window["counters"]["entries"] == nodes


@pytest.mark.few_mpis
def test_ranks_share_where_memory_is_limited_to_little_more_than_they_ask_for(mpi, preload):
    limits = {"NEARCACHE_STORAGE": "1M", "NEARCACHE_MAX_STORAGE": "3M", "NEARCACHE_INDEX": 512}
    case = "what_one_fetched_serves_the_others_of_its_node"
    sharing = {"NEARCACHE_SHARE": "node", **limits, **POLITE}
    launch.run(mpi, 5, "sharing", "--only", case, env=sharing).check()


@pytest.mark.few_mpis
def test_windows_by_the_hundred_leave_addresses_for_others(mpi, preload):
    skip_where_nobody_shares(mpi)
    case = "windows_by_the_hundred_leave_addresses_for_others"
    sharing = {"NEARCACHE_SHARE": "node", "NEARCACHE_MAX_STORAGE": "64G", **POLITE}
    launch.run(mpi, 4, "sharing", "--only", case, "addresses", env=sharing).check()


@pytest.mark.few_mpis
@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_share_by_themselves_where_they_have_targets_on_other_nodes(
    mpi, preload, tmp_path, nodes
):
    name = tmp_path / "report.json"
    case = "what_one_fetched_serves_the_others_of_its_node"
    env = {"NEARCACHE_SHARE_NODES": nodes, "NEARCACHE_REPORT": name, **POLITE}
    launch.run(mpi, 5, "sharing", "--only", case, env=env).check()
    report = json.loads(name.read_text(encoding="utf-8"))
    assert (report["totals"]["hits_shared"] > 0) == (nodes == 2)
    caches = {"ranks": 5, "caches": 2} if nodes == 2 else None
    # where they do not, nobody asked for it
    assert [(each["sharing"], each["unshared"]) for each in report["windows"]] == [
        (caches, None)
    ] * 2


@pytest.mark.few_mpis
def test_where_nobody_can_share_windows_are_created_as_without_the_option(mpi, preload):
    def gathers(**env):
        below = [mpi.binary("libcount_mpi.so")]
        case = "what_one_fetched_serves_the_others_of_its_node"
        env = {**POLITE, "NEARCACHE_SHARE_NODES": 1, **env}
        result = launch.run(mpi, 5, "sharing", "--only", case, env=env, below=below).check()
        return int(re.search(r"count_mpi here .* gathers (\d+)", result.output)[1])

    windows, agreements = 2, 3
    without = gathers(NEARCACHE_SHARE="off")
    assert gathers() == without
    assert gathers(NEARCACHE_SHARE="node") == without + windows * agreements
    assert gathers(NEARCACHE_SHARE_NODES=2) == without + windows * agreements
    assert gathers(NEARCACHE_SHARE="node", NEARCACHE_SHARE_NODES=5) == without


@pytest.mark.few_mpis
def test_a_rank_alone_on_its_node_has_a_cache_of_its_own_and_the_report_says_why(
    mpi, preload, tmp_path
):
    name = tmp_path / "report.json"
    run(mpi, 5, NEARCACHE_REPORT=name)
    report = json.loads(name.read_text(encoding="utf-8"))
    assert report["totals"]["hits_shared"] == 0
    reasons = {window["unshared"] for window in report["windows"]}
    assert "no other rank of its node shares it" in reasons, reasons
