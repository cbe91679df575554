"""Every option at both ends of its range, and one beyond: what programs read is right all the same, and what is beyond is said."""

import json
import os

import pytest
from support import launch

# Ends that no run outlives, or that have a test of their own: a second for each get, no report, no trace.
LEFT_OUT = {"model", "report", "trace", "verbose"}
# A rank that is always served and calls down neither by count nor by time stops the others' progress: at one end of each, the other's other.
# Storage, index or gets of nothing leave no hits, without which the program says that nothing was tested.
LEAST_WITHOUT_HITS = {"progress_time": "3600s"}
LEAST = {**LEAST_WITHOUT_HITS, "storage": "1M", "index": "4096", "max_get": "4M"}
MOST = {"progress_time": "0"}
NO_HITS = "hits[0] > 0"
PROGRAM = ("model", "--seed", 7, "--ops", 1500)


def numbers():
    tables = launch.BUILD / "share" / "nearcache" / "tables.json"
    if not tables.exists():
        pytest.skip(f"{tables} is not built")
    options = json.loads(tables.read_text())["options"]
    return [
        option
        for option in options
        if option["least"]
        and option["name"] not in LEFT_OUT
        and not option["name"].startswith("shmem")
    ]


def run(mpi, values, **more):
    env = {f"NEARCACHE_{name.upper()}": value for name, value in values.items()}
    return launch.run(mpi, 3, *PROGRAM, env={**env, **more}, timeout=300)


@pytest.mark.one_mpi
@pytest.mark.parametrize("adaptive", ["0", "1"])
@pytest.mark.parametrize("end, instead", [("least", LEAST), ("most", MOST)], ids=["least", "most"])
def test_ends_of_every_range_work(mpi, preload, end, instead, adaptive):
    result = run(
        mpi,
        {**{option["name"]: option[end] for option in numbers()}, **instead},
        NEARCACHE_ADAPTIVE=adaptive,
    ).check()
    assert "not allowed" not in result.output


@pytest.mark.one_mpi
def test_cache_that_may_hold_nothing_changes_nothing(mpi, preload):
    result = run(
        mpi, {**{option["name"]: option["least"] for option in numbers()}, **LEAST_WITHOUT_HITS}
    )
    assert not result.timed_out and "model: up to seed" in result.output
    assert not [line for line in result.lines("FAILED") if NO_HITS not in line]


def beyond(option):
    """A value that is just too small, or where there is none, just too large."""
    if option["least"] != "0":
        return "0"
    if option["type"] == "count":
        return str(int(option["most"]) + 1)
    return {
        "bytes": option["most"][:-1] + "1" + option["most"][-1],
        "time": "3601s",
        "ratio": "1.01",
    }[option["type"]]


@pytest.mark.one_mpi
def test_what_is_beyond_a_range_is_said_once_with_what_is_allowed(mpi, preload):
    values = {option["name"]: beyond(option) for option in numbers()}
    output = run(mpi, {**values, "model": "abc", "foo": "1"}).check().output
    for option in numbers():
        line = f"NEARCACHE_{option['name'].upper()}: {option['name']}: '{values[option['name']]}' is not allowed; allowed: "
        assert output.count(line) == 1, option["name"]
        assert (
            f" from {option['least']} to {option['most']}"
            in output.partition(line)[2].splitlines()[0]
        )
    assert "NEARCACHE_MODEL: model: 'abc' is not allowed; allowed: L,G in ns" in output
    assert "there is no option 'foo'; `nearcache options` lists all" in output


@pytest.mark.one_mpi
def test_files_are_named_by_process_host_rank_and_job(mpi, preload, tmp_path):
    run(mpi, {"report": f"{tmp_path}/report.%r.%j.json", "trace": f"{tmp_path}/trace.%p"}).check()
    (report,) = tmp_path.glob("report.0.*.json")
    assert json.loads(report.read_text())["ranks"] == 3 and "%" not in report.name
    assert {path.name.split(".")[2] for path in tmp_path.glob("trace.*.nctrace")} == {"0", "1", "2"}
    assert len({path.name.split(".")[1] for path in tmp_path.glob("trace.*.nctrace")}) == 3


@pytest.mark.one_mpi
def test_report_that_cannot_be_written_says_which_path_and_waits_for_nobody(mpi, preload, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, why in (
        (tmp_path / "missing" / "x.json", "No such file or directory"),
        (fifo, "nobody reads it"),
    ):
        output = run(mpi, {"report": path}).check().output
        assert f"nearcache: report: cannot write '{path}': {why}" in output
    assert [entry.name for entry in tmp_path.iterdir()] == ["fifo"]
