"""Mode coherent: coherent.cpp."""

import pytest
from support import host_defects, runs

# At once, and for as long as a starved run may take.
COHERENT = {"NEARCACHE_QUIET_AFTER": "1", "NEARCACHE_LONGEST_AGE": "3600s"}


def keeps(mpi):
    """An MPI without quiet phases has no kept hits, and must be right all the same."""
    return () if host_defects.without_quiet_phases(mpi) else ("--kept",)


@pytest.mark.parametrize("layer", runs.LAYERS)
def test_every_case(mpi, preload, layer):
    runs.run(mpi, layer, 3, "coherent", *keeps(mpi), env=COHERENT, timeout=300)


@pytest.mark.few_mpis
def test_of_programs_with_threads_nothing_is_kept(mpi, preload):
    runs.run(mpi, "cached", 3, "coherent", "--threads", env=COHERENT, timeout=300)


@pytest.mark.few_mpis
def test_strict_flush(mpi, preload):
    runs.run(
        mpi, "cached", 3, "coherent", env=dict(COHERENT, NEARCACHE_STRICT_FLUSH="1"), timeout=300
    )


@pytest.mark.long
@pytest.mark.few_mpis
def test_over_the_network(mpi, preload):
    runs.run(
        mpi,
        "cached",
        3,
        "coherent",
        *keeps(mpi),
        "--except",
        "more_windows_than_slots",
        env=COHERENT,
        tcp=True,
        timeout=300,
    )
