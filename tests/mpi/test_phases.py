"""Quiet phases of mode transparent, and shared locks that need not go down: phases.cpp."""
import pytest
from support import runs

# At once, and for as long as a starved run may take.
QUIET = {"NEARCACHE_QUIET_AFTER": "0", "NEARCACHE_LONGEST_AGE": "3600s"}
AGE = "nothing_is_older_than_the_longest_age"


@pytest.mark.parametrize("layer", runs.LAYERS)
@pytest.mark.parametrize("strict", [False, True], ids=["quiet", "strict"])
def test_every_case(mpi, preload, layer, strict):
    runs.run(mpi, layer, 3, "phases", "--except", AGE, env=dict(QUIET, **({"NEARCACHE_STRICT_FLUSH": "1"} if strict else {})))


def test_longest_age(mpi, preload):
    runs.run(mpi, "cached", 3, "phases", "--only", AGE, env=dict(QUIET, NEARCACHE_LONGEST_AGE="2s"))
