"""What a release consists of: the archive of the sources, the Spack package, the Debian package, and what public CI runs."""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import types

import pytest
from nearcache import __version__
from support import launch

ROOT = launch.ROOT


def run(*words, cwd=ROOT):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    if (
        not shutil.which("git")
        or subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True).returncode
    ):
        pytest.skip("this is no checkout of git")
    folder = tmp_path_factory.mktemp("release")
    run(sys.executable, ROOT / "scripts" / "release.py", folder)
    return folder


def archive_of(folder):
    return folder / f"nearcache-{__version__}.tar.gz"


def test_archive_is_the_same_every_time_and_holds_what_builds(release, tmp_path):
    run(sys.executable, ROOT / "scripts" / "release.py", tmp_path)
    assert archive_of(tmp_path).read_bytes() == archive_of(release).read_bytes()
    with tarfile.open(archive_of(release)) as archive:
        archive.extractall(tmp_path)
    source = tmp_path / f"nearcache-{__version__}"
    off = [f"-DNEARCACHE_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "BENCH")]
    said = run(
        "cmake",
        "-S",
        source,
        "-B",
        tmp_path / "build",
        "-DNEARCACHE_MPICC=none",
        "-DNEARCACHE_OSHCC=none",
        *off,
    )
    assert "Build files have been written" in said


@pytest.mark.parametrize("inside", [False, True], ids=["no checkout", "a part of another one"])
def test_a_release_of_no_checkout_is_refused_in_one_line(tmp_path, inside):
    tree = tmp_path / "tree"
    for name in ("scripts/release.py", "python/nearcache/__init__.py"):
        (tree / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tree / name)
    if inside:
        run("git", "init", "-q", tmp_path)
    words = [sys.executable, tree / "scripts" / "release.py", tmp_path / "out"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and f"{tree} is no checkout of git (" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_refused(release):
    words = [sys.executable, ROOT / "scripts" / "release.py", release]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and "is not empty" in done.stderr


CLASSES = ("Nearcache", "PyPycparser")


class Recipe:
    """Stands for Spack while its package is read: keeps the directives, and answers what cmake_args asks."""

    def __init__(self):
        self.versions, self.needs, self.variants = {}, {}, {}

    def module(self):
        def version(name, **more):
            self.versions[name] = more

        def depends_on(spec, **more):
            self.needs[re.split("[@+]", spec)[0]] = (spec, more)

        def variant(name, **more):
            self.variants[name] = more

        class CMakePackage:
            def define(self, name, value):
                return name, value

        def decorator(*_, **__):
            return lambda function: function

        names = {
            "version": version,
            "depends_on": depends_on,
            "variant": variant,
            "license": lambda *_: None,
            "generator": lambda *_: None,
            "CMakePackage": CMakePackage,
            "PythonPackage": object,
            "run_after": decorator,
            "on_package_attributes": decorator,
            "join_path": lambda *parts: "/".join(parts),
        }
        package = types.ModuleType("spack.package")
        vars(package).update(names, __all__=list(names))
        return package


def recipe(path, monkeypatch):
    found = Recipe()
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", found.module())
    namespace = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return found, next(namespace[name] for name in CLASSES if name in namespace)


class Spec(dict):
    def __missing__(self, name):
        return types.SimpleNamespace(mpicc="mpicc", prefix=types.SimpleNamespace(bin="bin"))

    def satisfies(self, _):
        return True


def test_spack_package_knows_the_archive_and_what_the_build_takes(release, monkeypatch):
    found, package = recipe(
        release / "spack" / "packages" / "nearcache" / "package.py", monkeypatch
    )
    digest = hashlib.sha256(archive_of(release).read_bytes()).hexdigest()
    assert found.versions == {
        __version__: {"sha256": digest, "url": f"file://{archive_of(release)}"}
    }
    made = package()
    made.spec = Spec()
    cmake = "".join(
        path.read_text()
        for path in (
            ROOT / "CMakeLists.txt",
            ROOT / "src" / "mpi" / "CMakeLists.txt",
            *ROOT.glob("cmake/*.cmake"),
        )
    )
    for name, _ in made.cmake_args():
        assert re.search(rf"(option|set|find_program)\({name}\b", cmake), name
    # Nothing is installed of these.
    assert not [name for name, on in made.cmake_args() if on and name.startswith("NEARCACHE_BUILD")]
    wanted = re.search(
        r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S
    )[1]
    for name in re.findall(r'"([a-z]+)[><=;]', wanted):
        assert f"py-{name}" in found.needs, name


def test_spack_finds_all_that_the_package_of_a_checkout_needs(monkeypatch):
    recipes = ROOT / "packaging" / "spack" / "packages"
    found, package = recipe(recipes / "nearcache" / "package.py", monkeypatch)
    # A branch without a repository ends `spack audit` and `spack install` in an error.
    assert found.versions == {"main": {"branch": "main"}} and package.git == ROOT.as_uri()
    # Spack's own package of pycparser is too old. With all of these needed, no Python newer than 3.10 would do.
    pycparser, how = found.needs["py-pycparser"]
    assert pycparser == "py-pycparser@3.12:3" and how["when"] == "+shmem"
    assert list(recipe(recipes / "py-pycparser" / "package.py", monkeypatch)[0].versions) == [
        "3.12"
    ]
    # Man pages are made, and the package's test runs `nearcache doctor`, where only these are there.
    for name in ("click", "rich", "pyelftools"):
        assert "build" in found.needs[f"py-{name}"][1]["type"], name
    made = package()
    made.spec = Spec()
    assert ("NEARCACHE_SMPICC", False) in made.cmake_args()


@pytest.mark.long
def test_debian_package_builds_and_is_clean(release):
    for tool in ("dpkg-buildpackage", "dh", "dh_python3", "lintian"):
        if not shutil.which(tool):
            pytest.skip(f"there is no {tool}")
    source = release / "debian" / f"nearcache-{__version__}"
    assert run("dpkg-parsechangelog", "-S", "Version", cwd=source).strip() == f"{__version__}-1"
    run("dpkg-buildpackage", "-us", "-uc", cwd=source)
    (changes,) = (release / "debian").glob("*.changes")
    assert (
        run("lintian", "--quiet", "--allow-root", "--fail-on", "error,warning", changes).strip()
        == ""
    )
    files = "".join(
        run("dpkg-deb", "--contents", package) for package in (release / "debian").glob("*.deb")
    )
    for name in (
        "bin/nearcache",
        "libnearcache_mpi.so",
        "libnearcache_shmem.so",
        "include/nearcache/mpi.h",
        "man1/nearcache-run.1.gz",
        "nearcacheConfig.cmake",
    ):
        assert name in files, name


def test_public_ci_runs_what_is_there():
    workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
    assert len(workflows) == 2
    for path in workflows:
        text = path.read_text()
        assert ".ci/run" in text
        # Without it tests of what is made from a commit are skipped in a container.
        assert ("container:" in text) == ("safe.directory" in text), path
        for name in re.findall(r"(?:run: |doxygen )((?:\.ci|docs|scripts)/\S+)", path.read_text()):
            assert (ROOT / name).exists(), name
