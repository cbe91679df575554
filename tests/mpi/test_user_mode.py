"""Mode user for a program that may not know of it: by NEARCACHE_MODE, as `nearcache run --mode user` sets it."""

import pytest
from support import launch

WARNING = "the program never called nearcache_invalidate"


def run(mpi, cases):
    return launch.run(
        mpi, 2, "user_mode", "--only", ",".join(cases), env={"NEARCACHE_MODE": "user"}
    ).check()


@pytest.mark.few_mpis
def test_windows_that_name_no_mode_are_transparent_until_the_program_invalidates(mpi, preload):
    result = run(mpi, ["never", "named", "first"])
    assert len(result.lines("ok")) == 3
    assert WARNING not in result.output, "it did, in the end"


@pytest.mark.few_mpis
def test_a_program_that_never_invalidates_is_told_once(mpi, preload):
    assert run(mpi, ["never"]).output.count(WARNING) == 1
