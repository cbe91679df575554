"""Which MPI a program uses, and what is refused."""

import os
import shutil
import subprocess
import sys

import pytest
from nearcache import command, elf, libraries, mpi, run
from nearcache.errors import NearcacheError, Refused
from support.programs import compiled, fake_library


def test_program_of_every_mpi_is_recognised(mpi, mpi_program):
    from nearcache import mpi as finder

    (found,) = finder.of_program(str(mpi_program), None)
    assert found.tag == mpi.tag


def test_launcher_of_every_mpi_is_recognised(mpi):
    from nearcache import mpi as finder

    found = finder.of_launcher(mpi.mpiexec)
    assert found.family == ("mpich" if mpi.family == "abi" else mpi.family)
    if mpi.family != "abi":
        assert found.version == mpi.tag.partition("-")[2]


def test_mpi4py_program_is_of_the_mpi_that_mpi4py_loads(mpi):
    from nearcache import mpi as finder

    if (
        not mpi.python.exists()
        or subprocess.run([mpi.python, "-c", "import mpi4py"], capture_output=True).returncode
    ):
        pytest.skip(f"{mpi.tag} has no Python with mpi4py beside it")
    if mpi.family == "abi":
        pytest.skip("mpi4py loads one library per venv; the other tag shows which")
    assert finder.of_program(str(mpi.python), mpi.mpiexec)[0].tag == mpi.tag


def test_script_of_python_is_of_the_mpi_of_its_interpreter(mpi, tmp_path):
    from nearcache import mpi as finder

    if not mpi.python.exists() or mpi.family == "abi":
        pytest.skip(f"{mpi.tag} has no Python beside it")
    script = tmp_path / "script"
    script.write_text(f"#!{mpi.python}\nprint()\n")
    script.chmod(0o755)
    assert finder.of_program(str(script), mpi.mpiexec)[0].tag == mpi.tag


def test_shell_script_is_of_the_mpi_of_its_launcher(mpi, tmp_path):
    from nearcache import mpi as finder

    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert (
        finder.of_program(str(script), mpi.mpiexec)[0].family
        == finder.of_launcher(mpi.mpiexec).family
    )


def test_a_quote_in_the_first_line_of_a_script_is_a_character(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh -c 'x\n")
    script.chmod(0o755)
    assert "is a script" in refused(script)


def refused(word, launcher=None):
    with pytest.raises(Refused) as error:
        mpi.of_program(str(word), launcher)
    return error.value.message


def test_program_without_mpi_is_refused():
    assert "uses no MPI" in refused(shutil.which("ls"))


def test_what_may_start_the_program_itself_is_told_apart_by_the_user(tmp_path):
    """Launchers that are not known and containers: without MPI, static or setuid."""
    static = compiled(tmp_path, "static", "int main(void) { return 0; }", "cc", "-static")
    setuid = compiled(tmp_path, "setuid", "int main(void) { return 0; }", "cc")
    setuid.chmod(0o4755)
    for starter in (shutil.which("ls"), static, setuid):
        assert "put nearcache run before that one" in refused(starter)


def test_missing_program_is_refused():
    assert "there is no program ./missing" in refused("./missing")
    assert "the name of the program is empty" in refused("")


def test_file_that_cannot_be_executed_is_not_called_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").write_text("")
    assert refused("./program") == "./program is not executable"
    assert refused("program", "mpiexec") == "program is not executable"
    assert refused("program") == "there is no program program"  # only PATH is searched
    assert refused("/tmp") == "/tmp is a folder, not a program"


def test_static_program_is_refused(tmp_path):
    assert "statically linked" in refused(
        compiled(tmp_path, "static", "int main(void) { return 0; }", "cc", "-static")
    )


def test_setuid_program_is_refused(tmp_path):
    path = compiled(tmp_path, "setuid", "int main(void) { return 0; }", "cc")
    path.chmod(0o4755)
    assert "setuid" in refused(path)


def test_script_under_a_launcher_of_no_mpi_is_refused(tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert "--mpi TAG" in refused(script)
    assert "--mpi TAG" in refused(script, "srun-of-nowhere")


def fake_program(folder, library, *flags):
    source = "int MPI_Get_library_version(char *, int *); int main(void) { return MPI_Get_library_version(0, 0); }"
    return compiled(folder, "fake", source, "cc", str(library), *flags)


@pytest.mark.parametrize(
    "name, text, tag",
    [
        ("libmpi.so.40", "Open MPI v4.0.3, package: x", "openmpi-4.0.3"),
        ("libmpi.so.12", "MPICH Version:\\t3.4.2", "mpich-3.4.2"),
        ("libmpi.so.12", "Intel(R) MPI Library 2021.9 for Linux", "mpich-unknown"),
        (
            "libmpi_cray.so.12",
            "MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)",
            "mpich-unknown",
        ),
        ("libmpi_abi.so.1", "Open MPI v6.0.0", "abi-1.0"),
    ],
)
def test_library_is_known_by_what_it_says(tmp_path, name, text, tag):
    library = fake_library(tmp_path, name, text)
    program = fake_program(tmp_path, library, f"-Wl,-rpath,{tmp_path}")
    assert mpi.of_program(str(program), None)[0].tag == tag


def test_library_of_an_unknown_family_is_refused(tmp_path):
    library = fake_library(tmp_path, "libmpi.so.7", "Somebody's MPI 1.0")
    assert "no family" in refused(fake_program(tmp_path, library, f"-Wl,-rpath,{tmp_path}"))


def test_library_that_the_loader_would_not_find_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    library = fake_library(tmp_path, "libmpi.so.99", "Open MPI v9")
    program = fake_program(tmp_path, library)
    assert "libmpi.so.99" in refused(program)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert mpi.of_program(str(program), None)[0].family == "openmpi"


def test_library_path_of_the_command_line_is_searched(tmp_path, monkeypatch, fake_home):
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    library = fake_library(tmp_path, "libmpi.so.98", "Open MPI v5.0.3")
    program = fake_program(tmp_path, library)
    for words in (
        f"env LD_LIBRARY_PATH={tmp_path} {program}",
        f"mpiexec -n 2 env LD_LIBRARY_PATH={tmp_path} {program}",
        f"mpiexec -x LD_LIBRARY_PATH={tmp_path} -n 2 {program}",
    ):
        (choice,) = run.choose_objects(command.parse(words.split()), None)
        assert choice.object.tag == "openmpi-5.0.11", words


def test_an_empty_element_of_the_library_path_is_the_working_directory(tmp_path, monkeypatch):
    fake_program(tmp_path, fake_library(tmp_path, "libmpi.so.97", "Open MPI v4.0.3"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/nowhere")
    assert mpi.of_program("./fake", None)[0].tag == "openmpi-4.0.3"


def test_modules_of_the_working_directory_are_not_imported(tmp_path, monkeypatch):
    library = fake_library(tmp_path, "libmpi.so.12", "MPICH Version:\\t3.4.2")
    (tmp_path / "ctypes.py").write_text("raise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert mpi.of_library(library).tag == "mpich-3.4.2"


def test_mpi_behind_another_library_and_origin_is_found(tmp_path):
    (tmp_path / "inner").mkdir()
    library = fake_library(tmp_path / "inner", "libmpi.so.40", "Open MPI v4.1.0")
    between = compiled(
        tmp_path,
        "libbetween.so",
        "int MPI_Get_library_version(char *, int *);\nint between(void) { return MPI_Get_library_version(0, 0); }",
        "cc",
        "-shared",
        "-fPIC",
        str(library),
        "-Wl,-rpath,$ORIGIN/inner",
    )
    program = compiled(
        tmp_path,
        "program",
        "int between(void); int main(void) { return between(); }",
        "cc",
        str(between),
        "-Wl,-rpath,$ORIGIN",
        "-Wl,--allow-shlib-undefined",
    )
    assert libraries.mpi_library(program)[0] == library


def test_the_finder_agrees_with_ldd():
    program = shutil.which("ls")
    ours = {str(image.path.resolve()) for image in libraries.needed_by(program)[0]}
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    theirs = {
        os.path.realpath(word)
        for line in listed.splitlines()
        for word in line.split()
        if word.startswith("/") and "ld-linux" not in word
    }
    assert theirs <= ours


def test_without_pyelftools_a_message_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("elftools")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "elftools", None)
    with pytest.raises(NearcacheError, match="python3-pyelftools"):
        elf.read("/bin/sh")


def test_damaged_elf_files_are_told_and_not_followed(tmp_path):
    whole = open(sys.executable if elf.is_elf(sys.executable) else "/bin/sh", "rb").read()
    for length in (4, 20, 63, 64, 200, 1000):
        path = tmp_path / "damaged"
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError):
            elf.read(path)
