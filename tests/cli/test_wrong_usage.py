"""Wrong usage: one line that says what is wrong, exit code 2, nothing started."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nearcache import files
from nearcache.errors import NearcacheError

ROOT = Path(__file__).resolve().parents[2]

MANY = 5000 * "9"  # digits that Python will not convert


@pytest.mark.parametrize(
    "words, told",
    [
        (["nosuch"], "no such command 'nosuch' (see "),
        (["--nosuch"], "no such option '--nosuch'"),
        (["report"], "missing argument 'FILE' (see "),
        (["report", "x", "--html"], "requires an argument (see "),
        (["report", "x", "--width", "59"], "59 is not in the range"),
        (["report", ""], "invalid value for 'FILE': it is empty"),
        (["report", "x", "--html", ""], "'--html': it is empty (see "),
        (["report", "x", "y"], "unexpected extra argument"),
        (["compare", "x"], "missing argument 'B'"),
        (["simulate", ""], "it is empty (see "),
        (["simulate", "x", "--window", "-1"], "'-1' is neither a window's number nor RANK:NUMBER"),
        (
            ["simulate", "x", "--window", "first"],
            "'first' is neither a window's number nor RANK:NUMBER",
        ),
        (["simulate", "x", "--mode", "sometimes"], "'sometimes' is not one of"),
        (["advise"], "give either a command after --, or --from"),
        (["advise", "--from", "x", "--keep", "y"], "with --from nothing is run"),
        (["advise", "--keep", "nosuch/x", "--", "mpiexec", "./x"], "--keep: there is no folder"),
        (["advise", "--json", "nosuch/x", "--", "mpiexec", "./x"], "--json: there is no folder"),
        (["build", "--prefix", "a b"], "separates preload objects by blanks and colons"),
        (["build", "--prefix", f"{__file__}/x"], "it is no folder); name another folder with"),
        (["build", "--prefix", ""], "'--prefix': it is empty (see "),
        (["build", "--mpicc", ""], "'--mpicc': it is empty (see "),
        (["build", "--jobs", "0"], "0 is not in the range"),
        (["build", "all"], "unexpected extra argument"),
        (["run", "--nosuch", "--", "./x"], "no such option '--nosuch'"),
        (["run", "--storage", MANY, "--", "./x"], "is not allowed; allowed: a number of bytes"),
        (["run", "--verbose", MANY, "--", "./x"], "is not allowed; allowed: a whole number"),
        (["run", "--storage", "1e400", "--", "./x"], "is not allowed; allowed: a number of bytes"),
        (["doctor", "--timeout", "nan"], "nan is not allowed"),
        (["doctor", "--timeout", "-1"], "-1 is not allowed"),
        (["counters", "--width", "wide"], "'wide' is not a valid integer"),
    ],
)
def test_wrong_usage_is_one_line(nearcache, fake_home, tmp_path, words, told):
    here = tmp_path / "here"
    here.mkdir()
    done = nearcache(*words, cwd=here)
    assert done.returncode == 2 and told in done.stderr, done.stderr
    assert done.stderr.startswith("nearcache: ") and done.stderr.count("\n") == 1
    assert not done.stdout and not list(here.iterdir())


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(NearcacheError, match="--keep: the folder .* cannot be written"):
        files.check_folder("--keep", tmp_path / "run")
    files.check_folder("--json", "/dev/null")


def shell(line, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    command = f'alias nearcache="{sys.executable} -m nearcache"\n{line}'
    return subprocess.run(
        ["sh", "-c", command], cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "words", [f"report {ROOT}/tests/cli/report_example.json", "--help", "--version", "run --help"]
)
def test_a_full_disk_is_told_in_one_line(fake_home, tmp_path, words):
    done = shell(f"nearcache {words} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("nearcache: ") and done.stderr.count("\n") == 1, done.stderr


def test_nobody_need_read_what_is_said(fake_home, tmp_path):
    report = f"nearcache report {ROOT}/tests/cli/report_example.json"
    for line in (f"{report} >&-", f"{report} | true", "nearcache nosuch 2>&-"):
        assert "Traceback" not in shell(line, tmp_path).stderr, line


def test_a_standard_input_that_is_closed_holds_no_report(fake_home, tmp_path):
    done = shell("nearcache report - <&-", tmp_path)
    assert done.returncode == 2 and "standard input is not JSON" in done.stderr, done.stderr


def test_modules_beside_an_installed_command_are_not_imported(fake_home, tmp_path):
    """packaging/nearcache.sh, as installed."""
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "nearcache.sh", prefix / "bin" / "nearcache")
    (prefix / "share" / "nearcache").mkdir(parents=True)
    (prefix / "share" / "nearcache" / "python").symlink_to(ROOT / "python")
    here = tmp_path / "here"
    here.mkdir()
    for name in ("click", "importlib", "json", "rich", "signal"):
        (here / f"{name}.py").write_text("raise SystemExit('a module of this folder')\n")
    done = subprocess.run(
        [prefix / "bin" / "nearcache", "counters"],
        cwd=here,
        env={**os.environ, "NEARCACHE_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "hits_full" in done.stdout, done.stderr


def test_a_working_directory_that_is_gone_is_told_in_one_line(fake_home, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; nearcache run --mpi mpich-5.0.2 --dry-run --report x.json -- ls"
    done = shell(line, gone)
    assert done.returncode == 2
    assert done.stderr.startswith("nearcache: ") and done.stderr.count("\n") == 1, done.stderr


def test_without_a_command_there_is_the_help(nearcache, fake_home):
    done = nearcache()
    assert "Commands:" in done.stdout + done.stderr and done.returncode in (0, 2)
