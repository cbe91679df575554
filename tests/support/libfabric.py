"""The RMA engine over libfabric, by its provider for TCP, which every machine has."""

import re

import pytest

from . import launch

ENV = {
    "NEARCACHE_RMA": "on",
    "NEARCACHE_RMA_FABRIC": "ofi",
    "NEARCACHE_RMA_PROVIDER": "tcp",
    "NEARCACHE_VERBOSE": "2",
}


def skip_without(mpi):
    """Skips a test where there is no libfabric, or the build knows none."""
    result = launch.run(mpi, 2, "rma", "--only", "exclusive_locks_exclude", env=ENV).check()
    why = re.search(
        r"go by libfabric: (.*(?:cannot open shared|libfabric's headers).*)", result.output
    )
    if why:
        pytest.skip(why[1])
