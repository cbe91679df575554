"""Builds and runs all tests (started by ./test): lint, unit tests, pytest with the launchers,
sanitizer builds."""

import argparse
import os
import shutil
import subprocess
import sys
import time

import lint
import sanitizers
import test_lanes
from console import ROOT, Failed, told
from test_stages import UNIT_PROGRAMS, build, count, ctest, linker, parts_of, staged

BUILD = ROOT / "build"
LANES = BUILD / "lanes"
# Programs of the early lanes, and the table of options that `upcrun` reads.
EARLY = [
    "nearcache_tables_json",
    "give_way",
    *(
        f"{folder}/all"
        for folder in ("src/shmem", "src/upc", "apps/shmem", "tests/shmem", "tests/upc")
    ),
]
SLOWEST = 20  # number of tests listed at the end
ROOT_VARIABLES = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
)


def arguments():
    parser = argparse.ArgumentParser(
        prog="./test",
        description="Builds and runs every test; ends with a line "
        "`N passed, N failed, N skipped` and fails if one failed.",
    )
    speed = parser.add_mutually_exclusive_group()
    speed.add_argument("--quick", action="store_true", help="no sanitizer builds, no slow tests")
    speed.add_argument(
        "--long",
        action="store_true",
        help="millions of random operations, longer fuzzing, every mutation of tests/mutations",
    )
    speed.add_argument(
        "--lint",
        action="store_true",
        help="checks the sources only: formatting, ruff, mypy, shellcheck, clang-tidy",
    )
    parser.add_argument(
        "pytest",
        nargs="*",
        metavar="PYTEST_ARGUMENT",
        help="arguments for pytest after --: then only pytest runs",
    )
    return parser.parse_args()


def surroundings(given):
    """Return the tests' environment: without the caller's NEARCACHE_* settings; Open MPI may run as
    root."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NEARCACHE_") and name != "LD_PRELOAD"
    }
    env["NEARCACHE_BUILD"] = str(BUILD)
    if given.long:
        env["NEARCACHE_TEST_LONG"] = "1"
    if given.quick:
        env["NEARCACHE_TEST_QUICK"] = "1"
    if os.geteuid() == 0:
        env.update({name: "1" for name in ROOT_VARIABLES})
    return env


def pytest_words(given):
    """Return pytest's options: `long` tests need their switch, `slow` ones are omitted on
    request."""
    marks = [] if given.long else ["not long"]
    marks += ["not slow"] if given.quick else []
    return ["-m", " and ".join(marks)] if marks else []


def finish(stage, lane):
    """Wait for a lane and count its tests."""
    code = lane.wait()
    if code == 5:  # no tests were collected
        return
    if not lane.junit.exists():
        raise Failed(f"pytest left no results (exit code {code})")
    count(stage, lane.junit)
    if code != 0 and not stage.failed:
        raise Failed(f"pytest ended with exit code {code}")


def unit_tests(stage, env):
    """Run unit and fuzz tests. If a program ended before it could write its results, each test is
    run by itself."""
    running = []
    for words, found in parts_of(BUILD, UNIT_PROGRAMS):
        found.unlink(missing_ok=True)
        with found.with_suffix(".log").open("w") as log:
            process = subprocess.Popen(
                list(map(str, words)),
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        running.append((process, found))
    codes = [process.wait() for process, _ in running]
    ctest(stage, BUILD, env, ("-R", "^fuzz_"))
    for _, found in running:
        print(found.with_suffix(".log").read_text(errors="replace"), flush=True)
    if not all(found.exists() for _, found in running):
        ctest(stage, BUILD, env, ("-L", "unit"))
        return
    for _, found in running:
        count(stage, found)
    if any(codes) and not stage.failed:
        raise Failed(f"unit tests ended with exit codes {codes}: see above")


def mutated(stage, env):
    """Build and test each mutation of tests/mutations; one that no test catches counts as a
    failure."""
    junit = ROOT / "build-mutants" / "mutations.xml"
    junit.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "mutations" / "run.py", "--junit", junit],
        env=env,
        stdin=subprocess.DEVNULL,
    )
    if not junit.exists():
        raise Failed(f"tests/mutations/run.py left no results (exit code {done.returncode})")
    count(stage, junit)


def linted(stage, outcomes, quick):
    """Report the checks that need no build; missing tools are skipped, unless all checks were
    requested."""
    for outcome in outcomes():
        missing = outcome.passed is None
        word = "left out" if missing else "passed" if outcome.passed else "FAILED"
        print(f"  {outcome.check.name}: {word} ({outcome.seconds:.1f} s)", flush=True)
        if outcome.text:
            print(outcome.text, flush=True)
        if outcome.passed:
            stage.passed += 1
        elif missing and quick:
            stage.skipped += 1
        else:
            stage.failed += 1
            stage.failures.append(f"lint: {outcome.check.name}")


def lint_stage(outcomes, quick):
    return staged("lint", lambda stage: linted(stage, outcomes, quick))


def build_stage(settings, targets=(), title=""):
    return staged(
        f"build{title and ' of ' + title}", lambda stage: build(BUILD, settings, targets, title)
    )


def uses_ninja():
    """Return whether single folders can be built: make has no targets for them."""
    cache = BUILD / "CMakeCache.txt"
    return (
        "CMAKE_GENERATOR:INTERNAL=Ninja" in cache.read_text()
        if cache.exists()
        else bool(shutil.which("ninja"))
    )


def lane_stages(lanes):
    for lane in lanes:
        yield staged(f"tests, lane {lane.name}", lambda stage, lane=lane: finish(stage, lane))


def all_stages(given, env):
    """Build and test in an order that keeps the processors busy.

    OpenSHMEM's programs are few and their tests mostly wait, so these run during the remaining
    build. Tests that poll have the processors nearly to themselves. Sanitizer builds and the quick
    checks of the sources run beside them, then the lanes that fill.
    """
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "NEARCACHE_BUILD_TESTS": "ON",
        "NEARCACHE_BUILD_APPS": "ON",
        "NEARCACHE_BUILD_BENCH": "ON",
        "NEARCACHE_EVERY_MPI": "ON" if given.long else "OFF",
        "NEARCACHE_BUILD_QUICKLY": "OFF" if given.long else "ON",
        "NEARCACHE_PRECOMPILE": "OFF" if given.long else "ON",
        **linker(usual=given.long),
    }
    if given.pytest and not given.lint:
        lane = test_lanes.Lane("chosen", given.pytest)
        yield build_stage(settings)
        lane.start(pytest_words(given), env, LANES, live=True)
        yield from lane_stages([lane])
        return
    if given.lint:
        yield lint_stage(lambda: lint.outcomes(quick=False), quick=False)
        return
    early, alone, filling, late = test_lanes.lanes()
    every = [*early, *alone, *filling, *late]
    polling = [lane for lane in alone if lane.polls]
    ahead = []
    first = EARLY if uses_ninja() else ()
    try:
        yield build_stage(settings, first, "OpenSHMEM and UPC")
        for lane in early:
            lane.start(pytest_words(given), env, LANES)
        yield build_stage(settings)
        for lane in alone:
            lane.start(pytest_words(given), env, LANES)
        ahead = [] if given.quick else sanitizers.start(env)
        checks = lint.start_quick()
        while any(map(sanitizers.still_runs, ahead)) and any(
            sanitizers.still_runs(lane.process) for lane in polling
        ):
            time.sleep(0.2)
        for lane in filling:
            lane.start(pytest_words(given), env, LANES)
        yield from lane_stages(polling)
        for lane in late:
            lane.start(pytest_words(given), env, LANES)
        yield staged("unit tests", lambda stage: unit_tests(stage, env))
        yield lint_stage(checks.result, quick=True)
        yield from lane_stages([lane for lane in every if lane not in polling])
        for process in ahead:
            process.wait()
    except BaseException:
        for lane in every:
            lane.stop()
        sanitizers.stop(ahead)
        raise
    for name in sanitizers.SANITIZERS if ahead else ():
        yield staged(
            f"sanitizer: {sanitizers.SANITIZERS[name].words}",
            lambda stage, name=name: sanitizers.report(stage, name, env),
        )
    if given.long:
        yield staged("mutations", lambda stage: mutated(stage, env))


def main():
    given = arguments()
    if not given.lint and not shutil.which("ctest"):
        sys.exit("test: there is no ctest: it belongs to cmake")
    stages = []
    for stage in all_stages(given, surroundings(given)):
        stages.append(stage)
        if stage.name.startswith("build") and stage.failed:
            break  # nothing to run
    slowest = sorted((each for stage in stages for each in stage.durations), reverse=True)[:SLOWEST]
    if slowest:
        print(f"\nthe {SLOWEST} slowest tests")
    for seconds, name in slowest:
        print(f"  {seconds:8.1f} s  {name}")
    print("\nsummary")
    for stage in stages:
        print(
            f"  {stage.name:36} {stage.passed:5} passed {stage.failed:4} failed {stage.skipped:4} skipped {stage.seconds:8.1f} s"
        )
    for stage in stages:
        for failure in stage.failures:
            print(f"  FAILED {failure}")
    passed, failed, skipped = (
        sum(getattr(stage, key) for stage in stages) for key in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    try:
        main()
    except OSError as error:  # such as a folder of another user
        sys.exit(f"test: {told(error)}")
    except KeyboardInterrupt:
        sys.exit(130)
