"""Option shmem_check: programs that break the contract are told so, and those that keep it are not."""

import json
import re

import pytest
from support import shmem_runs

CHECK = {"NEARCACHE_SHMEM_CHECK": "1"}
WARNED = "was served stale data"


def checked(shmem, way, **more):
    return shmem_runs.over_model(shmem, 2, "shmem_promises", way, env={**CHECK, **more}).check()


@pytest.mark.parametrize(
    "way, called",
    [
        ("polls", "learned by polling by gets of block 1 of the symmetric heap"),
        ("polls_for_a_block", "learned by polling by gets of block 1 of the symmetric heap"),
        ("polls_for_words", "learned by polling by gets of block 1 of the symmetric heap"),
        ("loads", "no call by which it could learn of a write"),
        ("relaxes", "learned by shmem_long_atomic_fetch of block 1 of the symmetric heap"),
        ("fences", "no call by which it could learn of a write (shmem_fence is not one)"),
        ("polls_in_threads", "learned by polling by gets of block 1 of the symmetric heap"),
    ],
)
def test_what_should_have_been_an_acquire_is_named(shmem, preload_shmem, way, called):
    output = checked(shmem, way).output
    told = [line for line in output.splitlines() if WARNED in line]
    assert 1 <= len(told) <= 2, output
    line = told[0]
    place = {
        "polls_for_a_block": r"400 B of block 1 of the symmetric heap \(65536 B\)",
        "polls_for_words": "8 B of table",
    }.get(way, "400 B of table")
    assert re.search(rf"PE 0: a get of {place}, byte (0|4096), of PE 1, in ", line), line
    assert "00 00 00 00 00 00 00 00" in line and "07 00 00 00 00 00 00 00" in line
    assert "the last acquire was shmem_barrier_all" in line and called in line
    assert "the program breaks the contract" in output


@pytest.mark.parametrize("way", ["waits", "fetches", "acquires", "only_polls", "waits_in_threads"])
def test_programs_that_keep_the_contract_are_not_accused(shmem, preload_shmem, way):
    output = checked(shmem, way).output
    assert WARNED not in output and "and none was stale" in output
    assert "read NEW" in output


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
def test_the_cases_of_the_contract_keep_it(shmem, preload_shmem, cache):
    result = shmem_runs.over_model(shmem, 2, "shmem_contract", env={**CHECK, **cache}).check()
    assert WARNED not in result.output and len(result.lines("ok")) == 53


@pytest.mark.parametrize("cache", [{}, shmem_runs.TINY], ids=["default", "tiny"])
def test_threads_that_keep_it_are_not_accused(shmem, preload_shmem, cache):
    result = shmem_runs.over_model(shmem, 2, "shmem_threads", 1, 5, env={**CHECK, **cache}).check()
    assert WARNED not in result.output and "and none was stale" in result.output


def test_a_report_counts_what_was_old(shmem, preload_shmem, tmp_path):
    for way, old in (("loads", True), ("waits", False)):
        path = tmp_path / f"{way}.json"
        checked(shmem, way, NEARCACHE_REPORT=str(path))
        report = json.loads(path.read_text())
        assert (report["totals"]["hits_old"] > 0) == old
        assert report["totals"]["hits_checked"] >= 1
        assert ("breaks the contract" in report["verdict"]["text"]) == old


def test_over_tcp(shmem, preload_shmem):
    output = shmem_runs.over_tcp(shmem, 2, "shmem_promises", "waits", env=CHECK).check().output
    assert WARNED not in output
    output = shmem_runs.over_tcp(shmem, 2, "shmem_promises", "relaxes", env=CHECK).check().output
    assert WARNED in output


def test_without_it_nothing_is_fetched_again(shmem, preload_shmem):
    result = shmem_runs.over_model(shmem, 2, "shmem_promises", "relaxes").check()
    assert WARNED not in result.output and "read OLD" in result.output
