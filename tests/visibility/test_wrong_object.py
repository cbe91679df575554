"""An object that was built for another family of MPI says so and leaves the program as it was."""

import pytest
from support import launch


def others(mpi):
    return [
        other for other in launch.mpis() if other.family != mpi.family and other.preload.exists()
    ]


def test_a_wrong_object_steps_aside_with_one_message(mpi):
    if not others(mpi):
        pytest.skip("no object of another family is built")
    for other in others(mpi):
        plain = launch.run(mpi, 2, "nearcache-selftest", preload=False)
        assert plain.code == 2 and "nearcache is not loaded" in plain.output
        wrong = launch.run(mpi, 2, "nearcache-selftest", preload=False, above=[other.preload])
        assert wrong.output.count("nearcache: this object is for") == 1
        assert "no get was served" in wrong.output, (
            "the program itself must run and read the right values"
        )


def test_the_right_object_passes_the_selftest(mpi, preload):
    result = launch.run(mpi, 2, "nearcache-selftest").check()
    assert "selftest: ok hits=" in result.output


def test_a_program_without_mpi_is_left_alone(mpi, preload):
    result = launch.execute(["env", f"LD_PRELOAD={preload}", "echo", "hello"], 30)
    assert (result.code, result.output) == (0, "hello\n")
