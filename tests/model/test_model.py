"""Random programs against an uncached oracle: model.cpp."""
import os

import pytest
from support import launch, runs


SEED = int(os.environ.get("NEARCACHE_TEST_SEED", "1"))
BATCHES = 3  # all under ./test --long; else the first that the host alone passes, too
OPERATIONS = 2_000_000 if launch.LONG else 10_000  # a batch; five MPIs, two layers: 100,000 in all


def run_batches(mpi, layer, first, *arguments):
    seeds = [first + 1000 * batch for batch in range(BATCHES)]
    checked = []
    for seed in seeds:
        if runs.agrees_with_host(mpi, layer, 3, "model", "--seed", seed, "--ops", OPERATIONS, *arguments, timeout=3600 if launch.LONG else 120):
            checked.append(seed)
            if not launch.LONG:
                break
    print(f"seeds {seeds}, checked {checked}")
    if not checked:
        pytest.skip(f"{mpi.tag} alone fails at every seed of {seeds}")


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_random_programs(mpi, preload, layer):
    run_batches(mpi, layer, SEED if layer == "cached" else SEED + 100_000)


# (The lazy MPI needs MPI_COMM_SELF.)
def test_random_programs_with_sessions_only(mpi, preload):
    if mpi.family != "abi" and mpi.version < (5,):
        pytest.skip("this MPI has no sessions, or counts them as a preview")
    if mpi.family == "openmpi":
        pytest.skip("Open MPI 5.0.11 alone ends such a program without a word")
    run_batches(mpi, "cached", SEED + 200_000, "--sessions")
