"""apps/rma, the applications of foMPI's paper: right results, the same on the host's one-sided communication and on the RMA engine, in every way to communicate."""

import json

import pytest
from support import host_defects, launch

WAYS = {
    "hashtable": ("rma", "messages"),
    "dsde": ("accumulate", "alltoall", "reduce_scatter", "nbx"),
    "fft3d": ("puts", "messages"),
    "milc_cg": ("rma", "messages"),
}
SIZES = {"hashtable": 100, "dsde": 8, "fft3d": 16, "milc_cg": 4}
ENGINE = {"NEARCACHE_RMA": "on", "NEARCACHE_VERBOSE": "2"}


def run(mpi, app, way, engine, ranks=2, size=None):
    if not mpi.binary(app).exists():
        pytest.skip(f"{app} is not built for this MPI")
    result = launch.run(
        mpi,
        ranks,
        app,
        "--way",
        way,
        "--size",
        size or SIZES[app],
        "--rounds",
        2,
        preload=engine,
        env=ENGINE if engine else None,
        timeout=90,
    )
    if engine:
        assert "a window uses the RMA engine" in result.output
    return result


def said(result):
    return json.loads(
        next(line for line in result.check().output.splitlines() if line.startswith("{"))
    )


@pytest.mark.few_mpis
@pytest.mark.parametrize("app", WAYS)
def test_host_and_engine_agree_in_every_way(mpi, preload, app):
    runs = [
        said(run(mpi, app, way, False))
        for way in WAYS[app]
        if way != "rma" or not host_defects.broken(mpi, app)
    ]
    runs += [said(run(mpi, app, way, True)) for way in WAYS[app]]
    assert all(each["correct"] and len(each["seconds"]) == 2 for each in runs)
    assert len({each["checksum"] for each in runs}) == 1


@pytest.mark.one_mpi
@pytest.mark.parametrize("app", WAYS)
def test_four_ranks_and_one(mpi, preload, app):
    for ranks in (1, 4):
        assert said(run(mpi, app, WAYS[app][0], True, ranks))["correct"]


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "words, code, message",
    [
        (("fft3d", "--size", 12), 1, "fft3d: --size 12 is not a power of two that 2 ranks divide"),
        (("dsde", "--way", "magic"), 2, "dsde: --way: magic not in"),
        (("milc_cg", "--rounds", 0), 2, "milc_cg: --rounds"),
    ],
)
def test_what_cannot_be_done_is_said(mpi, words, code, message):
    result = launch.run(mpi, 2, *words, preload=False)
    assert (result.code, result.timed_out) == (code, False)
    assert message in result.output
