"""`nearcache compare`: reports and bench results side by side, and what is neither."""

import json

import pytest
from support import make_report_example


def written(path, document):
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def report(tmp_path):
    """A report, changed as a test wants."""

    def make(name, **changes):
        document = make_report_example.make(2)
        document["totals"].update(changes.pop("totals", {}))
        return written(tmp_path / name, {**document, **changes})

    return make


def rows(text):
    """{the first cell: the other cells} of a table."""
    lines = [line.rstrip() for line in text.splitlines()]
    return {
        cells[0].strip(): cells[1:]
        for cells in ([part for part in line.split("  ") if part.strip()] for line in lines)
        if len(cells) > 1
    }


def test_two_reports_and_what_differs(nearcache, report):
    first = report(
        "a.json",
        wall_seconds={"min": 2, "mean": 2, "max": 2},
        totals={"saved_ns": 3 * 10**9, "lost_ns": 0, "evictions": 10},
    )
    second = report(
        "b.json",
        wall_seconds={"min": 1, "mean": 1, "max": 1},
        totals={"saved_ns": 0, "lost_ns": 10**9, "evictions": 40},
        host="elsewhere",
        options={
            **make_report_example.make(2)["options"],
            "policy": "lru",
            "report": "/elsewhere/b.json",
        },
    )
    done = nearcache("compare", first, second)
    assert done.returncode == 0, done.stderr
    assert "differs: report" not in done.stdout
    table = rows(done.stdout)
    assert [cell.strip() for cell in table["time of the run"]] == ["2.000 s", "1.000 s", "0.5"]
    assert [cell.strip() for cell in table["evictions"]] == ["10", "40", "4"]
    assert [cell.strip() for cell in table["saved time per rank (estimated)"]] == [
        "1.500 s",
        "-0.500 s",
        "-0.333",
    ]
    assert (
        "differs: host: " in done.stdout
        and "/ elsewhere" in done.stdout
        and "differs: policy: " in done.stdout
    )
    assert "differs: program" not in done.stdout


def bench(**summary):
    return {
        "format": "nearcache-bench",
        "version": 1,
        "quick": False,
        "name": "hit",
        "context": {"host": "one"},
        "summary": summary,
        "details": {},
        "results": [
            {
                "bench": "hit",
                "size": 8,
                "ns": {"median": 50.0, "ci95": [49.0, 51.0], "repetitions": 9},
            },
            {
                "bench": "hit",
                "size": 64,
                "ns": {"median": 60.0, "ci95": [50.0, 70.0], "repetitions": 9},
            },
        ],
    }


def test_two_bench_results_and_which_medians_are_apart(nearcache, tmp_path):
    second = bench(hit_minus_memcpy_ns_max=15.0, another=1)
    second["results"][0]["ns"] = {"median": 25.0, "ci95": [24.0, 26.0], "repetitions": 9}
    second["results"][1]["ns"] = {"median": 61.0, "ci95": [51.0, 71.0], "repetitions": 9}
    (
        second["results"].pop(0),
        second["results"].insert(
            1,
            {
                "bench": "hit",
                "size": 8,
                "ns": {"median": 25.0, "ci95": [24.0, 26.0], "repetitions": 9},
            },
        ),
    )
    second["context"]["host"] = "two"
    done = nearcache(
        "compare",
        written(tmp_path / "a.json", bench(hit_minus_memcpy_ns_max=30.0)),
        written(tmp_path / "b.json", second),
    )
    assert done.returncode == 0, done.stderr
    table = rows(done.stdout)
    assert [cell.strip() for cell in table["hit_minus_memcpy_ns_max"]] == ["30", "15", "0.5"]
    assert [cell.strip() for cell in table["hit size=8: ns"]] == [
        "50 [49, 51]",
        "25 [24, 26]",
        "0.5 *",
    ]
    assert [cell.strip() for cell in table["hit size=64: ns"]] == [
        "60 [50, 70]",
        "61 [51, 71]",
        "1.02",
    ]
    assert "differs: host: one / two" in done.stdout and "another" not in done.stdout


def test_rows_without_a_counterpart_are_counted(nearcache, tmp_path):
    second = bench()
    second["results"][0]["size"] = 16
    done = nearcache(
        "compare", written(tmp_path / "a.json", bench()), written(tmp_path / "b.json", second)
    )
    assert "1 row of A with no counterpart in B" in done.stdout


def test_rows_whose_winner_or_gaps_differ_are_compared(nearcache, tmp_path):
    """The winner of a measurement was a part of the row's name."""
    first, second = bench(), bench()
    first["results"][0].update(best="mpich-5.0.2", goal="1.0 of best", over=1.5, plain_us=2.5)
    second["results"][0].update(best="openmpi-4.1.4", goal="16 ns", over=3.0, plain_us="-")
    done = nearcache(
        "compare", written(tmp_path / "a.json", first), written(tmp_path / "b.json", second)
    )
    assert done.returncode == 0 and "differs: " not in done.stdout, done.stdout + done.stderr
    table = rows(done.stdout)
    assert [cell.strip() for cell in table["hit size=8: over"]] == ["1.5", "3", "2"]
    assert [cell.strip() for cell in table["hit size=8: best"]] == ["mpich-5.0.2", "openmpi-4.1.4"]
    assert "hit size=8: plain_us" not in table


@pytest.mark.parametrize("damaged", ["a.json", "b.json"])
def test_the_file_that_is_damaged_is_named(nearcache, report, tmp_path, damaged):
    whole = bench(figure=1.0)
    without = {name: part for name, part in whole.items() if name != "summary"}
    for name in ("a.json", "b.json"):
        written(tmp_path / name, without if name == damaged else whole)
    done = nearcache("compare", "a.json", "b.json", cwd=tmp_path)
    told = f"the bench result {damaged} is damaged: KeyError: 'summary'"
    assert done.returncode == 2 and told in done.stderr, done.stderr
    for name in ("a.json", "b.json"):
        report(name, **({"wall_seconds": 3} if name == damaged else {}))
    done = nearcache("compare", "a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 2 and f"the report {damaged} is damaged: " in done.stderr


def test_what_cannot_be_compared_is_refused(nearcache, report, tmp_path):
    good = report("a.json")
    assert (
        "nothing to compare"
        in nearcache("compare", good, written(tmp_path / "b.json", bench())).stderr
    )
    assert (
        "nothing to compare" in nearcache("compare", good, report("c.json", api="OpenSHMEM")).stderr
    )
    others = {**bench(other=1.0), "name": "miss", "results": []}
    done = nearcache(
        "compare",
        written(tmp_path / "hit.json", bench(figure=1.0)),
        written(tmp_path / "miss.json", others),
    )
    assert done.returncode == 2 and "have no figure in common" in done.stderr, done.stderr
    for name, document, said in (
        ("d.json", {"format": "another"}, "is not a Nearcache report"),
        ("e.json", {**bench(), "results": [3]}, "is damaged"),
    ):
        path = written(tmp_path / name, document)
        done = nearcache("compare", path, path)
        assert done.returncode == 2 and said in done.stderr, done.stderr
    done = nearcache("compare", good, tmp_path / "nowhere.json")
    assert done.returncode == 2 and "cannot read" in done.stderr


def test_a_report_in_a_pipe_is_compared(nearcache, report):
    file = report("a.json")
    done = nearcache("compare", "/dev/stdin", file, stdin=file.read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == nearcache("compare", file, file).stdout.splitlines()[-1]


def test_standard_input_is_not_said_to_be_damaged_where_it_is_named_twice(nearcache, report):
    done = nearcache("compare", "-", "-", stdin=report("a.json").read_text())
    assert done.returncode == 2 and "cannot both be standard input" in done.stderr, done.stderr


def test_what_nests_too_deeply_is_no_json(nearcache, report, tmp_path):
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200000)
    done = nearcache("compare", report("a.json"), deep)
    assert done.returncode == 2 and "is not JSON" in done.stderr and "Traceback" not in done.stderr


def test_names_are_no_commands_to_the_terminal(nearcache, report):
    options = {"x\x1b[2J": "y\x9b"}
    done = nearcache("compare", report("a.json", options={}), report("b.json", options=options))
    assert done.returncode == 0 and "x?[2J: - / y?" in done.stdout, done.stderr
    assert "\x1b" not in done.stdout
