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


def agrees_with_host(mpi, layer, ranks, program, *args, timeout=120):
    """Runs and checks; False, where the host alone fails at the very same: that says nothing of Nearcache."""
    below = [mpi.binary("liblazy_mpi.so")] if layer == "lazy" else []
    arguments = [*args, *host_defects.excepted(mpi, program)]
    result = launch.run(mpi, ranks, program, *arguments, below=below, timeout=timeout)
    if result.code != 0 and launch.run(mpi, ranks, program, *arguments, preload=False, below=below, timeout=timeout).code != 0:
        return False
    result.check("without Nearcache: passes")
    return True
