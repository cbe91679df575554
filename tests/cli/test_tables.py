"""`nearcache options` and `nearcache counters`."""

import subprocess

import pytest
from nearcache import tables
from nearcache.errors import NearcacheError
from support import launch


def test_options_lists_every_option_with_its_default(fake_home, nearcache):
    text = nearcache("options", "--width", "160").stdout
    # A line that begins with a space goes on with the help of the row above.
    rows = {line.split()[0]: line for line in text.splitlines() if not line.startswith(" ")}
    for option in tables.load().options:
        assert (
            f" {option.type} " in rows[option.name] and f" {option.default} " in rows[option.name]
        )


def test_markdown_has_a_row_for_every_option_and_counter(fake_home, nearcache):
    options, counters = (
        nearcache("options", "--markdown").stdout,
        nearcache("counters", "--markdown").stdout,
    )
    assert options.startswith("# Options\n") and counters.startswith("# Counters\n")
    for option in tables.load().options:
        assert f"| `{option.name}` | {option.type} |" in options
    for counter in tables.load().counters:
        assert f"| `{counter.name}` | {counter.kind} |" in counters


def test_counters_lists_every_counter(fake_home, nearcache):
    text = nearcache("counters").stdout
    assert all(counter.name in text for counter in tables.load().counters)


def test_values_of_enumerated_options_come_from_the_table(fake_home):
    assert tables.load().option("mode").values == [
        "off",
        "transparent",
        "coherent",
        "always",
        "user",
    ]
    assert "clampi-positional" in tables.load().option("policy").values


def test_default_of_every_option_is_allowed(fake_home):
    for option in tables.load().options:
        option.check(option.default)


def test_command_and_library_agree_on_the_tables():
    program = launch.BUILD / "bin" / "nearcache-tables"
    written = launch.BUILD / "share" / "nearcache" / "tables.json"
    if not program.exists() or not written.exists():
        pytest.skip("nearcache-tables is not built")
    assert tables.parse(
        subprocess.run([program], capture_output=True, text=True).stdout
    ) == tables.parse(written.read_text())


def test_tests_leave_out_only_what_the_table_of_host_defects_has(fake_home):
    from support import host_defects

    rows = {row.name: row for row in tables.load().host_defects}
    excuses = [
        (key[0], name)
        for key, name in [*host_defects.CASES.items(), *host_defects.BROKEN_PROGRAMS.items()]
    ]
    excuses += [(tag, name) for (tag, _), (_, name) in host_defects.ARGUMENTS.items()]
    excuses += [(tag, name) for tag, (*_, name) in host_defects.ENDED_BY_HOST.items()]
    for series, name in excuses:
        library, numbers = series.split("-")
        assert any(rows[name].concerns(library, f"{numbers}.{last}") for last in range(30)), (
            series,
            name,
        )


TEXTS = [
    "",
    "0",
    "1",
    "2",
    "3",
    "64",
    "65535",
    "65536",
    "4096",
    "1k",
    "1K",
    "1.5k",
    "1kib",
    "1kb",
    "1b",
    "1ib",
    "1 k",
    "48",
    "32G",
    "33G",
    "1T",
    "1e3",
    "1E3",
    "0x10",
    "1.",
    ".5",
    ".",
    "+1",
    "-1",
    "nan",
    "inf",
    "1e400",
    "10us",
    "1US",
    "1s",
    "3600s",
    "3601s",
    "1m",
    "99999999999999999999",
    "true",
    "YES",
    "maybe",
    "always",
    "ALWAYS",
    "lru",
    "1900,0.17",
    "1900",
    "1,2,3",
    "1e9,1e6",
    "1e10,0",
    " 1",
    "1\n",
    "a.json",
    "%p.%%",
    "%",
    "%x",
    "\u0663",
]


def test_command_and_library_allow_the_same_values(fake_home):
    """Every option with many texts: what the command takes, the library does, and what it refuses is refused by both."""
    program = launch.BUILD / "bin" / "nearcache-tables"
    if not program.exists():
        pytest.skip("nearcache-tables is not built")
    pairs = [
        (option, text)
        for option in tables.load().options
        for text in [*TEXTS, option.least, option.most, option.default]
    ]
    done = subprocess.run(
        [program, *(f"{option.name}={text}" for option, text in pairs)],
        capture_output=True,
        text=True,
    )
    answers = done.stdout.replace("1\n'", "1'").splitlines()  # of the text with a line's end
    assert len(answers) == len(pairs)
    for (option, text), answer in zip(pairs, answers):
        try:
            option.check(text)
            refused = ""
        except NearcacheError as error:
            refused = str(error)
        assert bool(refused) == bool(answer), (option.name, text, refused, answer)
        if refused and not option.values:
            assert refused.partition("allowed: ")[2] == answer.partition("allowed: ")[2]


def test_damaged_tables_are_reported(fake_home, nearcache):
    (fake_home / "share/nearcache/tables.json").write_text("{}")
    done = nearcache("options")
    assert done.returncode == 2 and "tables.json" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "file, damage",
    [("tables.json", b"\xff\xfe"), ("folders.json", b'{"lib": "li'), ("folders.json", b"[1]")],
)
def test_damaged_files_of_an_installation_are_told(fake_home, nearcache, file, damage):
    (fake_home / "share" / "nearcache" / file).write_bytes(damage)
    done = nearcache("run", "--mpi", "mpich-4.0.2", "--dry-run", "--", "ls")
    assert done.returncode == 2 and file in done.stderr and "Traceback" not in done.stderr
