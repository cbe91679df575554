"""Programs in the three Fortran bindings: Nearcache must see their calls, serve their gets, and never a stale value."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support import host_defects, launch

HERE = Path(__file__).resolve().parent
BINDINGS = ["MPIF_H", "MPI", "MPI_F08"]


def compiler(mpi):
    """The Fortran wrapper beside the C one: mpicc.mpich -> mpif90.mpich."""
    wrapper = Path(mpi.wrapper)
    return wrapper.with_name(wrapper.name.replace("mpicc", "mpif90"))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """{(MPI, program, binding): its path}, each built once for all tests."""
    return {}, tmp_path_factory.mktemp("fortran")


@pytest.fixture
def build(mpi, built):
    """Builds a program of this folder in one binding; skips where there is no Fortran."""
    if not shutil.which("gfortran"):
        pytest.skip("no gfortran")
    if mpi.family == "abi" or not compiler(mpi).exists():
        pytest.skip(f"{mpi.tag} brings no Fortran binding")
    programs, folder = built

    def build_one(name, binding):
        key = mpi.tag, name, binding
        if key not in programs:
            output = folder / "-".join(key)
            subprocess.run(
                [
                    str(compiler(mpi)),
                    "-cpp",
                    "-O1",
                    "-w",
                    "-ffree-line-length-none",
                    "-fallow-argument-mismatch",
                    f"-I{HERE}",
                    f"-DBINDING_{binding}",
                    str(HERE / f"{name}.F90"),
                    "-o",
                    str(output),
                ],
                check=True,
                timeout=120,
            )
            programs[key] = output
        return programs[key]

    return build_one


def run_with_report(mpi, binary, folder, mode, *args):
    """Runs with Nearcache and returns the totals of its counters."""
    report = folder / "report.json"
    env = {"NEARCACHE_MODE": mode, "NEARCACHE_REPORT": str(report)}
    launch.run(mpi, 2, binary, *args, env=env).check()
    return json.loads(report.read_text())["totals"]


@pytest.mark.long
@pytest.mark.parametrize("binding", BINDINGS)
def test_programs_are_right_without_nearcache(mpi, build, binding):
    for name in ("learn", "synchronise"):
        launch.run(mpi, 2, build(name, binding), preload=False).check()


@pytest.mark.parametrize("binding", BINDINGS)
def test_what_another_rank_changed_is_seen_after_every_call_that_tells(
    mpi, preload, build, binding, tmp_path
):
    totals = run_with_report(mpi, build("learn", binding), tmp_path, "transparent")
    assert totals["gets"] > 0, "the gets must have passed by Nearcache"


@pytest.mark.parametrize("mode", ["transparent", "off"])
@pytest.mark.parametrize("binding", BINDINGS)
def test_every_synchronisation_and_access_gives_the_right_values(
    mpi, preload, build, binding, mode, tmp_path
):
    totals = run_with_report(mpi, build("synchronise", binding), tmp_path, mode)
    if mode == "transparent":
        assert totals["gets"] > 0 and totals["puts"] > 0 and totals["accumulates"] > 0


@pytest.mark.parametrize("binding", BINDINGS)
def test_repeats_are_hits_and_own_writes_are_seen_in_mode_always(
    mpi, preload, build, binding, tmp_path
):
    totals = run_with_report(mpi, build("synchronise", binding), tmp_path, "always", "own")
    # Twenty gets of one word from the allocated window: the first one misses; each is counted once.
    assert 19 <= totals["hits_full"] + totals["hits_pending"]
    assert totals["gets"] < 50


@pytest.mark.parametrize("binding", BINDINGS)
def test_requests_and_windows_answer_as_without_nearcache(mpi, preload, build, binding):
    assert len(launch.run(mpi, 2, build("results", binding)).check().lines("ok")) > 20
    if not host_defects.broken(mpi, f"results-{binding}"):
        launch.run(mpi, 2, build("results", binding), preload=False).check()


@pytest.mark.parametrize("binding", BINDINGS)
def test_the_network_model_delays_what_requests_complete(mpi, preload, build, binding):
    # Five requests read the same word: each is to go down.
    env = {"NEARCACHE_MODEL": "20000000,0", "NEARCACHE_STRICT_FLUSH": "1"}
    result = launch.run(mpi, 2, build("results", binding), "modelled", env=env).check()
    assert len(result.lines("ok")) == 5


def test_sessions_of_mpi_f08_are_counted(mpi, preload, build, tmp_path):
    """There is a report when the last one ends, and the windows know of threads that it brings."""
    if mpi.family == "openmpi" and mpi.version < (5,):
        pytest.skip("this MPI has no sessions")
    report = tmp_path / "report.json"
    env = {"NEARCACHE_REPORT": str(report)}
    result = launch.run(mpi, 2, build("session", "MPI_F08"), env=env).check()
    assert len(result.lines("ok")) == 2
    found = json.loads(report.read_text())
    assert found["totals"]["gets"] == 20
    assert "MPI_THREAD_MULTIPLE" in json.dumps(found["windows"])
