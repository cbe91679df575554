"""`cmake --install` and the use of what it installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import launch, launch_shmem, launch_upc

CONSUMER = r"""
cmake_minimum_required(VERSION 3.20)
project(consumer C)
find_package(nearcache 0.2 REQUIRED)
foreach(tag IN LISTS NEARCACHE_TAGS)
  message(STATUS "tag ${tag} static $<TARGET_EXISTS:nearcache::mpi_static_${tag}>")
  if(NOT TARGET nearcache::mpi_static_${tag})
    message(FATAL_ERROR "no target for ${tag}")
  endif()
endforeach()
add_executable(app app.c)
target_include_directories(app PRIVATE ${MPI_INCLUDE})
target_link_libraries(app PRIVATE nearcache::mpi_${TAG} ${MPI_LINK})
"""
APP = r"""
#include <mpi.h>
#include <nearcache/mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  puts("done");
  return 0;
}
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation of the build."""
    if not list((launch.BUILD / "lib").glob("*/libnearcache_mpi.so")):
        pytest.skip("the library is not built")
    folder = tmp_path_factory.mktemp("prefix")
    done = subprocess.run(
        ["cmake", "--install", launch.BUILD, "--prefix", folder], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_installation_has_an_object_and_archive_for_every_mpi(prefix):
    for mpi in launch.mpis():
        for name in ("libnearcache_mpi.so", "libnearcache_mpi.a", "nearcache-selftest"):
            assert (prefix / "lib" / "nearcache" / mpi.tag / name).exists()
    for name in (
        "include/nearcache/mpi.h",
        "share/nearcache/tables.json",
        "libexec/nearcache/nearcache-simulate",
    ):
        assert (prefix / name).exists()


def installed(prefix, *words, **more):
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NEARCACHE_") and name != "PYTHONPATH"
    }
    env.update({"NEARCACHE_PYTHON": sys.executable}, **more)
    return subprocess.run(
        [prefix / "bin" / "nearcache", *map(str, words)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
    )


def test_installed_command_finds_its_own_files_even_after_a_move(prefix, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    (tmp_path / "nearcache").symlink_to(moved / "bin" / "nearcache")
    done = installed(moved, "run", "--mpi", launch.mpis()[0].tag, "--dry-run", "--", "ls")
    assert (
        done.stdout
        == f"env LD_PRELOAD={moved}/lib/nearcache/{launch.mpis()[0].tag}/libnearcache_mpi.so ls\n"
    ), done.stderr


def test_installed_command_says_which_python_packages_are_missing(prefix, tmp_path):
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    done = installed(prefix, "options", NEARCACHE_PYTHON=str(bare))
    assert done.returncode == 2 and "click" in done.stderr


def test_installed_command_writes_pages(prefix):
    done = installed(
        prefix, "report", Path(__file__).parent / "report_example_v2.json", "--html", "-"
    )
    assert done.returncode == 0 and "<style>" in done.stdout and "</html>" in done.stdout, (
        done.stderr
    )


def test_installed_object_serves_hits(mpi, prefix):
    selftest = prefix / "lib" / "nearcache" / mpi.tag / "nearcache-selftest"
    done = installed(
        prefix,
        "run",
        "--mode",
        "always",
        "--skip-cheap",
        "false",
        "--",
        *launch.launcher(mpi, 2),
        selftest,
        **launch.ROOT_MAY_RUN,
    )
    assert "selftest: ok hits=" in done.stdout, done.stdout + done.stderr


def compile_settings(mpi):
    words = subprocess.run([mpi.wrapper, "-show"], capture_output=True, text=True).stdout.split()[
        1:
    ]
    return ";".join(word[2:] for word in words if word.startswith("-I")), ";".join(
        word for word in words if word.startswith(("-L", "-l", "-Wl"))
    )


def test_package_config_links_a_program(mpi, prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "app.c").write_text(("#define MPI_ABI\n" if mpi.family == "abi" else "") + APP)
    include, link = compile_settings(mpi)
    steps(
        tmp_path,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DTAG={mpi.tag}",
        f"-DMPI_INCLUDE={include}",
        f"-DMPI_LINK={link}",
    )
    listed = subprocess.run(
        ["ldd", tmp_path / "build" / "app"], capture_output=True, text=True
    ).stdout
    assert str(prefix) in listed
    launch.run(mpi, 2, tmp_path / "build" / "app", preload=False).check()


def steps(folder, *settings, targets=()):
    """Configures and builds an outside project."""
    for words in (
        ["cmake", "-S", folder, "-B", folder / "build", *settings],
        ["cmake", "--build", folder / "build", "-j2", *targets],
    ):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.one_mpi
def test_package_config_of_the_build_links_a_program(mpi, preload, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "app.c").write_text(APP)
    include, link = compile_settings(mpi)
    steps(
        tmp_path,
        f"-Dnearcache_DIR={launch.BUILD}/packaging",
        f"-DTAG={mpi.family}",
        f"-DMPI_INCLUDE={include}",
        f"-DMPI_LINK={link}",
    )
    listed = subprocess.run(
        ["ldd", tmp_path / "build" / "app"], capture_output=True, text=True
    ).stdout
    assert str(launch.BUILD) in listed


# The sources as a part of another project, which builds the objects of one MPI.
PARENT = r"""
cmake_minimum_required(VERSION 3.20)
project(parent C CXX)
set(flags "${CMAKE_CXX_FLAGS_RELEASE}")
include(FetchContent)
FetchContent_Declare(nearcache SOURCE_DIR ${NEARCACHE_SOURCES})
FetchContent_MakeAvailable(nearcache)
if(CMAKE_BUILD_TYPE OR NOT flags STREQUAL CMAKE_CXX_FLAGS_RELEASE)
  message(FATAL_ERROR "Nearcache has chosen: build type '${CMAKE_BUILD_TYPE}', flags '${CMAKE_CXX_FLAGS_RELEASE}'")
endif()
foreach(target mpi_${TAG} mpi_static_${TAG} mpi_${FAMILY} mpi_static_${FAMILY} headers)
  if(NOT TARGET nearcache::${target})
    message(FATAL_ERROR "there is no target nearcache::${target}")
  endif()
endforeach()
foreach(target lcc.${TAG} bench_hit.${TAG} unit_tests)
  if(TARGET ${target})
    message(FATAL_ERROR "there is a target ${target}")
  endif()
endforeach()
add_executable(app app.c)
target_include_directories(app PRIVATE ${MPI_INCLUDE})
target_link_libraries(app PRIVATE nearcache::mpi_${FAMILY} ${MPI_LINK})
add_executable(plain plain.c)
target_link_libraries(plain PRIVATE nearcache::headers)
"""


@pytest.mark.one_mpi
@pytest.mark.parametrize("target", ["plain", pytest.param("app", marks=pytest.mark.long)])
def test_sources_are_a_part_of_another_project(mpi, tmp_path, target):
    """It forces neither build type nor flags, installs nothing of its own, and gives the targets that find_package gives."""
    (tmp_path / "CMakeLists.txt").write_text(PARENT)
    (tmp_path / "app.c").write_text(APP)
    (tmp_path / "plain.c").write_text(
        "#include <nearcache/stats.h>\nint main(void) { return (int)sizeof(nearcache_stats) == 0; }\n"
    )
    include, link = compile_settings(mpi)
    steps(
        tmp_path,
        f"-DNEARCACHE_SOURCES={launch.ROOT}",
        f"-DNEARCACHE_MPICC={mpi.wrapper}",
        "-DNEARCACHE_OSHCC=none",
        f"-DTAG={mpi.tag}",
        f"-DFAMILY={mpi.family}",
        f"-DMPI_INCLUDE={include}",
        f"-DMPI_LINK={link}",
        targets=["--target", target],
    )
    installed_here = subprocess.run(
        ["cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix"],
        capture_output=True,
        text=True,
    )
    assert installed_here.returncode == 0 and not list(
        (tmp_path / "prefix").rglob("*nearcache*")
    ), installed_here.stdout
    if target == "app":
        launch.run(mpi, 2, tmp_path / "build" / "app", preload=False).check()


def configured(source, build, *settings):
    done = subprocess.run(
        ["cmake", "-S", source, "-B", build, "-DNEARCACHE_SMPICC=OFF", *settings],
        capture_output=True,
        text=True,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def test_what_a_parent_project_sets_holds_when_it_is_first_configured(tmp_path):
    """Without CMP0126 a cache variable of the same name would take its place, once."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(parent C CXX)\n"
        "set(NEARCACHE_MPICC none)\nset(NEARCACHE_OSHCC none)\n"
        "set(NEARCACHE_BUILD_SIMULATE OFF)\n"
        f'add_subdirectory("{launch.ROOT}" nearcache)\n'
    )
    code, said = configured(tmp_path, tmp_path / "build")
    assert code == 0, said
    assert "-- MPI " not in said and "-- OpenSHMEM " not in said


def test_all_of_another_project_builds_only_what_its_targets_need(tmp_path):
    """Whatever MPI, OpenSHMEM and simulator there is; the headers need no compilation."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(parent C CXX)\n"
        f'add_subdirectory("{launch.ROOT}" nearcache)\n'
        "add_executable(plain plain.c)\ntarget_link_libraries(plain PRIVATE nearcache::headers)\n"
    )
    (tmp_path / "plain.c").write_text(
        "#include <nearcache/stats.h>\nint main(void) { return (int)sizeof(nearcache_stats) == 0; }\n"
    )
    steps(tmp_path)
    assert [path.name for path in tmp_path.rglob("*.o")] == ["plain.c.o"]


@pytest.mark.one_mpi
def test_a_build_folder_from_which_nothing_can_be_preloaded_is_told(mpi, tmp_path):
    for name, told in (("a b", True), ("ab", False)):
        code, said = configured(
            launch.ROOT,
            tmp_path / name,
            f"-DNEARCACHE_MPICC={mpi.wrapper}",
            "-DNEARCACHE_OSHCC=none",
            *(f"-DNEARCACHE_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "BENCH")),
        )
        assert code == 0, said
        assert (f"none in {tmp_path / name} can be preloaded: install to" in said) == told, said


def test_simulator_is_left_out_where_no_mpi_is_wanted(tmp_path):
    simgrid = tmp_path / "smpicc"
    simgrid.write_text("#!/bin/sh\necho SimGrid version 3.32\n")
    simgrid.chmod(0o755)
    code, said = configured(
        launch.ROOT,
        tmp_path / "build",
        "-DNEARCACHE_MPICC=none",
        "-DNEARCACHE_OSHCC=none",
        *(f"-DNEARCACHE_{name}={simgrid}" for name in ("SMPICC", "SMPICXX", "SIMGRID_LIBRARY")),
        f"-DNEARCACHE_SMPI_INCLUDE={tmp_path}",
    )
    assert code == 0, said
    targets = subprocess.run(
        ["cmake", "--build", tmp_path / "build", "--target", "help"], capture_output=True, text=True
    ).stdout
    assert "nearcache_cache" in targets and "simgrid" not in targets


# CMake finds no program, so no compile wrapper either, once the compilers are known.
WITHOUT_PROGRAMS = r"""
cmake_minimum_required(VERSION 3.20)
project(parent C CXX ASM)
set(CMAKE_IGNORE_PATH ${PROGRAMS})
set(NEARCACHE_BUILD_SIMULATE OFF)
add_subdirectory(sources nearcache)
"""


@pytest.fixture
def without_mpi(tmp_path):
    """Configures the sources, without the MPIs of .deps, where there is no MPI; takes more settings."""
    (tmp_path / "CMakeLists.txt").write_text(WITHOUT_PROGRAMS)
    sources = tmp_path / "sources"
    sources.mkdir()
    for path in launch.ROOT.iterdir():
        if not path.name.startswith((".", "build")):
            (sources / path.name).symlink_to(path)
    folders = [*os.environ["PATH"].split(":"), "/usr/bin", "/bin", "/usr/local/bin"]

    def run(*settings):
        return configured(
            tmp_path,
            tmp_path / "build",
            f"-DPROGRAMS={';'.join(folders)}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            *settings,
        )

    return run


def test_an_openshmem_is_enough_to_build_for(without_mpi, shmem):
    code, said = without_mpi(f"-DNEARCACHE_OSHCC={shmem.wrapper}")
    assert code == 0, said
    assert "MPI: no mpicc was found" in said and f"OpenSHMEM {shmem.tag}: " in said


def test_without_mpi_and_openshmem_it_says_how_to_name_one_or_do_without(without_mpi):
    code, said = without_mpi()
    assert code != 0
    for words in (
        "Neither an MPI nor an OpenSHMEM was found",
        "-DNEARCACHE_MPICC=/path/mpicc",
        "nearcache build: --mpicc /path/mpicc",
        "-DNEARCACHE_MPICC=none",
    ):
        assert words in said, said
    code, said = without_mpi("-DNEARCACHE_MPICC=none")
    assert code == 0, said


def test_a_wrapper_of_no_mpi_is_refused(tmp_path):
    code, said = configured(launch.ROOT, tmp_path / "build", "-DNEARCACHE_MPICC=true")
    assert code != 0 and "NEARCACHE_MPICC: none of these" in said, said


@pytest.mark.one_mpi
@pytest.mark.parametrize("inside", [True, False], ids=["below", "outside"])
def test_absolute_folder_of_libraries(mpi, tmp_path, inside):
    """As Nix and Guix give it. One below the prefix moves with it; another is named as it is."""
    prefix = tmp_path / "prefix"
    lib = prefix / "lib64" if inside else tmp_path / "elsewhere" / "lib"
    code, said = configured(
        launch.ROOT,
        tmp_path / "build",
        f"-DNEARCACHE_MPICC={mpi.wrapper}",
        "-DNEARCACHE_OSHCC=none",
        *(f"-DNEARCACHE_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "BENCH", "SIMULATE")),
        f"-DCMAKE_INSTALL_PREFIX={prefix}",
        f"-DCMAKE_INSTALL_LIBDIR={lib}",
        f"-DCMAKE_INSTALL_INCLUDEDIR={prefix}/include",
    )
    assert code == 0, said
    made = tmp_path / "build" / "packaging"
    pc = dict(
        line.split("=", 1)
        for line in (made / f"nearcache-mpi-{mpi.tag}.pc").read_text().splitlines()
        if "=" in line and ":" not in line.split("=")[0]
    )
    folders = json.loads((made / "folders.json").read_text())
    module = (made / "nearcache.lua").read_text()
    if inside:
        assert pc["prefix"] == "${pcfiledir}/../.."
        assert pc["libdir"] == f"${{prefix}}/lib64/nearcache/{mpi.tag}"
        assert folders["lib"] == "lib64" and 'pathJoin(prefix, "lib64/pkgconfig")' in module
    else:
        assert pc["prefix"] == str(prefix) and pc["libdir"] == f"{lib}/nearcache/{mpi.tag}"
        assert folders["lib"] == str(lib) and f'"PKG_CONFIG_PATH", "{lib}/pkgconfig")' in module
    assert pc["includedir"] == "${prefix}/include" and folders["include"] == "include"


def test_commands_must_be_installed_below_the_prefix(tmp_path):
    code, said = configured(
        launch.ROOT,
        tmp_path / "build",
        "-DNEARCACHE_MPICC=none",
        "-DNEARCACHE_OSHCC=none",
        f"-DCMAKE_INSTALL_PREFIX={tmp_path}/prefix",
        f"-DCMAKE_INSTALL_BINDIR={tmp_path}/bin",
    )
    assert code != 0 and "is not below CMAKE_INSTALL_PREFIX" in said, said


def test_wheel_looks_for_no_mpi_and_says_which_packages_it_needs(tmp_path):
    code, said = configured(
        launch.ROOT,
        tmp_path / "build",
        "-DNEARCACHE_WHEEL=ON",
        *(f"-DNEARCACHE_{part}=OFF" for part in ("BUILD_TESTS", "BUILD_APPS", "BUILD_BENCH")),
        "-DNEARCACHE_INSTALL=OFF",
        "-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON",
    )
    assert code != 0 and "libcli11-dev libfmt-dev" in said, said
    assert "-- MPI " not in said and "-- OpenSHMEM " not in said


@pytest.mark.one_mpi
def test_libraries_may_be_in_another_folder_than_lib(mpi, prefix, tmp_path):
    """GNUInstallDirs' names: lib64, and Debian's lib/<machine>."""
    for folder in ("lib64", "lib/x86_64-linux-gnu"):
        moved = tmp_path / folder.replace("/", "-")
        shutil.copytree(prefix, moved, symlinks=True)
        (moved / "lib" / "nearcache").rename(tmp_path / "libraries")
        (moved / folder).mkdir(parents=True)
        (tmp_path / "libraries").rename(moved / folder / "nearcache")
        done = installed(moved, "run", "--mpi", mpi.tag, "--dry-run", "--", "ls")
        assert (
            done.stdout
            == f"env LD_PRELOAD={moved}/{folder}/nearcache/{mpi.tag}/libnearcache_mpi.so ls\n"
        ), done.stderr


@pytest.mark.one_mpi
def test_folders_of_any_name_are_found(mpi, prefix, tmp_path):
    """What CMAKE_INSTALL_LIBDIR, LIBEXECDIR and INCLUDEDIR name: the installation has written it down."""
    written = prefix / "share" / "nearcache" / "folders.json"
    usual = {"lib": "lib", "libexec": "libexec", "include": "include"}
    assert json.loads(written.read_text()) == usual
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    for name in usual:
        (moved / "else").mkdir(exist_ok=True)
        (moved / name).rename(moved / "else" / f"{name}-of-ours")
    (moved / "share" / "nearcache" / "folders.json").write_text(
        json.dumps({name: f"else/{name}-of-ours" for name in usual})
    )
    done = installed(moved, "run", "--mpi", mpi.tag, "--dry-run", "--", "ls")
    library = f"{moved}/else/lib-of-ours/nearcache/{mpi.tag}/libnearcache_mpi.so"
    assert done.stdout == f"env LD_PRELOAD={library} ls\n", done.stderr
    (tmp_path / "trace").write_text("none")
    done = installed(moved, "simulate", tmp_path / "trace")
    assert done.returncode == 2 and "not a Nearcache trace" in done.stderr


def test_pkg_config_file_names_the_library(mpi, prefix, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("there is no pkg-config")
    done = subprocess.run(
        ["pkg-config", "--cflags", "--libs", f"nearcache-mpi-{mpi.tag}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")},
    )
    assert done.returncode == 0, done.stderr
    paths = [Path(word[2:]).resolve() for word in done.stdout.split() if word.startswith("-L")]
    assert any((path / "libnearcache_mpi.so").exists() for path in paths)


def test_module_file_finds_the_prefix_by_its_own_name(prefix):
    """Lmod leaves `..` in what it adds to PATH, and no folder is found behind the name of a file."""
    (file,) = (prefix / "share" / "nearcache" / "modulefiles" / "nearcache").iterdir()
    text = file.read_text()
    pattern = re.search(r'^local prefix = myFileName\(\):match\("\^(.*)\$"\)$', text, re.M)
    assert pattern and re.fullmatch(pattern[1], str(file))[1] == str(prefix)
    assert "../" not in text


def test_openshmem_is_installed_beside_mpi_and_serves_hits(shmem, preload_shmem, prefix):
    folder = prefix / "lib" / "nearcache" / shmem.tag
    assert (folder / "libnearcache_shmem.a").exists() and (
        prefix / "include" / "nearcache" / "shmem.h"
    ).exists()
    done = installed(
        prefix,
        "run",
        "--",
        *launch_shmem.launcher(shmem, 2),
        folder / "nearcache-shmem-selftest",
        **launch_shmem.SURROUNDINGS,
        **launch_shmem.TCP,
    )
    assert "selftest: ok hits=" in done.stdout, done.stdout + done.stderr


SHMEM_CONSUMER = r"""
cmake_minimum_required(VERSION 3.20)
project(consumer C)
find_package(nearcache 0.2 REQUIRED)
add_executable(app app.c)
target_link_libraries(app PRIVATE nearcache::KIND_oshmem)
"""


@pytest.mark.parametrize("kind", ["shmem", "shmem_static"])
def test_package_config_links_an_openshmem_program(shmem, preload_shmem, prefix, tmp_path, kind):
    """The program finds the hits of its own run without anything being preloaded."""
    if not shmem.tag.startswith("oshmem-"):
        pytest.skip("the target is named for Open MPI")
    (tmp_path / "CMakeLists.txt").write_text(SHMEM_CONSUMER.replace("KIND", kind))
    shutil.copy(launch.ROOT / "src" / "shmem" / "selftest.c", tmp_path / "app.c")
    steps(tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={shmem.wrapper}")
    result = launch_shmem.run(shmem, 2, tmp_path / "build" / "app", preload=False).check()
    assert "selftest: ok hits=" in result.output


def test_pkg_config_file_of_openshmem_names_the_library(shmem, preload_shmem, prefix):
    if not shutil.which("pkg-config"):
        pytest.skip("there is no pkg-config")
    done = subprocess.run(
        ["pkg-config", "--libs", f"nearcache-shmem-{shmem.tag}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")},
    )
    assert done.returncode == 0 and "-lnearcache_shmem" in done.stdout, done.stderr


UPC_PROGRAM = r"""
#include <upc.h>
#include <stdio.h>
shared int a[THREADS];
int main(void) {
  a[MYTHREAD] = MYTHREAD + 1;
  upc_barrier;
  if (MYTHREAD == 0) printf("last %d\n", a[THREADS - 1]);
  return 0;
}
"""


def command(prefix, name, *words, **more):
    """A command of an installation."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEARCACHE_", "CC")) and name != "PYTHONPATH"
    }
    env.update({"NEARCACHE_PYTHON": sys.executable, **launch_shmem.SURROUNDINGS}, **more)
    return subprocess.run(
        [prefix / "bin" / name, *map(str, words)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
    )


@launch_upc.needs_upc
@pytest.mark.parametrize("option", [[], ["--struct-pointers"]], ids=["packed", "struct"])
def test_installed_upcc_and_upcrun_work_even_after_a_move(prefix, tmp_path, option):
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    (tmp_path / "a.upc").write_text(UPC_PROGRAM)
    done = command(moved, "upcc", "-O2", *option, "-o", tmp_path / "a", tmp_path / "a.upc")
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(["ldd", tmp_path / "a"], capture_output=True, text=True).stdout
    assert str(moved) in listed and str(launch.BUILD) not in listed
    done = command(moved, "upcrun", "-n", 2, tmp_path / "a")
    assert done.stdout == "last 2\n", done.stderr


@launch_upc.needs_upc
def test_installed_upcc_says_which_python_packages_are_missing(prefix, tmp_path):
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    done = command(prefix, "upcc", "--version", NEARCACHE_PYTHON=str(bare))
    assert done.returncode == 2 and "pycparser" in done.stderr and done.stderr.startswith("upcc: ")


@pytest.mark.parametrize("version", ["2.21", "3.0", "none"])
def test_upcc_beside_an_old_pycparser_says_how_to_get_a_newer_one(tmp_path, version):
    """As Debian 12's package is with python3-pycparser, or without."""
    (tmp_path / "bin").mkdir()
    script = Path(__file__).resolve().parents[2] / "packaging" / "nearcache.sh"
    for name in ("upcc", "upcrun"):
        shutil.copy(script, tmp_path / "bin" / name)
    old = tmp_path / "old" / "pycparser"
    old.mkdir(parents=True)
    fails = "raise ImportError" if version == "none" else f"__version__ = '{version}'"
    (old / "__init__.py").write_text(fails + "\n")
    done = command(tmp_path, "upcc", "--version", PYTHONPATH=str(old.parent))
    assert done.returncode == 2 and not done.stdout
    said = done.stderr.splitlines()
    assert len(said) == 5 and all(line.startswith("upcc: ") for line in said), done.stderr
    assert "pycparser 3.12 or newer" in said[0]
    assert "install click rich pyelftools 'pycparser>=3.12,<4'" in said[3]
    assert "export NEARCACHE_PYTHON=" in said[4]
    assert "pycparser" not in command(tmp_path, "upcrun", PYTHONPATH=str(old.parent)).stderr


@launch_upc.needs_upc
def test_doctor_of_an_installation_finds_all_of_upc(prefix):
    assert "UPC: upcc and upcrun" in command(prefix, "nearcache", "doctor", "--no-run").stdout
