"""Fixtures of all tests: `mpi` runs a test once for every MPI of the build, `shmem` once for every OpenSHMEM."""

import pytest
from support import launch, launch_shmem


def newest_of_each_family(mpis):
    """One MPICH and one Open MPI, in this order: enough for what does not depend on the MPI."""
    newest = {}
    for mpi in sorted(
        mpis,
        key=lambda mpi: [int(part) for part in mpi.tag.split("-")[-1].split(".") if part.isdigit()],
    ):
        newest[mpi.tag.split("-")[0]] = mpi
    return [mpi for family, mpi in sorted(newest.items()) if family != "abi" or len(newest) == 1]


def pytest_generate_tests(metafunc):
    if "mpi" in metafunc.fixturenames:
        found = launch.mpis()
        if not launch.LONG and metafunc.definition.get_closest_marker("one_mpi"):
            found = newest_of_each_family(found)[:1]
        elif not launch.LONG and metafunc.definition.get_closest_marker("few_mpis"):
            found = newest_of_each_family(found)
        metafunc.parametrize("mpi", found, ids=[mpi.tag for mpi in found])
    if "shmem" in metafunc.fixturenames:
        found = launch_shmem.shmems()
        metafunc.parametrize("shmem", found, ids=[shmem.tag for shmem in found])


def pytest_collection_modifyitems(config, items):
    """The lazy MPI hides what is below it, so one of each family is enough, all under ./test --long."""
    if launch.LONG:
        return
    few = newest_of_each_family(launch.mpis())

    def kept(item):
        given = getattr(item, "callspec", None)
        return not given or given.params.get("layer") != "lazy" or given.params.get("mpi") in few

    config.hook.pytest_deselected(items=[item for item in items if not kept(item)])
    items[:] = [item for item in items if kept(item)]


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
