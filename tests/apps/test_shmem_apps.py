"""The OpenSHMEM programs: right without the cache and with it, on 1 to 4 PEs, over tcp and over shared memory.

Every program compares its results with a reference of its own, says "correct" and ends with 1 if they are not.
"""

import json

import pytest
from support import launch, launch_shmem

SMALL = ("--n", 50_000, "--operations", 500)
PROGRAMS = {
    "copy": ("copy", "--n", 3000, "--repetitions", 2),
    "rand_gets": ("rand_gets", *SMALL),
    "rand_puts": ("rand_puts", *SMALL),
    "rand_gets-beside": ("rand_gets", *SMALL, "--beside"),
    "rand_puts-each": ("rand_puts", *SMALL, "--each"),
    "rand_puts-beside": ("rand_puts", *SMALL, "--beside"),
    "prefetch-none": ("prefetch", *SMALL, "--distance", 0),
    "prefetch-14": ("prefetch", *SMALL, "--distance", 14),
    "prefetch-adaptive": ("prefetch", *SMALL),
    "gups-add": ("gups", "--quick"),
    "gups-xor": ("gups", "--quick", "--xor"),
    "gups-beside": ("gups", "--quick", "--xor", "--beside"),
    "indexgather": ("indexgather", "--quick"),
    "ptrans": ("ptrans", "--quick"),
    "hydro": ("hydro", "--quick"),
    "hydro-natural": ("hydro", "--quick", "--natural"),
    "minimd": ("minimd", "--quick"),
    "ssca2": ("ssca2", "--quick"),
}
# What is left out without NEARCACHE_TEST_LONG differs in few things from what is tested: a program that is wrong uncached is wrong cached, too.
CASES = [
    (name, pes, cached, tcp)
    for name in PROGRAMS
    for pes in (1, 2, 3, 4)
    for cached in (True, False)
    for tcp in (True, False)
    if launch.LONG or (cached and (tcp if pes in (1, 3) else pes == 4 and not tcp))
]


def result(shmem, pes, name, **how):
    program, *arguments = PROGRAMS[name]
    # Over shared memory nothing would be cached: there a get is cheaper than a hit.
    variables = {"SMA_SYMMETRIC_SIZE": "64M", "NEARCACHE_SKIP_CHEAP": "0"}
    done = launch_shmem.run(
        shmem, pes, program, *arguments, env=variables, timeout=300, **how
    ).check()
    lines = [line for line in done.output.splitlines() if line.startswith("{")]
    assert len(lines) == 1, done.output
    return json.loads(lines[0])


IDS = [
    f"{name}-{pes}-{'cached' if cached else 'plain'}-{'tcp' if tcp else 'shared'}"
    for name, pes, cached, tcp in CASES
]


@pytest.mark.parametrize("name, pes, cached, tcp", CASES, ids=IDS)
def test_results_are_those_of_the_reference(shmem, name, pes, cached, tcp):
    if cached and not shmem.preload.exists():
        pytest.skip(f"{shmem.preload} is not built")
    found = result(shmem, pes, name, preload=cached, tcp=tcp)
    assert found["correct"] is True
    assert found["pes"] == pes


def test_a_program_without_the_library_has_no_hints(shmem):
    assert result(shmem, 2, "prefetch-adaptive", preload=False)["hints"] == 0


def test_prefetch_finds_the_library(shmem, preload_shmem):
    assert result(shmem, 2, "prefetch-adaptive")["hints"] == 1


def test_an_option_that_there_is_not_is_refused(shmem):
    done = launch_shmem.run(shmem, 1, "gups", "--nonsense", preload=False)
    assert done.code == 2
    assert "--nonsense is no option" in done.output
