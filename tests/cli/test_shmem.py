"""`nearcache run` and `nearcache doctor` of OpenSHMEM programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nearcache import libraries, mpi, preload
from nearcache import shmem as openshmem
from nearcache.doctor import launchers
from nearcache.errors import Refused
from nearcache.home import Home
from support import launch, launch_shmem
from support.programs import compiled

PROGRAM = r"""
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  shmem_init();
  const char *preload = getenv("LD_PRELOAD");
  printf("preload=%s\n", preload ? preload : "");
  fflush(stdout);
  shmem_finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
USES_BOTH = "#include <mpi.h>\n" + PROGRAM.replace(
    "shmem_finalize();", "int flag; MPI_Initialized(&flag); shmem_finalize();"
)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in [
        *launch_shmem.SURROUNDINGS,
        "SMA_SYMMETRIC_SIZE",
        "SHMEM_SYMMETRIC_HEAP_SIZE",
        "SHMEM_SYMMETRIC_SIZE",
    ]:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shmem_home(fake_home):
    """The fake home with an object for every OpenSHMEM of the build, and one of an older Open MPI."""
    for tag in ["oshmem-3.1.0", *(shmem.tag for shmem in launch_shmem.shmems())]:
        (fake_home / "lib" / tag).mkdir(parents=True)
        shutil.copy(
            fake_home / "lib" / "openmpi-4.1.4" / "libnearcache_mpi.so",
            fake_home / "lib" / tag / "libnearcache_shmem.so",
        )
    return fake_home


@pytest.fixture
def program(shmem, tmp_path):
    return compiled(tmp_path, "program", PROGRAM, shmem.wrapper)


def test_program_gets_the_object_of_its_openshmem_and_its_exit_code_is_passed_through(
    shmem, program, shmem_home, nearcache
):
    done = nearcache(
        "run", "--", *launch_shmem.launcher(shmem, 2), program, 7, env=launch_shmem.SURROUNDINGS
    )
    assert done.returncode == 7, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("preload=")]
    assert lines == [f"preload={shmem_home}/lib/{shmem.tag}/libnearcache_shmem.so"] * 2
    assert "OMPI_MCA_memory" not in done.stderr


def test_program_that_uses_mpi_too_gets_both_objects(shmem, tmp_path, shmem_home, nearcache):
    folder = shmem_home / "lib"
    mpi = shmem.tag.replace("oshmem", "openmpi")
    if shmem.tag.startswith("oshmem-") and not (folder / mpi).exists():
        (folder / "openmpi-4.1.4").rename(folder / mpi)
    program = compiled(tmp_path, "both", USES_BOTH, shmem.wrapper, "-lmpi")
    done = nearcache("run", "--dry-run", "--", shmem.oshrun, "-n", 2, program)
    assert done.returncode == 0, done.stderr
    assert (
        f"LD_PRELOAD={folder}/{shmem.tag}/libnearcache_shmem.so:{folder}/{mpi}/libnearcache_mpi.so "
        in done.stdout
    )


def test_without_an_object_for_the_mpi_the_openshmem_is_cached_all_the_same(
    shmem, tmp_path, shmem_home, nearcache
):
    for tag in ("openmpi-4.1.4", "openmpi-5.0.11"):
        shutil.rmtree(shmem_home / "lib" / tag)
    program = compiled(tmp_path, "both", USES_BOTH, shmem.wrapper, "-lmpi")
    done = nearcache("run", "--dry-run", "--", shmem.oshrun, "-n", 2, program)
    assert done.returncode == 0 and "libnearcache_shmem.so " in done.stdout
    assert "MPI calls are not cached" in done.stderr


def test_mpi_below_the_openshmem_is_not_used_by_the_program(program):
    below, above, missing = libraries.used_by(program)
    assert openshmem.is_shmem_name(below.name) and above is None and missing == []


def test_program_without_an_object_is_refused_and_the_wrapper_is_named(
    shmem, program, fake_home, nearcache
):
    done = nearcache("run", "--", shmem.oshrun, "-n", 2, program)
    assert done.returncode == 125 and "NEARCACHE_OSHCC" in done.stderr


def test_script_under_oshrun_is_an_openshmem_program(shmem, tmp_path, shmem_home, nearcache):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert (
        "libnearcache_shmem.so"
        in nearcache("run", "--dry-run", "--", shmem.oshrun, "-n", 2, script).stdout
    )


def test_crash_of_finalize_is_told_before_it_happens(shmem, program, shmem_home, nearcache):
    if not shmem.tag.startswith("oshmem-4"):
        pytest.skip("only Open MPI 4 is known to crash")
    words = [shmem.oshrun, "-n", "2"]
    silent = [
        (["env", "OMPI_MCA_memory=^patcher", *words], {}),
        ([*words, "--mca", "memory", "^patcher"], {}),
        (words, {"OMPI_MCA_memory": "^patcher"}),
    ]
    for given, env in silent:
        assert (
            "crashes" not in nearcache("run", "--dry-run", "--", *given, program, env=env).stderr
        ), given
    said = nearcache("run", "--dry-run", "--", *words, program).stderr
    assert said.count("export OMPI_MCA_memory=^patcher") == 1


@pytest.mark.parametrize(
    "setting, crashes",
    [("", True), ("patcher", True), ("^ucx", True), ("^patcher", False), ("^ucx,patcher", False)],
)
def test_settings_of_the_memory_hook(setting, crashes):
    assert bool(openshmem.memory_hook_pitfall({"OMPI_MCA_memory": setting})) == crashes
    assert (
        bool(openshmem.memory_hook_pitfall({}, ["oshrun", "--mca", "memory", setting, "./a"]))
        == crashes
    )


def test_heap_variable_that_open_mpi_ignores_is_named():
    assert "SMA_SYMMETRIC_SIZE" in openshmem.heap_pitfall({"SHMEM_SYMMETRIC_SIZE": "1G"})
    assert openshmem.heap_pitfall({"SHMEM_SYMMETRIC_SIZE": "1G", "SMA_SYMMETRIC_SIZE": "1G"}) == ""
    assert openshmem.heap_pitfall({}) == ""


@pytest.mark.parametrize(
    "name, text, expected",
    [
        (
            "liboshmem.so.40",
            "Open MPI v4.1.4, package: x\nOpenSHMEM 1.4 http://www.open-mpi.org/\n",
            ("oshmem", "4.1.4"),
        ),
        ("liboshmem.so.40", None, ("oshmem", "")),
        ("libsma.so.2", "OpenSHMEM 1.5 Sandia OpenSHMEM\n", ("sandia", "1.5")),
        ("libsma.so.2", "OpenSHMEM 1.4 Cray SHMEMX\n", ("openshmem", "1.4")),
        ("libosmpi.so", None, ("openshmem", "")),
    ],
)
def test_library_is_known_by_its_answer_and_its_name(name, text, expected):
    assert openshmem.family_and_version(text, f"/x/{name}") == expected


@pytest.mark.parametrize(
    "family, version, fixed",
    [("oshmem", "4.1.6", True), ("oshmem", "5.0.7", False), ("sandia", "1.5", False)],
)
def test_addresses_are_fixed_for_those_that_need_it(family, version, fixed):
    text = (
        "import ctypes; from nearcache import shmem; personality = ctypes.CDLL(None).personality; personality(0);"
        f" shmem.fix_addresses({family!r}, {version!r}); print(personality(0xFFFFFFFF) & 0x40000 != 0)"
    )
    command = [sys.executable, "-c", text]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if fixed and told != "True":
        pytest.skip("this system does not permit it")
    assert told == str(fixed)


def test_nearest_version_is_chosen(shmem_home):
    choice = preload.choose(mpi.Mpi("oshmem", "3.1.4", "here"), Home(shmem_home).objects())
    assert choice.object.tag == "oshmem-3.1.0" and "using oshmem-3.1.0" in choice.note


def test_doctor_finds_the_launcher_of_an_object(shmem, shmem_home):
    item = next(item for item in Home(shmem_home).objects() if item.tag == shmem.tag)
    found = launchers.launchers([Path(shmem.oshrun).parent])
    launcher = launchers.launcher_for(item, found)
    assert launcher and os.access(launcher, os.X_OK)


def test_doctor_names_the_heap_variable(shmem, shmem_home, nearcache):
    if not shmem.tag.startswith("oshmem-"):
        pytest.skip("only Open MPI ignores the variable")
    (shmem_home / "bin" / shmem.tag).mkdir(parents=True)
    compiled(shmem_home / "bin" / shmem.tag, "nearcache-shmem-selftest", PROGRAM, shmem.wrapper)
    done = nearcache("doctor", "--no-run", "--mpi", shmem.tag, env={"SHMEM_SYMMETRIC_SIZE": "1G"})
    assert done.returncode == 3 and "SHMEM_SYMMETRIC_SIZE is set" in done.stdout, done.stdout


def test_doctor_says_so_when_finalize_crashes_without_nearcache(shmem, shmem_home, nearcache):
    """Not every build of Open MPI 4 crashes: the self-test program decides."""
    if not shmem.tag.startswith("oshmem-4"):
        pytest.skip("only Open MPI 4 is known to crash")
    (shmem_home / "bin" / shmem.tag).mkdir(parents=True)
    crashing = '#include <stdlib.h>\nint main(void) { if (!getenv("OMPI_MCA_memory")) abort(); puts("selftest: ok hits=3"); return 0; }'
    compiled(
        shmem_home / "bin" / shmem.tag,
        "nearcache-shmem-selftest",
        "#include <stdio.h>\n" + crashing,
        shmem.wrapper,
        "-Wl,--no-as-needed",
        "-loshmem",
    )
    done = nearcache("doctor", "--mpi", shmem.tag)
    assert (
        done.returncode == 3 and "shmem_finalize crashes" in done.stdout and "3 hits" in done.stdout
    ), done.stdout
    assert (
        "crashes"
        not in nearcache("doctor", "--mpi", shmem.tag, env={"OMPI_MCA_memory": "^patcher"}).stdout
    )


def test_real_object_passes_its_self_test(shmem, preload_shmem, nearcache):
    if not shmem.binary("nearcache-shmem-selftest").exists():
        pytest.skip("nearcache-shmem-selftest is not built")
    env = {**launch_shmem.SURROUNDINGS, "NEARCACHE_HOME": str(launch.BUILD)}
    done = nearcache("doctor", "--mpi", shmem.tag, "--timeout", "60", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "self-test on 2 ranks: " in done.stdout


def test_real_object_serves_hits_to_an_unmodified_program(shmem, preload_shmem, nearcache):
    selftest = shmem.binary("nearcache-shmem-selftest")
    if not selftest.exists():
        pytest.skip(f"{selftest} is not built")
    done = nearcache(
        "run",
        "--",
        *launch_shmem.launcher(shmem, 2),
        selftest,
        env={**launch_shmem.surroundings(), "NEARCACHE_HOME": str(launch.BUILD)},
    )
    assert done.returncode == 0 and "selftest: ok hits=" in done.stdout, done.stdout + done.stderr


def test_refusal_names_both_kinds(tmp_path):
    with pytest.raises(Refused) as error:
        mpi.of_program(shutil.which("ls"), None)
    assert "an MPI or an OpenSHMEM" in error.value.message
