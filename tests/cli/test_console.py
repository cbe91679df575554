"""Build folders of ./demo, ./test and what else builds."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.launch import ROOT

sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bench")]
import console  # noqa: E402
import coverage  # noqa: E402
from driver import build as bench_build  # noqa: E402


def test_a_build_folder_that_was_moved_is_configured_anew(tmp_path):
    def cmake(folder):
        subprocess.run(
            ["cmake", "-S", folder, "-B", folder / "build"], check=True, capture_output=True
        )

    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(nothing NONE)\n"
    )
    assert not console.configured(checkout / "build")
    cmake(checkout)
    assert console.configured(checkout / "build")
    (tmp_path / "link").symlink_to(checkout)
    assert console.configured(tmp_path / "link" / "build")
    moved = checkout.rename(tmp_path / "moved")
    assert not console.configured(moved / "build")
    cmake(moved)
    assert console.configured(moved / "build")


@pytest.fixture
def moved(tmp_path):
    """A build folder whose checkout was elsewhere when it was configured."""
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_CACHEFILE_DIR:INTERNAL=/elsewhere\n")
    return tmp_path


def test_bench_run_configures_a_moved_build_anew(moved, monkeypatch):
    (moved / "bench").mkdir()
    (moved / "bench" / "mpis.json").write_text('{"mpich-5.0.2": "/elsewhere/bin/mpicc"}')
    steps = []
    monkeypatch.setattr(bench_build, "command", lambda words, what: steps.append(what))
    bench_build.Build(moved, "mpich-5.0.2").make()
    assert f"configuring {moved}" in steps


def test_coverage_forgets_what_was_noted_before_a_move(moved, monkeypatch):
    def stop(words, log):
        raise console.Failed

    monkeypatch.setattr(coverage, "FOLDER", moved)
    monkeypatch.setattr(coverage, "logged", stop)
    with pytest.raises(console.Failed):
        coverage.build(moved / "log")
    assert not (moved / "CMakeCache.txt").exists()


@pytest.mark.parametrize("whose", ["build/log", "build/lanes/chosen.xml"])
def test_a_build_folder_of_another_user_is_named_with_what_to_do(whose):
    """Root has made the build folder, or that of the tests' results: for a build with nothing to do."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    cmake = "#!/bin/sh\nexit 0\n"
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to others
        checkout = Path(name)
        shutil.copytree(ROOT / "scripts", checkout / "scripts")
        (checkout / "bin").mkdir()
        for tool in ("cmake", "ctest"):
            (checkout / "bin" / tool).write_text(cmake)
            (checkout / "bin" / tool).chmod(0o755)
        (checkout / "build").mkdir()
        for each in [checkout, *checkout.rglob("*")]:
            os.chown(each, 65534, 65534)
        made = checkout / whose
        made.parent.mkdir(exist_ok=True)
        os.chown(made.parent, 0, 0)
        made.touch()
        done = subprocess.run(
            ["/usr/bin/python3", checkout / "scripts" / "run_tests.py", "--", "nothing"],
            capture_output=True,
            text=True,
            user=65534,
            env={"PATH": f"{checkout}/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    told = "cannot be written by this user; if another one (root?) has made it, remove it"
    assert f"{made} {told}" in done.stderr, done.stderr
