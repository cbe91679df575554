"""`nearcache run`, from outside."""

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from support import launch
from support.programs import compiled


def launch_words(mpi, ranks=2):
    return launch.launcher(mpi, ranks)


def test_ranks_of_every_mpi_get_the_object_of_their_mpi(
    mpi, mpi_program, home_with_mpi, nearcache, root_may_run
):
    done = nearcache("run", "--mode", "user", "--", *launch_words(mpi), mpi_program)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("preload=")]
    assert lines == [f"preload={home_with_mpi}/lib/{mpi.tag}/libnearcache_mpi.so mode=user"] * 2


@pytest.mark.few_mpis
def test_a_launcher_may_start_it_in_each_rank(mpi, mpi_program, home_with_mpi, root_may_run):
    """Launchers that it does not know, and containers."""
    run = [sys.executable, "-m", "nearcache", "run", "--mode", "user", "--", mpi_program]
    env = {**os.environ, "PYTHONPATH": str(launch.ROOT / "python")}
    done = subprocess.run(
        [*launch_words(mpi), *run], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("preload=")]
    assert lines == [f"preload={home_with_mpi}/lib/{mpi.tag}/libnearcache_mpi.so mode=user"] * 2


def test_exit_code_of_the_program_is_passed_through(
    mpi, mpi_program, fake_home, nearcache, root_may_run
):
    assert nearcache("run", "--", *launch_words(mpi), mpi_program, 7).returncode == 7


@pytest.fixture
def root_may_run(monkeypatch):
    for name, value in launch.ROOT_MAY_RUN.items():
        monkeypatch.setenv(name, value)


def dry(nearcache, *words, **more):
    return nearcache("run", "--mpi", "mpich-4.0.2", "--dry-run", *words, **more)


def test_every_option_of_the_table_is_an_option_of_run(fake_home, nearcache):
    from nearcache import tables

    examples = {
        "mode": "always",
        "policy": "lru",
        "bool": "false",
        "model": "1900,0.17",
        "path": "text",
        "share_use": "node",
        "rma_use": "auto",
        "rma_fabric": "socket",
        "interface": "eth0",
        "provider": "verbs",
    }
    options = tables.load().options
    words = [
        word for option in options for word in (option.flag, option.most or examples[option.type])
    ]
    done = dry(nearcache, *words, "--", "ls")
    assert all(f" {option.variable}=" in done.stdout for option in options), (
        done.stdout + done.stderr
    )
    help_text = nearcache("run", "--help").stdout
    assert all(option.flag in help_text for option in tables.load().options)
    assert "clampi policies: index slots" in help_text, "values stay as they are typed"
    assert "Let the ranks of a node share" in help_text


def test_underscores_work_in_option_names(fake_home, nearcache):
    assert "NEARCACHE_MAX_GET=1k" in dry(nearcache, "--max_get", "1k", "--", "ls").stdout


def test_report_file_is_made_absolute_and_dash_is_the_short_report(fake_home, nearcache, tmp_path):
    assert (
        f"NEARCACHE_REPORT={tmp_path}/r.json"
        in dry(nearcache, "--report", "r.json", "--", "ls", cwd=tmp_path).stdout
    )
    assert "NEARCACHE_REPORT=1 " in dry(nearcache, "--report", "-", "--", "ls").stdout
    assert "NEARCACHE_REPORT=0 " in dry(nearcache, "--report", "0", "--", "ls").stdout


def test_interfaces_are_names_not_paths(fake_home, nearcache):
    assert (
        "NEARCACHE_RMA_INTERFACE=lo " in dry(nearcache, "--rma-interface", "lo", "--", "ls").stdout
    )
    done = dry(nearcache, "--rma-interface", "dev/lo", "--", "ls")
    assert done.returncode != 0 and "allowed: the name of a network interface" in done.stderr


def test_options_of_the_environment_reach_ranks_and_command_line_wins(fake_home, nearcache):
    env = {"NEARCACHE_MODE": "off", "NEARCACHE_STORAGE": "3M"}
    done = dry(nearcache, "--mode", "always", "--", "ls", env=env)
    assert "NEARCACHE_MODE=always" in done.stdout and "NEARCACHE_STORAGE=3M" in done.stdout
    assert "NEARCACHE_HOME" not in done.stdout


@pytest.mark.parametrize(
    "words, message",
    [
        (["--mode", "sometimes"], "allowed: off, transparent, coherent, always, user"),
        (["--policy", "best"], "clampi-temporal"),
        (["--storage", "much"], "bytes"),
        (["--index", "-1"], "whole number"),
        (["--adaptive", "maybe"], "true or false"),
        (["--progress-time", "5 minutes"], "a time"),
        (
            ["--storage", "99999999999999999999"],
            "a number of bytes, optionally with suffix k, M, G or T, from 0 to 32G",
        ),
        (["--index", "0"], "a whole number from 1 to"),
        (["--index-increase", "0"], "a number from 1 to 1024"),
        (["--shmem-dirty-pages", "32768"], "from 1 to 32767"),
        (["--model", "abc"], "L,G in ns"),
        (["--report", "50%.json"], "%% for a percent sign"),
        (["--shmem-line", "2k"], "from 16 to 1024 (a page)"),
        (["--shmem-size", "4k"], "at least 8192 bytes (8 pages)"),
    ],
)
def test_bad_values_are_reported_with_what_is_allowed(fake_home, nearcache, words, message):
    done = dry(nearcache, *words, "--", "ls")
    assert done.returncode == 2 and message in done.stderr and words[0] in done.stderr


def test_bad_values_of_the_environment_are_refused_before_anything_starts(fake_home, nearcache):
    done = dry(nearcache, "--", "ls", env={"NEARCACHE_SAMPLE": "0"})
    assert (
        done.returncode == 2
        and "NEARCACHE_SAMPLE: '0' is not allowed; allowed: a whole number from 1 to 4096"
        in done.stderr
    )


def test_bad_values_of_the_environment_that_are_overridden_do_no_harm(fake_home, nearcache):
    env = {"NEARCACHE_MODE": "bogus", "NEARCACHE_SHMEM_LINE": "3"}
    done = dry(nearcache, "--mode", "always", "--shmem-line", "64", "--", "ls", env=env)
    assert done.returncode == 0, done.stderr
    assert "NEARCACHE_MODE=always" in done.stdout and "bogus" not in done.stdout


def test_folder_of_a_report_that_is_not_here_is_told(fake_home, nearcache, tmp_path):
    nowhere = tmp_path / "nowhere"
    done = dry(nearcache, "--report", nowhere / "x.json", "--", "ls")
    assert done.returncode == 0 and f"--report: there is no folder {nowhere} here" in done.stderr
    for path in ("x.json", "%j/x.json", "-", "0", ""):
        assert not dry(nearcache, "--report", path, "--", "ls", cwd=tmp_path).stderr


def test_own_folder_is_no_pattern(fake_home, nearcache, tmp_path):
    (tmp_path / "50%").mkdir()
    assert (
        "/50%%/x.%p.json"
        in dry(nearcache, "--report", "x.%p.json", "--", "ls", cwd=tmp_path / "50%").stdout
    )


@pytest.mark.parametrize("named", [(), ("--mpi", "mpich-5.0.2")])
def test_a_program_among_several_that_cannot_be_preloaded_is_refused(
    fake_home, nearcache, tmp_path, named
):
    static = compiled(tmp_path, "static", "int main(void) { return 0; }", "cc", "-static")
    setuid = compiled(tmp_path, "setuid", "int main(void) { return 0; }", "cc")
    setuid.chmod(0o4755)
    for program, reason in ((static, "statically linked"), (setuid, "setuid")):
        done = nearcache(
            "run", *named, "--dry-run", "--", "mpiexec", "-n", "1", program, ":", "-n", "1", program
        )
        assert done.returncode != 0 and reason in done.stderr


def test_unknown_option_is_reported_with_the_nearest(fake_home, nearcache):
    done = nearcache("run", "--storag", "1M", "--", "ls")
    assert done.returncode == 2
    assert "--storag" in done.stderr and "--storage" in done.stderr


def test_options_after_the_command_belong_to_it(fake_home, nearcache):
    assert dry(nearcache, "ls", "--mode", "x", "--help").stdout.endswith("ls --mode x --help\n")


def test_refusal_has_its_own_exit_code_and_starts_nothing(fake_home, nearcache, tmp_path):
    done = nearcache("run", "--", shutil.which("touch"), tmp_path / "started")
    assert done.returncode == 125 and "uses no MPI" in done.stderr
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("name", ["PIPE", "XFSZ"])
def test_signals_end_the_program_as_they_do_without_us(fake_home, nearcache, name):
    """Python ignores some."""
    script = f"kill -{name} $$; echo it was ignored"
    done = nearcache("run", "--mpi", "mpich-5.0.2", "--", "sh", "-c", script)
    assert done.returncode == -getattr(signal, f"SIG{name}") and not done.stdout, done.stdout


def test_upcrun_takes_the_options_itself(fake_home, nearcache, tmp_path):
    upcrun = tmp_path / "upcrun"
    upcrun.write_text("#!/bin/sh\n")
    upcrun.chmod(0o755)
    done = nearcache("run", "--mode", "off", "--", upcrun, "-n", 2, "./heat")
    assert done.returncode == 125 and "upcrun takes these options itself" in done.stderr


def test_program_of_a_family_without_object_is_refused(mpi, mpi_program, fake_home, nearcache):
    for tag in os.listdir(fake_home / "lib"):
        if tag.startswith(mpi.family):
            shutil.rmtree(fake_home / "lib" / tag)
    done = nearcache("run", "--", mpi.mpiexec, "-n", "2", mpi_program)
    assert done.returncode == 125
    assert f"the program uses {mpi.tag}" in done.stderr and "there are: " in done.stderr


def test_unknown_tag_is_refused(fake_home, nearcache):
    done = nearcache("run", "--mpi", "mpich-9", "--", "ls")
    assert done.returncode == 125 and "mpich-5.0.2" in done.stderr


def test_launcher_of_another_mpi_is_noticed(fake_home, nearcache):
    found = {mpi.family: mpi for mpi in launch.mpis()}
    if "openmpi" not in found:
        pytest.skip("there is no Open MPI")
    done = dry(nearcache, "--", found["openmpi"].mpiexec, "-n", "2", "ls")
    assert "will not find each other" in done.stderr


def test_without_libraries_it_says_where_it_looked(nearcache, tmp_path):
    done = nearcache("run", "--", "ls", env={"NEARCACHE_HOME": str(tmp_path)})
    assert done.returncode == 2 and str(tmp_path) in done.stderr and "cmake --build" in done.stderr


def test_real_object_serves_hits_to_an_unmodified_program(mpi, preload, nearcache, root_may_run):
    selftest = mpi.binary("nearcache-selftest")
    if not selftest.exists():
        pytest.skip(f"{selftest} is not built")
    done = nearcache(
        "run",
        "--mode",
        "always",
        "--skip-cheap",
        "false",
        "--",
        *launch_words(mpi),
        selftest,
        env={"NEARCACHE_HOME": str(launch.BUILD)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "selftest: ok hits=" in done.stdout


def test_real_report_is_written_and_readable(mpi, preload, nearcache, root_may_run, tmp_path):
    selftest = mpi.binary("nearcache-selftest")
    if not selftest.exists():
        pytest.skip(f"{selftest} is not built")
    home = {"NEARCACHE_HOME": str(launch.BUILD)}
    done = nearcache(
        "run",
        "--mode",
        "always",
        "--skip-cheap",
        "false",
        "--report",
        tmp_path / "r.json",
        "--",
        *launch_words(mpi),
        selftest,
        env=home,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["command"] == str(selftest) and document["nodes"] == 1
    assert document["threads"] == "single"
    began = datetime.datetime.fromisoformat(document["started"].replace("Z", "+00:00"))
    age = datetime.datetime.now(datetime.timezone.utc) - began
    assert datetime.timedelta(0) <= age < datetime.timedelta(hours=1)
    shown = nearcache("report", tmp_path / "r.json")
    assert shown.returncode == 0, shown.stderr
    assert "nearcache-selftest" in shown.stdout and "hit, full" in shown.stdout


def test_a_path_that_is_no_text_is_shown_by_a_dry_run(fake_home, nearcache, tmp_path):
    done = nearcache(
        *("run", "--mpi", "mpich-4.0.2", "--report", "caf\udce9.json", "--dry-run", "--", "ls"),
        env={"PYTHONIOENCODING": "utf-8:strict"},
    )
    assert done.returncode == 0 and "caf\\udce9.json" in done.stdout, done.stderr
