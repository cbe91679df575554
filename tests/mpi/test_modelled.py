"""The network model: modelled.cpp."""

import pytest
from support import launch


@pytest.mark.few_mpis
def test_every_operation_is_delayed_however_it_is_completed(mpi, preload):
    result = launch.run(mpi, 2, "modelled", env={"NEARCACHE_MODEL": "5000000,0"}).check()
    assert len(result.lines("ok")) == 2
