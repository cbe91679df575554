"""`nearcache doctor`."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nearcache import home, libraries
from nearcache.doctor import checks, launchers, selftest
from support import launch
from support.processes import have_ended


@pytest.mark.parametrize(
    "code, output, level, text",
    [
        (0, "selftest: ok hits=12\n", "ok", "12 hits"),
        (0, "selftest: ok hits=0\n", "wrong", "nothing was served"),
        (2, "selftest: nearcache is not loaded\n", "wrong", "no effect"),
        (1, "selftest: FAILED wrong values\n", "wrong", "wrong values"),
        (
            1,
            f"selftest: FAILED {selftest.SINGLE_RANK}\n" * 2,
            "wrong",
            "each rank as a job of its own",
        ),
        (139, "a\nb\nSegmentation fault\n", "wrong", "Segmentation fault"),
        (None, "", "wrong", "did not finish within 5 s"),
    ],
)
def test_outcomes_of_a_self_test_are_told_apart(code, output, level, text):
    finding = selftest.judge(code, output, 5)
    assert finding.level == level and text in finding.text


DONE = "nearcache: a window uses the RMA engine\n"
LEFT = "nearcache: a window does not use the RMA engine: it has no network\n"


@pytest.mark.parametrize(
    "code, output, level, text",
    [
        (0, DONE + "selftest: ok hits=12\n", "ok", "RMA engine over TCP"),
        (0, LEFT + "selftest: ok hits=12\n", "note", "left to the MPI: it has no network"),
        (0, "selftest: ok hits=12\n", "note", "left to the MPI"),
        (1, DONE + "selftest: FAILED 3 wrong values\n", "wrong", "over TCP: self-test"),
        (None, DONE, "wrong", "did not finish within 5 s"),
    ],
)
def test_outcomes_of_a_self_test_on_the_engine_are_told_apart(code, output, level, text):
    finding = selftest.judge_engine("over TCP", code, output, 5)
    assert finding.level == level and text in finding.text


def test_each_fabric_of_the_engine_is_tried(mpi, preload):
    item = next(item for item in home.find().objects() if item.tag == mpi.tag)
    findings = selftest.engine_findings(item, mpi.mpiexec, item, 60)
    texts = [finding.text for finding in findings]
    levels = dict(zip(selftest.FABRICS, (finding.level for finding in findings)))
    assert levels["socket"] == levels["node"] == "ok", texts
    assert levels["ofi"] in ("ok", "note"), texts  # there may be no libfabric
    assert ["TCP" in text for text in texts] == [True, False, False], texts


def test_every_mpi_of_the_build_is_found_among_the_launchers():
    if not launch.mpis():
        pytest.skip("there is no build")
    found = launchers.launchers(launchers.folders(launch.BUILD))
    tags = {owner.tag for owner in found.values()}
    for mpi in launch.mpis():
        beside = launchers.launchers([Path(mpi.mpiexec).parent])
        assert mpi.family == "abi" or mpi.tag in tags | {owner.tag for owner in beside.values()}


def test_a_launcher_that_is_not_in_path_is_found_beside_its_library(mpi, preload):
    """As of modules that are not loaded."""
    item = next(item for item in home.find().objects() if item.tag == mpi.tag)
    prefix = libraries.used_by(item.selftest).mpi.parent.parent
    if not os.access(prefix / "bin" / "mpiexec", os.X_OK):
        pytest.skip("this MPI is the system's")
    texts = [finding.text for finding in checks.examine_object(item, {}, False, 60)]
    assert any(f"launcher {prefix}/bin/mpi" in text for text in texts), texts


def test_objects_without_self_test_are_noted_and_nothing_is_wrong(fake_home, nearcache):
    done = nearcache("doctor")
    assert done.returncode == 0, done.stdout
    assert (
        "mpich-4.0.2: " in done.stdout
        and "no self-test program" in done.stdout
        and "nothing is wrong" in done.stdout
    )


def test_missing_objects_are_wrong_and_the_cure_is_named(fake_home, nearcache):
    for folder in (fake_home / "lib").iterdir():
        (folder / "libnearcache_mpi.so").unlink()
    done = nearcache("doctor", "--no-run")
    assert done.returncode == 3
    assert "there are no preload objects; build them: nearcache build" in done.stdout


def test_a_folder_from_which_nothing_can_be_preloaded_is_wrong(fake_home, nearcache, monkeypatch):
    moved = fake_home.rename(fake_home.with_name("with blank"))
    monkeypatch.setenv("NEARCACHE_HOME", str(moved))
    done = nearcache("doctor", "--no-run")
    assert done.returncode == 3 and "blanks and colons" in done.stdout, done.stdout


def test_what_advise_lacks_is_noted(fake_home, nearcache):
    assert "nearcache-simulate" not in nearcache("doctor", "--no-run").stdout
    (fake_home / "bin" / "nearcache-simulate").unlink()
    done = nearcache("doctor", "--no-run")
    assert done.returncode == 0, done.stdout
    assert "note  no advise and no simulate: nearcache-simulate is not in" in done.stdout


@pytest.mark.parametrize(
    "variables, coloured",
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)],
)
def test_a_terminal_gets_colours_unless_it_wants_none(fake_home, variables, coloured):
    environment = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}
    environment.update({"PYTHONPATH": str(launch.ROOT / "python"), "TERM": "xterm", **variables})
    ours, its = os.openpty()
    words = [sys.executable, "-m", "nearcache", "doctor", "--no-run"]
    process = subprocess.Popen(words, env=environment, stdout=its, stderr=its)
    os.close(its)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while more := os.read(ours, 4096):
            said += more
    os.close(ours)
    assert process.wait(timeout=60) == 0 and b"no self-test program" in said
    assert (b"\x1b[" in said) == coloured


def ended_by_a_signal(words, started, env):
    """Starts the command, and ends it once a process of it has written its number into `started`; that process must go, too."""
    command = subprocess.Popen(
        [sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(launch.ROOT / "python"), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    while not started.exists() or not started.read_text().endswith("\n"):
        assert command.poll() is None, command.stdout.read()
        time.sleep(0.05)
    number = int(started.read_text())
    try:
        command.terminate()
        command.communicate(timeout=60)
        assert command.returncode == -signal.SIGTERM
        assert have_ended([number])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.mark.one_mpi
def test_a_self_test_that_hangs_goes_with_doctor(mpi, home_with_mpi, tmp_path):
    from support.programs import compiled

    source = r"""
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    FILE *file = fopen("STARTED", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
  }
  sleep(300);
  return 0;
}""".replace("STARTED", str(tmp_path / "started"))
    (home_with_mpi / "bin" / mpi.tag).mkdir(parents=True)
    compiled(home_with_mpi / "bin" / mpi.tag, "nearcache-selftest", source, mpi.wrapper)
    path = os.path.dirname(mpi.mpiexec) + os.pathsep + os.environ["PATH"]
    words = ["-m", "nearcache", "doctor", "--mpi", mpi.tag, "--timeout", 300]
    ended_by_a_signal(words, tmp_path / "started", {"PATH": path})


def test_compilers_and_their_folder_go_with_build(tmp_path):
    """cmake does not pass signals on to what it has started."""
    (tmp_path / "bin").mkdir()
    cmake = tmp_path / "bin" / "cmake"
    cmake.write_text(f"#!/bin/sh\nsleep 300 & echo $! > {tmp_path}/started; wait\n")
    cmake.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    program = (
        "from pathlib import Path; from nearcache import cli, home\n"
        f"home.WHEEL = Path({str(tmp_path)!r}); cli.main(['build', '--prefix', '{tmp_path}/prefix'])"
    )
    path = str(tmp_path / "bin") + os.pathsep + os.environ["PATH"]
    environment = {"PATH": path, "TMPDIR": str(tmp_path / "tmp")}
    ended_by_a_signal(["-c", program], tmp_path / "started", environment)
    assert not list((tmp_path / "tmp").iterdir())


def test_self_test_without_preloading_is_wrong(mpi, home_with_mpi, nearcache):
    """A self-test that never sees the library, under the launcher of every MPI."""
    from support.programs import compiled

    source = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  puts("selftest: nearcache is not loaded");
  MPI_Finalize();
  return 2;
}"""
    (home_with_mpi / "bin" / mpi.tag).mkdir(parents=True)
    compiled(home_with_mpi / "bin" / mpi.tag, "nearcache-selftest", source, mpi.wrapper)
    path = os.path.dirname(mpi.mpiexec) + os.pathsep + os.environ["PATH"]
    done = nearcache("doctor", "--mpi", mpi.tag, env={"PATH": path})
    assert done.returncode == 3, done.stdout
    assert "preloading has no effect" in done.stdout and "1 problem found" in done.stdout


def test_root_is_told_what_open_mpi_wants(monkeypatch):
    from nearcache.mpi import Mpi

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    for name in launchers.ROOT_VARIABLES + launchers.ROOT_VARIABLES_5:
        monkeypatch.delenv(name, raising=False)
    four, five = (
        launchers.root_findings(Mpi("openmpi", version, ""))[0].text
        for version in ("4.1.4", "5.0.11")
    )
    assert "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" in four and "PRTE" not in four
    assert "PRTE_ALLOW_RUN_AS_ROOT=1" in five
    assert launchers.root_findings(Mpi("mpich", "4.0.2", "")) == []


@pytest.mark.parametrize(
    "name, text, seen, unseen",
    [
        (
            "libmpi.so.12",
            "MPICH Version:\\t4.0.2",
            ["MPI_Rget with a derived datatype", "MPI_Win_flush_all"],
            ["MPI_Get_accumulate"],
        ),
        (
            "libmpi_abi.so.1",
            "MPICH Version:\\t5.0.2",
            ["MPICH 5.0.2 has a known defect: the wait of an MPI_Rget"],
            ["MPI_Win_flush_all"],
        ),
        (
            "libmpi.so.12",
            "Intel(R) MPI Library 2021.9 for Linux",
            ["MPI_Rget with a derived datatype"],
            ["MPI_Win_flush_all"],
        ),
        (
            "libmpi.so.40",
            "Open MPI v4.1.4, package: x",
            ["MPI_Win_create fails"],
            ["MPI_Rget"],
        ),
        ("libmpi.so.40", "Open MPI v5.0.99, package: x", [], ["has a known defect"]),
    ],
)
def test_known_defects_of_a_host_are_told(fake_home, tmp_path, name, text, seen, unseen):
    from support.programs import fake_library

    item = home.PreloadObject("mpich-4.0.2", tmp_path / "object", tmp_path / "selftest")
    findings = checks.host_findings(item, fake_library(tmp_path, name, text))
    told = "\n".join(finding.text for finding in findings)
    assert all(finding.level == "note" for finding in findings)
    assert all(words in told for words in seen) and not any(words in told for words in unseen), told


def test_known_defects_of_an_openshmem_are_told(fake_home, tmp_path):
    item = home.PreloadObject("oshmem-4.1.4", tmp_path / "object", tmp_path / "selftest")
    assert any(
        "compare-and-swap of 32 bits" in finding.text
        for finding in checks.host_findings(item, None)
    )


def test_unknown_mpi_is_reported(fake_home, nearcache):
    done = nearcache("doctor", "--mpi", "mpich-9")
    assert done.returncode == 2 and "mpich-4.0.2" in done.stderr


def test_only_what_was_asked_for_is_reported(fake_home, nearcache, tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "mpiexec").write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.9.9'\n")
    (folder / "mpiexec").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    assert "openmpi-4.9.9: " in nearcache("doctor", "--no-run").stdout
    assert "openmpi-4.9.9" not in nearcache("doctor", "--no-run", "--mpi", "mpich-5.0.2").stdout


def test_real_objects_pass_their_self_tests(mpi, preload, nearcache):
    if not mpi.binary("nearcache-selftest").exists():
        pytest.skip("nearcache-selftest is not built")
    done = nearcache(
        "doctor",
        "--mpi",
        mpi.tag,
        "--timeout",
        "60",
        env={
            "NEARCACHE_HOME": str(launch.BUILD),
            "PATH": os.path.dirname(mpi.mpiexec) + os.pathsep + os.environ["PATH"],
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "self-test on 2 ranks: " in done.stdout


@pytest.fixture
def upc_object(tmp_path):
    folder = tmp_path / "lib" / "oshmem-4.1.4"
    folder.mkdir(parents=True)
    return home.Home(tmp_path), home.PreloadObject(
        "oshmem-4.1.4", folder / "libnearcache_shmem.so", folder / "selftest"
    )


def test_build_without_upc_is_noted(upc_object):
    (finding,) = checks.upc_findings(*upc_object)
    assert finding.level == "note" and "no UPC" in finding.text


def test_what_upcc_lacks_is_named(upc_object, monkeypatch):
    where, item = upc_object
    (item.path.parent / "libnearcache_upc.a").touch()
    where.upc.parent.mkdir(parents=True)
    where.upc.write_text("{}")
    monkeypatch.setattr(checks.importlib.util, "find_spec", lambda name: None)
    (finding,) = checks.upc_findings(where, item)
    assert finding.level == "wrong" and "pycparser" in finding.text
    where.upc.unlink()
    (finding,) = checks.upc_findings(where, item)
    assert "pycparser" in finding.text and "upc.json" in finding.text


def test_complete_upc_is_ok_and_an_old_pycparser_is_not(upc_object, monkeypatch):
    pycparser = pytest.importorskip("pycparser")
    where, item = upc_object
    (item.path.parent / "libnearcache_upc.a").touch()
    where.upc.parent.mkdir(parents=True)
    where.upc.write_text("{}")
    (finding,) = checks.upc_findings(where, item)
    assert finding.level == ("ok" if sys.version_info >= (3, 11) else "wrong")
    monkeypatch.setattr(pycparser, "__version__", "2.21")
    (finding,) = checks.upc_findings(where, item)
    assert finding.level == "wrong" and "pycparser 3.12 (this is 2.21" in finding.text
