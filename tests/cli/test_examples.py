"""Each program of examples/ is compiled and run by the two commands in its head, and those of the quickstart by the commands below them: it is right, and gets are served."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import host_defects, launch, launch_shmem, launch_upc

EXAMPLES = launch.ROOT / "examples"
QUICKSTART = (launch.ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
MPI_EXAMPLES = {
    "always.c": "mean of rank 0: 499.5",
    "user.c": "sum of rank 0: 900000",
    "coherent.c": "sum of rank 0: 1275",
    "gets.f90": "mean of rank 0: 499.5",
    "gets.py": "mean of rank 0: 499.5",
}
SHMEM_EXAMPLES = {"prefetch.c": "mean of PE 0: 32", "rows.upc": "mean of thread 0: 9999.5"}


def commands(name):
    """The lines of the head that begin with a program that an example may need."""
    head = "\n".join((EXAMPLES / name).read_text().splitlines()[:5])
    return re.findall(
        r"^[ !*]*((?:mpicc|mpif90|oshcc|upcc|upcrun|nearcache) .*?)(?: \*/)?$", head, re.M
    )


def of_quickstart(header):
    """(text, commands) of its whole program that includes `header` first: the indented lines behind it that start a program."""
    text, behind = re.search(
        rf"```c\n(#include <{header}>\n.*?)```\n(.*?)\n## ", QUICKSTART, re.S
    ).groups()
    lines = re.findall(r"^ {4}(\S.*)$", behind, re.M)
    return text, [line for line in lines if " first" in line or "./first" in line]


def program(folder, name, *words):
    """A command of a user's PATH."""
    path = folder / name
    path.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + ' "$@"\n')
    path.chmod(0o755)


@pytest.fixture
def example(tmp_path):
    """Runs an example with some programs in PATH; gives what the run said."""
    path = tmp_path / "bin"
    path.mkdir()
    program(path, "nearcache", sys.executable, "-m", "nearcache")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "include").symlink_to(launch.ROOT / "include")

    def run(name, programs, words_of=None, **env):
        for other, words in programs.items():
            program(path, other, *words)
        clean = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("NEARCACHE_", "LD_PRELOAD", "CC"))
        }
        env = {
            **clean,
            **launch.launcher_variables(),
            **env,
            "PATH": f"{path}:{clean['PATH']}",
            "PYTHONPATH": str(launch.ROOT / "python"),
            "NEARCACHE_HOME": str(launch.BUILD),
        }
        for words in words_of or commands(name):
            done = subprocess.run(
                words,
                shell=True,
                cwd=tmp_path / "examples",
                env=env,
                text=True,
                timeout=120,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            assert done.returncode == 0, f"{words}\n{done.stdout}"
        return done.stdout

    return run


def hits(said):
    """The share of gets that the report says were hits."""
    found = re.search(r"gets +(\d+), ([\d.]+)% hits", said)
    assert found, said
    return float(found[2])


def test_every_example_is_tested_short_and_listed():
    names = {path.name for path in EXAMPLES.iterdir() if path.name != "README.md"}
    assert names == {*MPI_EXAMPLES, *SHMEM_EXAMPLES}
    for name in names:
        assert len((EXAMPLES / name).read_text().splitlines()) <= 40, name
        assert f"]({name})" in (EXAMPLES / "README.md").read_text(), name


def fortran(mpi):
    return Path(mpi.wrapper).with_name(Path(mpi.wrapper).name.replace("mpicc", "mpif90"))


def is_able(mpi, name):
    """Whether an MPI of the build has what the example is written for."""
    if mpi.family == "abi" or not mpi.preload.exists():  # the heads name mpicc
        return False
    if name.endswith(".f90"):
        return fortran(mpi).exists() and shutil.which("gfortran")
    return (
        not name.endswith(".py")
        or not subprocess.run(
            [mpi.python, "-c", "import mpi4py, numpy"], capture_output=True
        ).returncode
    )


@pytest.mark.parametrize("name", MPI_EXAMPLES)
def test_example_of_mpi(example, name):
    """With one MPI that can, preferably an MPICH, whose launchers are quick."""
    able = [
        mpi
        for mpi in sorted(launch.mpis(), key=lambda mpi: (mpi.family, mpi.version))
        if is_able(mpi, name)
    ]
    if not able:
        pytest.skip("no MPI of the build can")
    mpi = able[0]
    # Without network: gets are cheap, and would be left alone.
    said = example(
        name,
        {
            "mpicc": [mpi.wrapper],
            "mpif90": [fortran(mpi)],
            "python3": [mpi.python],
            "mpiexec": launch.launcher(mpi, 2)[:1],
        },
        NEARCACHE_SKIP_CHEAP="false",
        NEARCACHE_QUIET_AFTER="1",
        NEARCACHE_LONGEST_AGE="3600s",
        OMPI_MCA_osc="^ucx",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
    )
    assert MPI_EXAMPLES[name] in said, said
    if name != "coherent.c" or not host_defects.without_quiet_phases(mpi):
        assert hits(said) > 80, said


def test_first_program_of_the_quickstart(example, tmp_path):
    """As a reader has it, but on a modelled network: the copies of shared memory cost less than hits."""
    able = [mpi for mpi in launch.mpis() if is_able(mpi, "always.c")]
    if not able:
        pytest.skip("no MPI of the build can")
    mpi = min(able, key=lambda mpi: (mpi.family, mpi.version))
    text, lines = of_quickstart("mpi.h")
    assert [line.split()[0] for line in lines] == ["mpicc", "mpiexec", "nearcache"]
    (tmp_path / "examples" / "first.c").write_text(text)
    said = example(
        "first.c",
        {"mpicc": [mpi.wrapper], "mpiexec": launch.launcher(mpi, 2)[:1]},
        words_of=lines,
        NEARCACHE_MODEL="1900,0.17",
        OMPI_MCA_osc="^ucx",
        OMPI_MCA_mpi_yield_when_idle="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
    )
    assert "rank 0: 50050000" in said and "rank 1: 49950000" in said, said
    assert hits(said) > 98, said


def test_openshmem_program_of_the_quickstart(shmem, preload_shmem, example, tmp_path):
    text, lines = of_quickstart("shmem.h")
    assert [line.split()[0] for line in lines] == ["oshcc", "UCX_TLS=tcp,self"]
    (tmp_path / "examples" / "first.c").write_text(text)
    said = example(
        "first.c",
        {"oshcc": [shmem.wrapper], "oshrun": launch_shmem.launcher(shmem, 2)[:1]},
        words_of=lines,
        **launch_shmem.SURROUNDINGS,
        OMPI_MCA_rmaps_base_oversubscribe="1",
    )
    assert "PE 0: 50050000" in said and "PE 1: 49950000" in said, said
    assert hits(said) > 98, said


@pytest.mark.parametrize("name", SHMEM_EXAMPLES)
def test_example_of_openshmem(shmem, preload_shmem, example, name):
    if name.endswith(".upc") and not launch_upc.available():
        pytest.skip("there is no UPC runtime")
    upc = {
        each: [
            sys.executable,
            "-c",
            f"import sys; from nearcache.upcc.{module} import {entry}; sys.argv[0] = '{each}'; sys.exit({entry}())",
        ]
        for each, module, entry in (("upcc", "driver", "entry"), ("upcrun", "upcrun", "main"))
    }
    upc = {each: [word.replace("'", "'\\''") for word in words] for each, words in upc.items()}
    said = example(
        name,
        {"oshcc": [shmem.wrapper], "oshrun": launch_shmem.launcher(shmem, 2)[:1], **upc},
        **launch_shmem.SURROUNDINGS,
        **launch_shmem.TCP,
        OMPI_MCA_rmaps_base_oversubscribe="1",
    )
    assert SHMEM_EXAMPLES[name] in said, said
    assert hits(said) > 50, said
