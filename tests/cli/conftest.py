"""What the tests of the nearcache command share: a home with empty preload objects, and programs of every MPI at hand."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import launch
from support.programs import PROGRAM, compiled

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

TAGS = ("abi-1.0", "mpich-4.0.2", "mpich-5.0.2", "openmpi-4.1.4", "openmpi-5.0.11")


@pytest.fixture(scope="session")
def tables_text():
    """The tables as the library prints them."""
    built = launch.BUILD / "share" / "nearcache" / "tables.json"
    if not built.exists():
        pytest.skip(f"{built} is not built")
    return built.read_text()


@pytest.fixture
def fake_home(tmp_path, tables_text, monkeypatch):
    """A home whose preload objects are empty libraries and whose nearcache-simulate always fails, so that only what the command does is seen."""
    home = tmp_path / "home"
    (home / "share" / "nearcache").mkdir(parents=True)
    (home / "share" / "nearcache" / "tables.json").write_text(tables_text)
    empty = compiled(
        tmp_path, "empty.so", "int nearcache_empty_object;\n", "cc", "-shared", "-fPIC"
    )
    for tag in TAGS:
        (home / "lib" / tag).mkdir(parents=True)
        shutil.copy(empty, home / "lib" / tag / "libnearcache_mpi.so")
    simulate = home / "bin" / "nearcache-simulate"
    simulate.parent.mkdir()
    simulate.write_text("#!/bin/sh\necho 'nearcache-simulate: it is a stub' >&2\nexit 1\n")
    simulate.chmod(0o755)
    monkeypatch.setenv("NEARCACHE_HOME", str(home))
    for name in list(os.environ):
        if name.startswith("NEARCACHE_") and name != "NEARCACHE_HOME":
            monkeypatch.delenv(name)
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    return home


@pytest.fixture
def home_with_mpi(fake_home, mpi):
    """The home, with an object of the MPI, whatever its version."""
    folder = fake_home / "lib" / mpi.tag
    if not folder.exists():
        shutil.copytree(fake_home / "lib" / TAGS[0], folder)
    return fake_home


@pytest.fixture
def nearcache():
    """Runs the command as users do, in a process of its own."""

    def run(*words, env=None, cwd=None, stdin=None, timeout=120):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "python"),
            "COLUMNS": "200",
            **(env or {}),
        }
        return subprocess.run(
            [sys.executable, "-m", "nearcache", *map(str, words)],
            env=environment,
            cwd=cwd,
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run


@pytest.fixture
def mpi_program(mpi, tmp_path):
    """A small program of one MPI of the build; it tells its LD_PRELOAD and returns its argument."""
    return compiled(tmp_path, "program", PROGRAM, mpi.wrapper)
