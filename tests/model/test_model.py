"""Random programs against an uncached oracle: model.cpp."""

import os

import pytest
from support import host_defects, launch, libfabric, runs

SEED = int(os.environ.get("NEARCACHE_TEST_SEED", "1"))
BATCHES = 3  # all under ./test --long; else the first that the host alone passes, too
OPERATIONS = 2_000_000 if launch.LONG else 10_000  # a batch; five MPIs, two layers: 100,000 in all


# In mode coherent, by the number of ranks: of three only is one told of what another writes to the third, two are much faster.
# With those on the RMA engine 10^6 in all.
COHERENT_OPERATIONS = {3: 25_000, 2: 100_000}


def run_batches(mpi, layer, first, *arguments, ranks=3, operations=OPERATIONS, env=None):
    seeds = [first + 1000 * batch for batch in range(BATCHES)]
    checked = []
    for seed in seeds:
        if runs.agrees_with_host(
            mpi,
            layer,
            ranks,
            "model",
            "--seed",
            seed,
            "--ops",
            operations,
            *arguments,
            timeout=3600 if launch.LONG else 120,
            env=env,
        ):
            checked.append(seed)
            if not launch.LONG:
                break
    print(f"seeds {seeds}, checked {checked}")
    if not checked:
        pytest.skip(f"{mpi.tag} alone fails at every seed of {seeds}")


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_random_programs(mpi, preload, layer):
    run_batches(mpi, layer, SEED if layer == "cached" else SEED + 100_000)


@pytest.mark.parametrize("ranks", COHERENT_OPERATIONS)
@pytest.mark.parametrize("layer", runs.LAYERS)
def test_random_programs_in_mode_coherent(mpi, preload, layer, ranks):
    if host_defects.without_quiet_phases(mpi):
        pytest.skip("with this MPI nothing is kept across acquires")
    operations = (
        COHERENT_OPERATIONS[ranks] * (10 if launch.LONG else 1) // (BATCHES if launch.LONG else 1)
    )
    # Else windows are gone before it begins; ranks that wait let each other run.
    env = {"NEARCACHE_QUIET_AFTER": 1, "MPIR_CVAR_POLLS_BEFORE_YIELD": 0}
    run_batches(
        mpi,
        layer,
        SEED + (300_000 if layer == "cached" else 400_000),
        "--coherent",
        ranks=ranks,
        operations=operations,
        env=env,
    )


@pytest.mark.few_mpis
@pytest.mark.parametrize(
    "layer, nodes, words",
    [
        pytest.param("cached", 1, (), id="cached-one_node-every_mode"),
        pytest.param("lazy", 1, (), id="lazy-one_node-every_mode", marks=pytest.mark.long),
        pytest.param("cached", 2, (), id="cached-two_nodes-every_mode", marks=pytest.mark.long),
        pytest.param("lazy", 2, (), id="lazy-two_nodes-every_mode"),
        pytest.param("cached", 1, ("--coherent",), id="cached-one_node-coherent"),
        pytest.param(
            "lazy", 1, ("--coherent",), id="lazy-one_node-coherent", marks=pytest.mark.long
        ),
        pytest.param(
            "cached", 2, ("--coherent",), id="cached-two_nodes-coherent", marks=pytest.mark.long
        ),
        pytest.param("lazy", 2, ("--coherent",), id="lazy-two_nodes-coherent"),
    ],
)
def test_random_programs_whose_ranks_share_their_caches(mpi, preload, layer, nodes, words):
    if words and host_defects.without_quiet_phases(mpi):
        pytest.skip("with this MPI nothing is kept across acquires")
    env = {
        "NEARCACHE_SHARE": "node",
        "NEARCACHE_SHARE_NODES": nodes,
        "NEARCACHE_QUIET_AFTER": 1,
        "MPIR_CVAR_POLLS_BEFORE_YIELD": 0,
    }
    first = SEED + 600_000 + 10_000 * nodes + (5_000 if words else 0)
    first += 100_000 if layer == "lazy" else 0
    run_batches(mpi, layer, first, *words, ranks=host_defects.ranks_of_halves(mpi), env=env)


@pytest.mark.few_mpis
@pytest.mark.parametrize("words", [(), ("--coherent",)], ids=["every_mode", "coherent"])
def test_random_programs_on_the_rma_engine(mpi, preload, words):
    if words and host_defects.without_quiet_phases(mpi):
        pytest.skip("with this MPI nothing is kept across acquires")
    env = {"NEARCACHE_RMA": "on", "NEARCACHE_QUIET_AFTER": 1}
    operations = (10 if words else 5) * OPERATIONS
    run_batches(mpi, "cached", SEED + 500_000, *words, operations=operations, env=env)


@pytest.mark.one_mpi
@pytest.mark.parametrize("rdma", ["auto", "on"])  # by software only if it is on
def test_random_programs_on_the_rma_engine_over_libfabric(mpi, preload, rdma):
    libfabric.skip_without(mpi)
    env = {**libfabric.ENV, "NEARCACHE_VERBOSE": "1", "NEARCACHE_RMA_RDMA": rdma}
    first = SEED + (600_000 if rdma == "auto" else 610_000)
    run_batches(mpi, "cached", first, operations=2 * OPERATIONS, env=env)


# (The lazy MPI needs MPI_COMM_SELF.)
def test_random_programs_with_sessions_only(mpi, preload):
    if mpi.family != "abi" and mpi.version < (5,):
        pytest.skip("this MPI has no sessions, or counts them as a preview")
    if mpi.family == "openmpi":
        pytest.skip("Open MPI 5.0.11 alone ends such a program without a word")
    run_batches(mpi, "cached", SEED + 200_000, "--sessions")
