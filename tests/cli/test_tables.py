"""`nearcache options` and `nearcache counters`."""
import subprocess

import launch
import pytest

from nearcache import tables


def test_options_lists_every_option_with_its_default(fake_home, nearcache):
    text = nearcache("options", "--width", "160").stdout
    rows = {line.split()[0]: line for line in text.splitlines()}
    for option in tables.load().options:
        assert f" {option.type} " in rows[option.name] and f" {option.default} " in rows[option.name]


def test_markdown_has_a_row_for_every_option_and_counter(fake_home, nearcache):
    options, counters = nearcache("options", "--markdown").stdout, nearcache("counters", "--markdown").stdout
    assert options.startswith("# Options\n") and counters.startswith("# Counters\n")
    for option in tables.load().options:
        assert f"| `{option.name}` | {option.type} |" in options
    for counter in tables.load().counters:
        assert f"| `{counter.name}` | {counter.kind} |" in counters


def test_counters_lists_every_counter(fake_home, nearcache):
    text = nearcache("counters").stdout
    assert all(counter.name in text for counter in tables.load().counters)


def test_values_of_enumerated_options_come_from_the_table(fake_home):
    assert tables.load().option("mode").values == ["off", "transparent", "always", "user"]
    assert "clampi-positional" in tables.load().option("policy").values


def test_default_of_every_option_is_allowed(fake_home):
    for option in tables.load().options:
        option.check(option.default)


def test_command_and_library_agree_on_the_tables():
    program = launch.BUILD / "bin" / "nearcache-tables"
    written = launch.BUILD / "share" / "nearcache" / "tables.json"
    if not program.exists() or not written.exists():
        pytest.skip("nearcache-tables is not built")
    assert tables.parse(subprocess.run([program], capture_output=True, text=True).stdout) == tables.parse(written.read_text())


def test_tests_leave_out_only_what_the_table_of_host_defects_has(fake_home):
    import host_defects
    rows = {row.name: row for row in tables.load().host_defects}
    excuses = [(key[0], name) for key, name in [*host_defects.CASES.items(), *host_defects.BROKEN_PROGRAMS.items()]]
    excuses += [(tag, name) for (tag, _), (_, name) in host_defects.ARGUMENTS.items()]
    for tag, name in excuses:
        assert rows[name].concerns(*tag.split("-")), (tag, name)


def test_damaged_tables_are_reported(fake_home, nearcache):
    (fake_home / "share/nearcache/tables.json").write_text("{}")
    done = nearcache("options")
    assert done.returncode == 2 and "tables.json" in done.stderr and "Traceback" not in done.stderr
