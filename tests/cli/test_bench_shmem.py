"""bench/run shmem*: figures from runs, and what it says where there is no OpenSHMEM."""

import json
import sys

import pytest
from support import launch

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import openshmem, shmem, shmem_apps, shmem_hit  # noqa: E402
from driver.build import Failure  # noqa: E402


def took(*values):
    return [{"seconds": value, "distance_at_end": 20} for value in values]


def test_prefetch_is_judged_against_the_best_fixed_distance():
    swept = {
        openshmem.PLAIN: took(12, 12, 12),
        0: took(4, 4, 4),
        14: took(1, 1, 1),
        64: took(2, 2, 2),
        shmem.ADAPTIVE: took(1.2, 1.2, 1.2),
    }
    rows, figures, details = shmem.prefetch(swept)
    assert figures == {"prefetch_best_speedup": 12, "prefetch_adaptive_over_best": 1.2}
    assert details["prefetch_best_distance"] == 14
    assert (
        details["prefetch_speedup_without_hints"] == 3
        and details["prefetch_best_over_no_hints"] == 4
    )
    assert [row["distance"] for row in rows] == [0, 14, 64, "adaptive"]


def test_the_best_distance_is_chosen_by_other_rounds_than_it_is_compared_in():
    # 14 was lucky once: in that round the others choose 64, and in the other rounds it is chosen and slower again.
    assert shmem.over_best_of_other_rounds(
        {14: [8, 11, 11], 64: [10, 10, 10]}, [10, 10, 10]
    ) == pytest.approx([1, 10 / 11, 10 / 11])
    times = {14: [10, 10, 10], 64: [20, 20, 20]}
    assert shmem.over_best_of_other_rounds(times, [11, 12, 15]) == pytest.approx([1.1, 1.2, 1.5])
    assert shmem.over_best_of_other_rounds({14: [10], 64: [20]}, [11]) == pytest.approx([1.1]), (
        "one round has no other"
    )


def test_a_speedup_is_the_ratio_of_medians():
    found = openshmem.speedup(took(4, 6, 100), took(2, 2, 2))
    assert found["median"] == 3 and found["ci95"] == [2, 50]


def test_sides_take_turns():
    order = []
    openshmem.in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    assert order == ["a", "b", "a", "b"]


def test_without_an_openshmem_it_says_so(tmp_path):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "shmems.json").write_text(json.dumps({}))
    with pytest.raises(Failure, match="no OpenSHMEM was found"):
        openshmem.ShmemBuild(tmp_path).configured()


@pytest.fixture
def bench(shmem):
    """Launches from the build of the tests."""
    build = openshmem.ShmemBuild(launch.BUILD)
    if not (build.tag == shmem.tag and build.program("gups").exists() and build.preload().exists()):
        pytest.skip("bench/run's part for OpenSHMEM is not built")
    return openshmem.ShmemLaunch(build)


def test_both_sides_run_over_tcp_and_the_model(bench):
    for network in openshmem.NETWORKS:
        row, equal = shmem_apps.compared(bench, network, "ptrans", ["--quick"], {}, 1)
        assert equal and row["speedup"]["median"] > 0


def test_updates_of_a_table_and_of_one_that_is_not_cached_are_timed_in_one_run(bench):
    row, correct = openshmem.beside(bench, "tcp", "gups", ["--quick", "--xor"], {}, 2)
    assert correct and row["speedup"]["repetitions"] == 2 and row["speedup"]["median"] > 0


def test_transfers_of_copy_are_counted(bench):
    totals = bench.counted("copy", ["--n", 10000])
    assert totals["puts"] == 10000
    assert 0 < totals["network_gets"] + totals["bypassed"] <= 100
    assert 0 < totals["network_puts"] + totals["puts_bypassed"] <= 100


def test_a_wrong_result_is_no_figure(bench, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text('#!/bin/sh\necho \'{"seconds": 1, "correct": false}\'\n')
    wrong.chmod(0o755)
    with pytest.raises(Failure, match="wrong result"):
        bench.said(wrong, cached=False)


def test_a_hit_is_compared_with_a_load(bench):
    if not bench.build.program("bench_shmem_hit").exists():
        pytest.skip("bench_shmem_hit is not built")
    run = bench.said("bench_shmem_hit", ["--blocks", 5])
    assert run["caching"] == 1
    assert len(run["hit_ns"]) == len(run["load_ns"]) == 5
    assert shmem_hit.together([run, run])["hit_ns"] == run["hit_ns"] * 2


def test_hits_of_two_threads_are_timed(bench):
    if not bench.build.program("bench_shmem_hit").exists():
        pytest.skip("bench_shmem_hit is not built")
    run = bench.said("bench_shmem_hit", ["--blocks", 5, "--threads", 2])
    assert run["caching"] == 1 and len(run["hit_ns"]) == 10
