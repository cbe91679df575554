"""The wheel, in a virtual environment of its own and a folder without the checkout."""

import json
import os
import subprocess
import sys

import pytest
from nearcache import __version__
from support import launch
from support.trace_file import rounds

EXAMPLE = launch.ROOT / "tests" / "cli" / "report_example_v2.json"
# pip without PyPI
NO_INDEX = (
    "No matching distribution found",
    "Failed to establish a new connection",
    "Connection broken",
)
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


def pip(*words):
    done = subprocess.run([*PIP, *map(str, words)], capture_output=True, text=True, env=clean())
    if done.returncode and any(text in done.stdout + done.stderr for text in NO_INDEX):
        pytest.skip("pip cannot install from PyPI")
    assert done.returncode == 0, done.stdout + done.stderr


def clean(**more):
    """The environment of a user who has nothing of Nearcache."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEARCACHE_", "PYTHON", "VIRTUAL_ENV"))
    }
    return {**env, "COLUMNS": "200", **more}


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """A new virtual environment with the wheel. Its program is compiled as quickly as it can be, and once for all runs of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    pip(
        "wheel",
        "--no-deps",
        "-w",
        folder,
        # -C is newer than the pip of Debian 12
        f"--config-settings=build-dir={launch.BUILD}/wheel",
        "--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0",
        launch.ROOT,
    )
    (wheel,) = folder.glob("*.whl")
    assert (
        wheel.name.startswith(f"nearcache-{__version__}-py3-none-linux_")
        and wheel.stat().st_size < 8 << 20
    )
    pip("--python", folder / "venv" / "bin" / "python", "install", wheel)
    return folder / "venv"


@pytest.fixture
def nearcache(venv, tmp_path):
    """Runs the command in an empty folder; what it builds goes into a folder of the test."""
    empty = tmp_path / "empty"
    empty.mkdir()

    def run(*words, code=0, **more):
        done = subprocess.run(
            [venv / "bin" / "nearcache", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=empty,
            env=clean(XDG_DATA_HOME=str(tmp_path / "data"), **more),
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_commands_work_without_any_mpi_and_checkout(nearcache, venv, tmp_path):
    assert "transparent" in nearcache("options") and "gets seen" in nearcache("counters")
    assert "--strict-flush" in nearcache("run", "--help")
    assert "0.2" in nearcache("--version")
    assert "lcc" in nearcache("report", EXAMPLE) and "</html>" in nearcache(
        "report", EXAMPLE, "--html", "-"
    )
    rounds(0, 1, 10, 4).write(tmp_path / "run.0.nctrace")
    answer = json.loads(nearcache("simulate", tmp_path / "run", "--json", "-", "--model", "1000,1"))
    assert answer["format"] == "nearcache-simulation"
    assert "nearcache build" in nearcache("doctor", "--no-run", code=3)
    assert "no program nowhere" in nearcache("build", "--mpicc", "nowhere", code=2)
    assert (
        __version__
        in subprocess.run(
            [venv / "bin" / "upcc", "--version"], capture_output=True, text=True, env=clean()
        ).stdout
    )


@pytest.mark.slow
def test_wheel_names_what_it_holds_of_others(venv):
    (site,) = venv.glob("lib/python*/site-packages")
    held = site / "nearcache" / "wheel" / "source" / "third_party"
    assert [path.name for path in held.iterdir()] == ["nlohmann"]
    notices = next(
        site.glob("nearcache-*.dist-info/licenses/packaging/wheel/NOTICES.txt")
    ).read_text()
    assert all(name in notices for name in ("Lohmann", "CLI11", "{fmt}"))


@pytest.mark.long
@pytest.mark.one_mpi
@pytest.mark.parametrize("named", [False, True], ids=["default", "prefix"])
def test_build_makes_objects_that_the_commands_find(mpi, nearcache, tmp_path, named):
    prefix = tmp_path / "prefix" if named else tmp_path / "data" / "nearcache" / __version__
    said = nearcache("build", "--mpicc", mpi.wrapper, *(["--prefix", prefix] if named else []))
    assert f"{prefix}: {mpi.tag}" in said and (f"export NEARCACHE_HOME={prefix}" in said) == named
    more = {**launch.ROOT_MAY_RUN, **({"NEARCACHE_HOME": str(prefix)} if named else {})}
    selftest = prefix / "lib" / "nearcache" / mpi.tag / "nearcache-selftest"
    assert "selftest: ok hits=" in nearcache(
        "run",
        "--mode",
        "always",
        "--skip-cheap",
        "false",
        "--",
        *launch.launcher(mpi, 2),
        selftest,
        **more,
    )
    assert (prefix / "include" / "nearcache" / "mpi.h").exists() and not (prefix / "bin").exists()
    rounds(0, 1, 10, 4).write(tmp_path / "run.0.nctrace")
    nearcache("simulate", tmp_path / "run", "--model", "1000,1", **more)
