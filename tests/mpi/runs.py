"""The ways in which the tests of this folder run a program: cached, and cached over the lazy MPI."""
import launch
import pytest

import host_defects

LAYERS = ["cached", "lazy"]


def run(mpi, layer, ranks, program, *args, timeout=120, env=None, tcp=False):
    """Runs and checks; says whether the host alone fails as well when the cached run fails."""
    reason = host_defects.broken(mpi, program)
    if reason:
        pytest.skip(reason)
    below = [mpi.binary("liblazy_mpi.so")] if layer == "lazy" else []
    arguments = [*args, *host_defects.excepted(mpi, program)]
    result = launch.run(mpi, ranks, program, *arguments, below=below, timeout=timeout, env=env, tcp=tcp)
    hint = ""
    if result.code != 0:
        alone = launch.run(mpi, ranks, program, *arguments, preload=False, timeout=timeout, env=env, tcp=tcp)
        hint = f"without Nearcache: {'the host fails as well' if alone.code != 0 else 'passes'}"
    return result.check(hint)
