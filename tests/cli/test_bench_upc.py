"""bench/run upc: figures from runs, and what is measured by them."""

import subprocess
import sys

import pytest
from support import launch, launch_upc

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import upc, upc_build, upc_source  # noqa: E402
from driver.build import Failure  # noqa: E402
from driver.openshmem import CACHED, PLAIN, ShmemBuild  # noqa: E402


class Canned:
    """Stands for the launcher: what runs say, by what they are asked."""

    def __init__(self, times):
        self.times, self.threads, self.asked = times, 2, []

    def of(self, threads):
        other = Canned(self.times)
        other.threads, other.asked = threads, self.asked
        return other

    def side(self, side, network, program, words):
        asked = dict(zip(words[::2], words[1::2]))
        self.asked.append((side, network, self.threads, asked))
        return {"caching": int(side == CACHED), **self.times(side, asked, self.threads)}


def test_the_overhead_is_the_worse_of_cached_and_uncached():
    def times(side, asked, threads):
        longer = {
            upc.GET: 1.5 if side == CACHED else 1.25,
            upc.PUT: 1 if side == CACHED else 2,
        }.get(asked["--what"], 1)
        return {"upc_ns": [100 * longer] * 40, "raw_ns": [100] * 40}

    launch_of = Canned(times)
    rows, summary, details = upc.transfers(launch_of, quick=True)
    assert summary == pytest.approx({"get_overhead_ratio": 1.5, "put_overhead_ratio": 2})
    assert details["get_overhead_ratio_uncached"] == pytest.approx(1.25)
    assert {row["bytes"] for row in rows} == set(upc.QUICK_SIZES)
    assert all(network == "tcp" for _, network, _, _ in launch_of.asked)


def test_sizes_reach_from_a_byte_to_4_mib():
    for sizes in (upc.SIZES, upc.QUICK_SIZES):
        assert (sizes[0], sizes[-1]) == (1, 4 << 20)


def test_barriers_are_measured_on_two_and_on_four_threads():
    rows, figures = upc.collectives(
        Canned(lambda side, asked, threads: {"upc_ns": [1000 * threads] * 9}), quick=True
    )
    assert figures == {"barrier_us_2": 2, "barrier_us_4": 4}
    assert {row["call"] for row in rows} == {"upc_barrier", "upc_all_broadcast", "upc_all_reduceD"}


def test_a_loop_is_compared_with_itself_uncached():
    launch_of = Canned(
        lambda side, asked, threads: {
            "seconds": 6 if side == PLAIN else 0.1 * (1 + asked["--what"] - upc.SUM)
        }
    )
    _, figures, details = upc.loops(launch_of, quick=True)
    assert figures == {"sequential_sum_speedup_tcp": pytest.approx(60)}
    assert details["fill_speedup_tcp"] == pytest.approx(30)


def test_the_triads_figure_is_that_of_the_worse_size():
    def times(side, asked, threads):
        longer = 1.5 if asked["--elements"] > 4096 and asked["--what"] == upc.TRIAD else 1.25
        return {"upc_ns": [100 * longer] * 9, "raw_ns": [100] * 9}

    _, figures, details = upc.own_elements(Canned(times), quick=True)
    assert figures == {"upc_triad_over_c": pytest.approx(1.5)}
    assert details == {"upc_triad_blocked_over_c": pytest.approx(1.25)}


def test_a_generated_source_is_as_long_as_asked_and_has_no_module_twice():
    text = upc_source.text(1000)
    assert 1000 <= text.count("\n") < 1100
    assert text.count("static double neighbours_3(") == 1
    assert "@" not in text


@pytest.fixture
def bench(shmem):
    """Compiles and launches with the build of the tests."""
    if not launch_upc.available():
        pytest.skip("there is no UPC runtime in the build, or no pycparser")
    build = ShmemBuild(launch.BUILD)
    if build.tag != shmem.tag:
        pytest.skip("bench/run knows no OpenSHMEM of the build")
    return upc_build.UpcLaunch(build)


def test_both_sides_of_a_transfer_are_timed(bench):
    for what in (upc.GET, upc.PUT, upc.PUT_ALONE):
        for side in (PLAIN, CACHED):
            run = bench.side(
                side, "tcp", upc.PROGRAM, ["--what", what, "--size", 100, "--repetitions", 20]
            )
            assert run["caching"] == (side == CACHED)
            assert len(run["upc_ns"]) == len(run["raw_ns"]) == 20
            assert min(run["upc_ns"]) > 0


def test_collectives_and_loops_are_right(bench):
    for threads in (2, 3):
        for what in (upc.BARRIER, upc.BROADCAST, upc.REDUCE):
            assert upc.microseconds(bench.of(threads), threads, what, 512, 5)["repetitions"] == 5
    for what in (upc.TRIAD, upc.TRIAD_BLOCKED):
        words = ["--what", what, "--elements", 5000, "--repetitions", 9]
        run = bench.side(PLAIN, "tcp", upc.PROGRAM, words)  # which checks what it computes
        assert len(run["upc_ns"]) == len(run["raw_ns"]) == 9
    for what in (upc.SUM, upc.FILL, upc.COPY):
        assert (
            bench.side(CACHED, "tcp", upc.PROGRAM, ["--what", what, "--elements", 2000])["seconds"]
            > 0
        )


def test_the_generated_source_is_a_program(bench, tmp_path):
    """Not only translated: it compiles without a warning, links and ends."""
    source = upc_source.write_source(tmp_path / "generated.upc", 300)
    bench.upcc(["-Wall", "-Werror", source, "-o", tmp_path / "generated", "-lm"], "compiling")
    assert bench.run(tmp_path / "generated").count(" of 2: ") == 2


def test_what_upcc_says_is_told(bench, tmp_path):
    (tmp_path / "wrong.upc").write_text("int main(void) { shared int x; return 0; }\n")
    with pytest.raises(Failure, match="wrong.upc:1"):
        bench.upcc(["-c", tmp_path / "wrong.upc", "-o", tmp_path / "wrong.o"], "compiling")


def test_it_is_named_in_the_help():
    done = subprocess.run(
        [launch.ROOT / "bench" / "run", "--help"], capture_output=True, text=True, check=True
    )
    assert "upc" in done.stdout
