"""One cache for the ranks of a node: who is served what another rank fetched (sharing.cpp)."""

import json

import pytest
from support import launch

# Ranks that wait let each other run.
POLITE = {"MPIR_CVAR_POLLS_BEFORE_YIELD": 0}


def run(mpi, nodes, ranks=5, **env):
    sharing = {"NEARCACHE_SHARE": "node", "NEARCACHE_SHARE_NODES": nodes, **POLITE, **env}
    return launch.run(mpi, ranks, "sharing", env=sharing).check()


@pytest.mark.parametrize("nodes", [1, 2])
def test_ranks_of_a_node_serve_each_other(mpi, preload, nodes):
    if mpi.tag == "mpich-4.0.2":
        pytest.skip("flush_all_before_data: what has not come yet is not shared")
    result = run(mpi, nodes)
    assert len(result.lines("ok")) >= 11, result.output


@pytest.mark.few_mpis
def test_the_same_program_is_right_with_caches_apart(mpi, preload):
    launch.run(mpi, 5, "sharing", env=POLITE).check()


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
    for (
        window
    ) in windows:  # each rank brings as much as its own cache would be, though some never get
        assert window["counters"]["storage_bytes"] == 5 << 20
        assert window["counters"]["entries"] == nodes


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
