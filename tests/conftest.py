"""Fixtures of all tests: `mpi` runs a test once for every MPI of the build."""
import pytest

import launch


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        found = launch.mpis()
        metafunc.parametrize("mpi", found, ids=[mpi.tag for mpi in found])


@pytest.fixture
def preload(mpi):
    """The preload object of an MPI; the test is skipped where it was not built."""
    if not mpi.preload.exists():
        pytest.skip(f"{mpi.preload} is not built")
    return mpi.preload
