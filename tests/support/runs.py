"""The ways in which the tests of this folder run a program: cached, and cached over the lazy MPI."""

import pytest

from . import host_defects, launch

LAYERS = ["cached", "lazy"]


# What is preloaded below Nearcache.
BELOW = {"cached": [], "lazy": ["liblazy_mpi.so"], "shim": ["libshim_mpi.so"]}


def below_of(mpi, layer):
    return [mpi.binary(name) for name in BELOW[layer]]


def run(mpi, layer, ranks, program, *args, timeout=120, env=None, tcp=False, above=()):
    """Runs and checks; says whether the host alone fails as well when the cached run fails."""
    reason = host_defects.broken(mpi, program)
    if reason:
        pytest.skip(reason)
    below = below_of(mpi, layer)
    arguments = [*args, *host_defects.excepted(mpi, program)]
    result = launch.run(
        mpi, ranks, program, *arguments, below=below, above=above, timeout=timeout, env=env, tcp=tcp
    )
    hint = ""
    if result.code != 0:
        alone = launch.run(
            mpi, ranks, program, *arguments, preload=False, timeout=timeout, env=env, tcp=tcp
        )
        hint = f"without Nearcache: {'the host fails as well' if alone.code != 0 else 'passes'}"
    return result.check(hint)


def agrees_with_host(mpi, layer, ranks, program, *args, timeout=120, env=None):
    """Runs and checks; False, where the host alone fails at the very same: that says nothing of Nearcache."""
    below = below_of(mpi, layer)
    arguments = [*args, *host_defects.excepted(mpi, program)]
    for _ in range(3):
        result = launch.run(mpi, ranks, program, *arguments, below=below, timeout=timeout, env=env)
        if not host_defects.crashed(mpi, result):
            break
    if (
        result.code != 0
        and launch.run(
            mpi, ranks, program, *arguments, preload=False, below=below, timeout=timeout, env=env
        ).code
        != 0
    ):
        return False
    result.check("without Nearcache: passes")
    return True
