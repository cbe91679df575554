"""Every call of the semantics table: another rank changes the data between two gets, the new value must be seen."""

import pytest
from support import runs


@pytest.mark.parametrize("layer", runs.LAYERS)
@pytest.mark.parametrize(
    "flush",
    [
        pytest.param({"NEARCACHE_STRICT_FLUSH": "1"}, id="strict", marks=pytest.mark.few_mpis),
        pytest.param({"NEARCACHE_QUIET_AFTER": "0"}, id="quiet"),
    ],
)
def test_every_row_of_the_semantics_table(mpi, preload, layer, flush):
    result = runs.run(mpi, layer, 2, "semantics", env=flush)
    assert len(result.lines("ok")) > 150
    assert not result.lines("skipped")
    has_ulfm = mpi.family == "openmpi" and mpi.version >= (5,)
    assert (
        ("ok learn_comm_agree\n" in result.output)
        == ("ok learn_comm_shrink\n" in result.output)
        == has_ulfm
    )


# Two ranks more, that read as well, so that the origin finds in its cache what they fetched. (Such runs take long where there are fewer
# cores than ranks.)
SHARING = {
    "NEARCACHE_SHARE": "node",
    "NEARCACHE_QUIET_AFTER": "0",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": 0,
}


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "layer, nodes",
    [
        pytest.param("lazy", 1, id="lazy-one_node"),
        pytest.param("cached", 1, id="cached-one_node", marks=pytest.mark.long),
        pytest.param("lazy", 2, id="lazy-two_nodes", marks=pytest.mark.long),
        pytest.param("cached", 2, id="cached-two_nodes", marks=pytest.mark.long),
    ],
)
def test_every_row_where_ranks_share_their_cache(mpi, preload, layer, nodes):
    if mpi.tag == "mpich-4.0.2":
        pytest.skip("flush_all_before_data: what has not come yet is not shared")
    env = {**SHARING, "NEARCACHE_SHARE_NODES": nodes}
    result = runs.run(mpi, layer, 4, "semantics", env=env)
    assert len(result.lines("ok")) > 150
    assert not result.lines("skipped")
    assert "ok neighbours_served_each_other\n" in result.output
