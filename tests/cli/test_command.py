"""Where the program stands in a launcher's command line."""

import os
import stat
import subprocess

import pytest
from nearcache import command, home, mpi, preload, run


@pytest.fixture
def app(tmp_path, monkeypatch):
    """A program `app` and one `other` in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("app", "other"):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return "./app"


@pytest.mark.parametrize(
    "line",
    [
        "mpiexec -n 4 ./app -n 2 x",
        "mpiexec ./app",
        "mpirun -np 4 --oversubscribe ./app",
        "mpirun --mca btl tcp,self -x PATH -np 4 ./app",
        "mpirun --map-by node --bind-to core ./app",
        "mpirun -host localhost,other -np 2 ./app",
        "mpiexec -genv A 1 -env B 2 -n 2 ./app",
        "mpiexec -genvall -l -n 2 ./app",
        "mpiexec --unknown value --another ./app",
        "mpiexec --unknown=value ./app",
        "mpiexec -wdir /tmp -n 2 ./app",
        "mpiexec.hydra -hosts a,b -ppn 1 ./app",
        "/usr/bin/mpiexec.openmpi -n 2 ./app",
        "srun -N 2 -n 4 --mpi=pmix ./app",
        "srun -N2 -n4 -p debug -J test ./app",
        "timeout 60 mpiexec -n 2 ./app",
        "env A=1 mpiexec -n 2 ./app",
        "mpiexec -n 2 env A=1 ./app",
        "mpiexec -n 2 env -u HOME A=1 ./app",
        "mpiexec -n 2 numactl -N 0 -m 0 ./app",
        "mpiexec -n 2 taskset -c 0-1 ./app",
        "mpiexec -n 2 timeout -s KILL 5 ./app",
        "mpiexec -n 2 -- ./app",
        "mpiexec -prepend-pattern [%r] -n 2 ./app",
        "mpiexec -genv A=1 -n 2 ./app",
        "mpiexec -n 2 env - A=1 ./app",
        "mpiexec -n 2 setarch -R ./app",
        "mpiexec -n 2 setarch x86_64 -R ./app",
        "mpiexec -n 2 numactl -P 0 ./app",
        "mpiexec -n 2 numactl --preferred-many 0 ./app",
        "mpiexec -n 2 chrt -f 10 ./app",
        "mpiexec -n 2 setsid ./app",
        "mpiexec -n 2 ionice --class 2 --classdata 4 ./app",
        "mpiexec -n 2 stdbuf --output L ./app",
        "mpiexec -n 2 time --output ./other ./app",
        "mpirun --gpmixmca plm ./other -n 2 ./app",
        "srun --task-prolog ./other -n 2 ./app",
        "mpirun --launch-agent ./other -n 2 ./app",
        "jsrun -n 2 -l ./other -c 4 ./app",
        "jsrun -h /tmp -E A=1 -L -i ./app",
        "srun -H -n 2 ./app",
        "srun -s -E --comment ./other -n 2 ./app",
        "srun -L ./other --begin ./other ./app",
        "mpiexec -tune -n 2 ./app",
        "mpirun --tune settings -n 2 ./app",
        "./app x",
        "env A=1 ./app x",
    ],
)
def test_program_is_found_behind_launcher_and_wrappers(app, line):
    words = line.split()
    parsed = command.parse(words)
    assert [program.start for program in parsed.programs] == [words.index("./app")]
    assert parsed.programs[0].at == words.index("./app")


def test_program_without_a_path_is_found_in_the_working_directory_of_a_launcher(app):
    assert command.parse("mpiexec --strange 3 app".split()).programs[0].start == 3


def test_a_name_that_only_a_launcher_finds_is_found_behind_env_too(app):
    parsed = command.parse("mpirun -n 2 app x : -n 1 env A=1 ./app".split())
    words = preload.insert(parsed, [], {"A": "1"}, {})
    assert (
        words
        == "mpirun -n 2 env LD_PRELOAD= A=1 ./app x : -n 1 env A=1 env LD_PRELOAD= ./app".split()
    )
    assert command.parse(["app"]).programs[0].bare is False
    assert command.parse("mpirun -n 2 sh app".split()).programs[0].bare is False


@pytest.mark.parametrize(
    "line",
    [
        "mpiexec -wdir sub -n 2 ./program",
        "mpiexec --wdir=sub -n 2 program",
        "mpiexec -gwdir sub -n 1 ./program : -n 1 ./program",
        "mpiexec -wdir sub --strange ./program",
        "mpirun --wd {here}/sub -n 2 valgrind -q ./program",
        "srun -D sub -n 2 ./program",
        "srun --chdir=sub -n 2 ./program",
        "jsrun -h sub -n 2 ./program",
        "mpiexec -n 2 env -C sub ./program",
        "mpiexec -wdir / -n 2 env --chdir={here}/sub ./program",
        "env -C . mpiexec -wdir sub -n 2 ./program",
        "env -C sub ./program",
    ],
)
def test_programs_are_found_where_they_are_to_run(app, tmp_path, line, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "app").rename(tmp_path / "sub" / "program")
    seen = []
    monkeypatch.setattr(mpi, "is_python", lambda path: seen.append(path) or True)
    monkeypatch.setattr(mpi, "of_python", lambda path, *_: mpi.Mpi("mpich", "4.0.2", path))
    objects = [home.PreloadObject("mpich-4.0.2", tmp_path / "n.so", tmp_path / "none")]
    monkeypatch.setattr(home.Home, "objects", lambda self: objects)
    monkeypatch.setattr(home, "find", lambda: home.Home(tmp_path))
    parsed = command.parse(line.format(here=tmp_path).split())
    assert run.choose_objects(parsed, None)[0].object is objects[0]
    assert seen and all(os.path.samefile(path, tmp_path / "sub" / "program") for path in seen)


def test_every_program_of_a_colon_command_is_found(app):
    words = "mpiexec -n 1 ./app a : -n 2 ./other b".split()
    assert [words[program.start] for program in command.parse(words).programs] == [
        "./app",
        "./other",
    ]


def test_variables_of_an_env_before_the_program_are_known(app):
    program = command.parse("mpiexec -n 2 env A=1 LD_PRELOAD=/x.so ./app".split()).programs[0]
    assert program.assignments == {"A": "1", "LD_PRELOAD": "/x.so"}


@pytest.mark.parametrize(
    "line",
    ["env -u A ./app", "env -uA ./app", "mpiexec env --unset A ./app", "env --unset=A ./app"],
)
def test_variables_that_an_env_removes_are_not_put_back(app, line):
    words = preload.insert(command.parse(line.split()), ["/n.so"], {"A": "1", "B": "2"}, {})
    assert words[-4:] == ["env", "LD_PRELOAD=/n.so", "B=2", "./app"]


@pytest.mark.parametrize(
    "removing", ["-u LD_PRELOAD", "-uLD_PRELOAD", "-i", "-", "--ignore-environment"]
)
def test_a_preload_that_an_env_removes_is_not_put_back(app, removing):
    environment = {"LD_PRELOAD": "/tool.so"}
    for line in (f"mpiexec env {removing} ./app", f"env {removing} mpiexec ./app"):
        words = preload.insert(command.parse(line.split()), ["/n.so"], {}, environment)
        assert words[-3:] == ["env", "LD_PRELOAD=/n.so", "./app"]


@pytest.mark.parametrize(
    "line",
    [
        "mpirun -x A=1 -x LD_PRELOAD=/x.so -n 2 ./app",
        "mpiexec -env A 1 -env LD_PRELOAD /x.so -n 2 ./app",
        "mpiexec -genv A=1 -genv LD_PRELOAD=/x.so -n 1 ./app : -n 1 ./app",
        "srun --export=ALL,A=1,LD_PRELOAD=/x.so ./app",
        "srun --export A=1,LD_PRELOAD=/x.so ./app",
    ],
)
def test_variables_that_a_launcher_sets_are_known(app, line):
    for program in command.parse(line.split()).programs:
        assert program.assignments == {"A": "1", "LD_PRELOAD": "/x.so"}


def test_a_tool_that_a_launcher_preloads_is_preloaded_behind_nearcache(app):
    parsed = command.parse("mpirun -x LD_PRELOAD=/tool.so -n 2 ./app".split())
    words = preload.insert(parsed, ["/nearcache.so"], {"NEARCACHE_MODE": "user"}, {})
    assert words[5:] == ["env", "LD_PRELOAD=/nearcache.so:/tool.so", "NEARCACHE_MODE=user", "./app"]


def test_a_program_whose_name_has_an_equals_sign_is_started(tmp_path):
    path = tmp_path / "n=4" / "app"
    path.parent.mkdir()
    path.write_text('#!/bin/sh\nprintf "%s|" "$A" "$@"\n')
    path.chmod(0o755)
    parsed = command.parse([str(path), "x y", "z"])
    words = preload.insert(parsed, [], {"A": "1"}, {})
    assert subprocess.run(words, capture_output=True, text=True).stdout == "1|x y|z|"


def test_a_tool_that_watches_the_program_is_put_under_the_preload(app, monkeypatch):
    words = "mpiexec -n 2 valgrind --leak-check=full ./app".split()
    program = command.parse(words).programs[0]
    assert (program.at, program.start) == (3, 5)


@pytest.mark.parametrize(
    "line",
    [
        "perf stat ./app",
        "perf stat -e other -r 5 ./app",
        "perf mem -t load record ./app",
        "perf record -g -o other -- ./app",
        "strace -e open -S time ./app",
        "gdb -x other --args ./app",
        "ltrace -e other perf record env A=1 ./app",
        "xterm -title other -e ./app",
    ],
)
def test_words_of_a_tool_that_watches_are_not_the_program(app, tmp_path, monkeypatch, line):
    (tmp_path / "bin").mkdir()
    for name in ("stat", "record", "open", "time", "other", "env", "perf"):  # all are programs
        (tmp_path / "bin" / name).symlink_to(tmp_path / "app")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    words = ["mpiexec", "-n", "2", *line.split()]
    (program,) = command.parse(words).programs
    assert (program.at, program.start) == (3, words.index("./app"))


def test_a_launcher_alone_has_no_program():
    assert command.parse(["mpiexec", "-n", "2"]).programs == []


def test_programs_in_a_file_are_noticed(app):
    assert command.parse("mpiexec -configfile programs".split()).config_file


def test_the_help_of_no_command_is_cut_off():
    from click.testing import CliRunner
    from nearcache import cli

    said = CliRunner().invoke(cli.main, ["--help"], terminal_width=80).output
    for name, each in cli.main.all_by_name().items():
        assert f"  {name} " in said and each.get_short_help_str(limit=1000) in said, name
    assert "..." not in said.replace("[ARGS]...", "")
