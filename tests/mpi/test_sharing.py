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
