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
