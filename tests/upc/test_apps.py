"""The UPC programs of apps/upc: right with the cache and without, on 1 to 4 threads, over tcp and over shared memory.

Every program compares its results with a reference of its own, says "correct" and ends with 1 if they are not.
"""

import json
import subprocess

import pytest
from support import launch, launch_upc

pytestmark = launch_upc.needs_upc
APPS = launch.ROOT / "apps" / "upc"
PROGRAMS = {
    "cpi": ("cpi", "--intervals", 20_000, "--repetitions", 3),
    "stream-triad": ("stream-triad", "--size", 20_000, "--remote-size", 3001, "--iterations", 3),
    "random-access": ("random-access", "--log2-words", 16, "--updates", 4000, "--window", 32),
    "random-access-atomic": (
        "random-access",
        "--log2-words",
        10,
        "--updates",
        2000,
        "--atomic",
        "--seed",
        12345,
    ),
    "heat": ("heat", "--size", 41, "--iterations", 6),
    "barnes-hut-lite": ("barnes-hut-lite", "--bodies", 70),
    "barnes-hut-lite-exact": ("barnes-hut-lite", "--bodies", 30, "--theta", 0, "--seed", 9),
    "kmer-table": ("kmer-table", "--pieces", 20, "--genome", 400, "--k", 11),
    "kmer-table-crowded": (
        "kmer-table",
        "--pieces",
        12,
        "--genome",
        300,
        "--length",
        40,
        "--k",
        6,
        "--buckets",
        7,
    ),
}
# What is left out without NEARCACHE_TEST_LONG differs in one or two things from what is tested.
CASES = [
    (name, threads, cache, tcp)
    for name in PROGRAMS
    for threads in (1, 2, 3, 4)
    for cache in (True, False)
    for tcp in (True, False)
    if launch.LONG or (cache and tcp and threads != 3) or (not cache and not tcp and threads == 4)
]
IDS = [
    f"{name}-{threads}-{'cached' if cache else 'plain'}-{'tcp' if tcp else 'shared'}"
    for name, threads, cache, tcp in CASES
]


def program(name):
    sources = [*sorted((APPS / name).glob("*.upc"))]
    return launch_upc.upcc(sources, "-O2", "-Wall", "-Werror")


def said(result):
    lines = [line for line in result.check().stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1, result.stdout
    return json.loads(lines[0])


@pytest.mark.parametrize("name, threads, cache, tcp", CASES, ids=IDS)
def test_results_are_those_of_the_reference(name, threads, cache, tcp):
    folder, *words = PROGRAMS[name]
    found = said(
        launch_upc.run(program(folder), threads, *words, cache=cache, tcp=tcp, timeout=180)
    )
    assert found["correct"] is True
    assert found["threads"] == threads


def test_an_update_that_is_lost_is_found():
    """The check is one: without fences threads update what they read long before."""
    found = launch_upc.run(
        program("random-access"),
        4,
        "--log2-words",
        8,
        "--updates",
        40_000,
        "--window",
        1_000_000,
        tcp=True,
        timeout=180,
    )
    assert found.returncode != 0
    assert (
        json.loads(next(line for line in found.stdout.splitlines() if line.startswith("{")))[
            "wrong_words"
        ]
        > 3
    )


def test_too_wide_an_angle_is_no_right_tree():
    exact = said(launch_upc.run(program("barnes-hut-lite"), 2, "--bodies", 100, "--theta", 0))
    coarse = launch_upc.run(program("barnes-hut-lite"), 2, "--bodies", 100, "--theta", 120)
    assert exact["relative_error"] < 1e-7 < json.loads(coarse.stdout)["relative_error"]


def test_an_option_that_there_is_not_is_refused():
    done = launch_upc.run(program("cpi"), 2, "--nonsense")
    assert done.returncode != 0
    assert "--nonsense is no option" in done.stderr
    assert done.stderr.count("is no option") == 1


def test_help_lists_the_options():
    done = launch_upc.run(program("heat"), 2, "--help").check()
    assert done.stdout.count("--iterations N") == 1


def test_the_makefile_compiles_all_of_them(tmp_path):
    """Its commands; what they do is tested above."""
    done = subprocess.run(
        ["make", "-n", "-C", APPS, f"BIN={tmp_path}"], capture_output=True, text=True, check=True
    )
    commands = [line.split() for line in done.stdout.splitlines() if line.startswith("upcc")]
    folders = sorted(
        path.name for path in APPS.iterdir() if path.is_dir() and path.name != "common"
    )
    assert sorted(words[words.index("-o") + 1].rsplit("/", 1)[1] for words in commands) == folders
    for words in commands:
        assert all((APPS / word).exists() for word in words if word.endswith(".upc"))


@pytest.mark.parametrize(
    "name", ["heat", "random-access-atomic", "barnes-hut-lite-exact", "kmer-table"]
)
def test_the_runtime_and_the_programs_keep_the_contract(name):
    folder, *words = PROGRAMS[name]
    checked = {"NEARCACHE_SHMEM_CHECK": "1"}
    result = launch_upc.run(program(folder), 2, *words, tcp=True, env=checked, timeout=180)
    assert said(result)["correct"] is True
    assert "and none was stale" in result.stderr, result.stderr
