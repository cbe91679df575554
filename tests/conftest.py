"""Fixtures of all tests: `mpi` runs a test once for every MPI of the build, `shmem` once for every OpenSHMEM."""

import gc
import tempfile

import pytest
from support import launch, launch_shmem

# Most of what pytest makes stays until it ends. Looking for cycles there takes a quarter of the
# time to collect the tests.
gc.set_threshold(100_000, 50)


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        found = launch.mpis()
        if not launch.LONG and metafunc.definition.get_closest_marker("one_mpi"):
            found = launch.newest_of_each_family(found)[:1]
        elif not launch.LONG and metafunc.definition.get_closest_marker("few_mpis"):
            found = launch.newest_of_each_family(found)
        metafunc.parametrize("mpi", found, ids=[mpi.tag for mpi in found])
    if "shmem" in metafunc.fixturenames:
        found = launch_shmem.shmems()
        metafunc.parametrize("shmem", found, ids=[shmem.tag for shmem in found])


def pytest_collection_modifyitems(config, items):
    """The lazy MPI hides what is below it, so one of each family is enough, as for parameters with the mark; all under ./test --long."""
    if launch.LONG:
        return
    few = launch.newest_of_each_family(launch.mpis())

    def kept(item):
        given = getattr(item, "callspec", None)
        if not given or "mpi" not in given.params or given.params["mpi"] in few:
            return True
        return given.params.get("layer") != "lazy" and not item.get_closest_marker("few_mpis")

    config.hook.pytest_deselected(items=[item for item in items if not kept(item)])
    items[:] = [item for item in items if kept(item)]


@pytest.fixture(autouse=True)
def own_temporary_folder(monkeypatch):
    """A TMPDIR for each test, removed with what killed jobs leave in it.

    Open MPI 5 names a job's folder by its launcher's pid (ompi.PID), and a launcher that gets the pid of a killed one
    finds its files and ends: "The PMIx server's listener thread failed to start".
    """
    with tempfile.TemporaryDirectory(prefix="nc-", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield


@pytest.fixture
def preload(mpi):
    """The preload object of an MPI; the test is skipped where it was not built."""
    if not mpi.preload.exists():
        pytest.skip(f"{mpi.preload} is not built")
    return mpi.preload


@pytest.fixture
def preload_shmem(shmem):
    """The preload object of an OpenSHMEM; the test is skipped where it was not built."""
    if not shmem.preload.exists():
        pytest.skip(f"{shmem.preload} is not built")
    return shmem.preload
