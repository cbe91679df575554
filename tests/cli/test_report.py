"""`nearcache report`. The expected text is report_example.txt; write it anew with NEARCACHE_TEST_GOLDEN=1."""

import copy
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from nearcache import report_counts, report_file, report_parts

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE / "report_example.json"
GOLDEN = HERE / "report_example.txt"


def plain(text):
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def test_report_is_shown_as_before(nearcache):
    done = nearcache("report", EXAMPLE, "--width", "120")
    assert done.returncode == 0, done.stderr
    if os.environ.get("NEARCACHE_TEST_GOLDEN"):
        GOLDEN.write_text(plain(done.stdout))
    assert plain(done.stdout) == GOLDEN.read_text()


def test_every_part_of_a_report_has_a_type():
    text = (HERE.parents[1] / "docs" / "report.md").read_text()
    of_document = text.split("## The document")[1].split("\n\n")[1].splitlines()[2:]
    keys = {key for row in of_document for key in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert keys == set(report_parts.Report.__annotations__)
    assert set(report_file.REQUIRED) <= report_parts.Report.__required_keys__
    document = json.loads((HERE / "report_example_v2.json").read_text())
    for part, kind in (
        (document, report_parts.Report),
        (document["windows"][0], report_parts.Window),
        (document["per_rank"][0], report_parts.Rank),
        (document["wall_seconds"], report_parts.Spread),
        (document["verdict"], report_parts.Verdict),
        (document["details"], report_parts.Details),
        (document["details"]["reuse"], report_parts.Reuse),
        (document["details"]["sizes"][0], report_parts.Size),
        (document["details"]["targets"][0], report_parts.Target),
        (document["details"]["adaptations"][0], report_parts.Adaptation),
    ):
        assert part and set(part) <= set(kind.__annotations__), kind.__name__


def test_report_is_read_from_standard_input(nearcache):
    assert "adjacency" in nearcache("report", "-", stdin=EXAMPLE.read_text()).stdout


def test_a_byte_order_mark_before_a_report_is_no_part_of_it(nearcache, tmp_path):
    text = "\ufeff" + EXAMPLE.read_text()
    (tmp_path / "marked.json").write_text(text)
    for done in (
        nearcache("report", tmp_path / "marked.json"),
        nearcache("report", "-", stdin=text),
    ):
        assert "adjacency" in done.stdout, done.stderr


def changed(tmp_path, **changes):
    document = copy.deepcopy(json.loads(EXAMPLE.read_text()))
    document.update(changes)
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    return path


def test_modelled_network_is_labelled(nearcache, tmp_path):
    assert (
        "MODELLED" in nearcache("report", changed(tmp_path, modelled="L=1500ns G=0.1ns/B")).stdout
    )


def test_a_run_that_gained_nothing_is_told_so(nearcache, tmp_path):
    verdict = {
        "helped": False,
        "saved_seconds": 0,
        "text": "no get was repeated: the cache did not help",
    }
    text = nearcache("report", changed(tmp_path, verdict=verdict, totals={"gets": 0})).stdout
    assert "no gain: no get was repeated: the cache did not help" in text


def test_gets_of_own_memory_are_in_no_hit_ratio():
    assert (
        report_counts.hit_rate(
            {"gets": 10, "own_gets": 6, "hits_full": 3, "hits_pending": 0, "hits_partial": 0}
        )
        == 0.75
    )
    assert report_counts.hit_rate({"gets": 6, "own_gets": 6}) == 0
    assert report_counts.hit_rate({"gets": 4, "hits_full": 1}) == 0.25, "a report of before"


def test_names_are_no_commands_to_the_terminal(nearcache, tmp_path):
    document = json.loads(EXAMPLE.read_text())
    windows = [{**document["windows"][0], "name": "a\x1b[2Jb", "bypass": "c\x9bd"}]
    text = nearcache(
        "report", changed(tmp_path, program="p\x1b]0;title\x07q", windows=windows)
    ).stdout
    assert "p?]0;title?q" in text and "a?[2Jb" in text and "\x1b" not in text and "\x9b" not in text


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"format": "something-else"}, "is not a Nearcache report: its format is 'something-else'"),
        ({"version": 4}, "version 4; this nearcache reads versions 1, 2 and 3"),
        ({"totals": []}, "damaged"),
    ],
)
def test_other_formats_and_versions_are_refused(nearcache, tmp_path, changes, message):
    done = nearcache("report", changed(tmp_path, **changes))
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is not JSON"),
        ("[1]", "is not a Nearcache report: it states no format"),
        ("{", "is not JSON"),
        ("\x7fELF\udcff", "is not a Nearcache report: it is not text"),
        ('{"format": "nearcache-report", "version": 1}', "incomplete"),
    ],
)
def test_other_files_are_refused(nearcache, tmp_path, text, message):
    path = tmp_path / "file"
    path.write_text(text, errors="surrogateescape")
    done = nearcache("report", path)
    assert done.returncode == 2 and message in done.stderr and str(path) in done.stderr


def test_missing_file_is_refused(nearcache, tmp_path):
    done = nearcache("report", tmp_path / "missing")
    assert done.returncode == 2 and "No such file" in done.stderr


def test_what_should_be_a_number_is_no_markup(nearcache, tmp_path):
    document = json.loads(EXAMPLE.read_text())
    windows = [{**document["windows"][0], "ranks": "[/nope]"}]
    for api in ("MPI", "OpenSHMEM"):
        done = nearcache("report", changed(tmp_path, windows=windows, api=api))
        assert done.returncode == 0 and "[/nope]" in done.stdout, done.stderr


@pytest.mark.parametrize("encoding", ["ascii:strict", "utf-8:strict"])
def test_names_that_the_terminal_cannot_show_are_spelt_out(nearcache, tmp_path, encoding):
    name = "caf\u00e9" if encoding.startswith("ascii") else "caf\udce9"
    env = {"PYTHONIOENCODING": encoding}
    done = nearcache("report", changed(tmp_path, program=name), env=env)
    assert (
        done.returncode == 0 and f"caf\\{'xe9' if 'ascii' in encoding else 'udce9'}" in done.stdout
    )
    other = tmp_path / name
    shutil.copy(EXAMPLE, other)
    done = nearcache("compare", other, EXAMPLE, env=env)
    assert done.returncode == 0 and "caf\\" in done.stdout, done.stderr
