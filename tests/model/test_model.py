"""Random programs against an uncached oracle: model.cpp."""
import os
import sys
from pathlib import Path

import launch
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "mpi"))
import runs  # noqa: E402

SEED = int(os.environ.get("NEARCACHE_TEST_SEED", "1"))
OPERATIONS = 2_000_000 if launch.LONG else 25_000  # for each MPI and layer: 250,000 in all with five MPIs


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_random_programs(mpi, preload, layer):
    seed = SEED if layer == "cached" else SEED + 100_000
    result = runs.run(mpi, layer, 3, "model", "--seed", seed, "--ops", OPERATIONS, timeout=3600 if launch.LONG else 150)
    print(result.lines("model:"))
