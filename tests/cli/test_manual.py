"""Man pages and API pages: made of the help, the tables and the headers, whole and without a warning."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from nearcache import cli, tables
from nearcache.upcc import upcrun
from support import launch

PUBLIC = re.compile(r"^(?:NEARCACHE_API|static inline) .*?\b((?:nearcache|CLAMPI)_?\w+)\(", re.M)


def functions():
    return {
        name
        for header in ("mpi.h", "shmem.h")
        for name in PUBLIC.findall((launch.ROOT / "include" / "nearcache" / header).read_text())
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{name.section: text} of all pages."""
    if not (launch.BUILD / "share" / "nearcache" / "tables.json").exists():
        pytest.skip("the table of options is not built")
    folder = tmp_path_factory.mktemp("man")
    done = subprocess.run(
        [sys.executable, launch.ROOT / "packaging" / "man" / "generate.py", "--out", folder],
        capture_output=True,
        text=True,
        env={**os.environ, "NEARCACHE_HOME": str(launch.BUILD), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return {path.name: path for path in folder.glob("man*/*")}


def flat(path):
    """A page's words, without what makes it roff."""
    return path.read_text().replace("\\-", "-").replace("\\e", "\\").replace("\\(aq", "'")


def test_there_is_a_page_for_every_command_and_function(pages):
    wanted = {
        "nearcache.1",
        "upcc.1",
        "upcrun.1",
        "nearcache-options.7",
        "nearcache-counters.7",
        *(f"nearcache-{name}.1" for name in cli.main.all_by_name()),
        *(f"{name}.3" for name in functions()),
    }
    assert len(functions()) > 15 and set(pages) == wanted


def test_lines_that_are_not_filled_fit_a_terminal(pages):
    """The help of upcc, which both are taken from."""
    pytest.importorskip("pycparser")
    from nearcache.upcc import command

    assert [line for line in command.HELP.splitlines() if len(line) > 80] == []
    for literal in re.findall(r"^\.nf\n(.*?)^\.fi", flat(pages["upcc.1"]), re.S | re.M):
        assert [line for line in literal.splitlines() if len(line) > 80] == []


def test_pages_name_every_option_and_counter(pages, tables_text, monkeypatch):
    monkeypatch.setenv("NEARCACHE_HOME", str(launch.BUILD))
    known = tables.parse(tables_text)
    assert known.options
    assert known.counters
    assert all(
        option.flag in flat(pages["nearcache-options.7"])
        and option.variable in flat(pages["nearcache-options.7"])
        for option in known.options
    )
    assert all(counter.name in flat(pages["nearcache-counters.7"]) for counter in known.counters)
    for name, command in {
        **{f"nearcache-{name}": command for name, command in cli.main.all_by_name().items()},
        "upcrun": upcrun.main,
    }.items():
        for parameter in command.get_params(cli.click.Context(command)):
            for option in (each for each in parameter.opts if each.startswith("--")):
                assert option in flat(pages[f"{name}.1"]), (name, option)


def test_pages_have_short_lines_and_no_empty_paragraphs(pages):
    for name, path in pages.items():
        text = path.read_text()
        assert not re.search(r"^\.SH .*\n\.PP", text, re.M), name
        words = re.sub(r"(?ms)^\.nf$.*?^\.fi$", "", text)
        long = [line for line in words.splitlines() if len(line) > 80 and " " in line]
        assert not [line for line in long if not line.startswith((".", "\\fB"))], (name, long)


def test_pages_are_roff_without_a_warning(pages):
    if not shutil.which("groff"):
        pytest.skip("there is no groff")
    for name, path in pages.items():
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", path], capture_output=True, text=True
        )
        assert done.returncode == 0 and not done.stderr, (name, done.stderr)
        headings = re.findall(r"^\.SH \"?([A-Z ]+)", path.read_text(), re.M)
        assert headings[0] == "NAME" and headings[-1] == "SEE ALSO", name
        for other in re.findall(r"\\fB([\w\\-]+)\\fR\((\d)\)", path.read_text()):
            assert f"{other[0]}.{other[1]}".replace("\\", "") in pages, (name, other)


def test_help_names_each_command_in_one_whole_line(nearcache):
    """At the width of a plain terminal."""
    text = nearcache("--help", env={"COLUMNS": "80"}).stdout
    lines = text.split("Commands:\n")[1].splitlines()
    named = {line.split()[0]: line for line in lines if line[:3].strip() or re.match(r"  \w", line)}
    for name, command in cli.main.all_by_name().items():
        assert named[name].endswith(
            command.short_help or command.get_short_help_str(1000)
        ) and not named[name].endswith("..."), text


def test_api_pages_are_made_without_a_warning(tmp_path):
    if not shutil.which("doxygen"):
        pytest.skip("there is no doxygen")
    settings = (
        launch.ROOT / "docs" / "api" / "Doxyfile"
    ).read_text() + f"\nOUTPUT_DIRECTORY = {tmp_path}\n"
    done = subprocess.run(
        ["doxygen", "-"], input=settings, capture_output=True, text=True, cwd=launch.ROOT
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    page = "".join(path.read_text() for path in tmp_path.glob("html/*_8h.html"))
    assert all(f">{name} <" in page or name in page for name in functions())
