"""Builds and runs all tests (started by ./test): lint, unit tests, pytest with the launchers,
sanitizer builds."""

import argparse
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

import lint
import test_lanes
from console import ROOT, Failed, Status, build_targets, build_words, configure, configure_words

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
# GoogleTest programs, and the number of parts that each is run in: a process for each test would
# take three times as long.
UNIT_PROGRAMS = {"unit_tests": 2, "thread_tests": 1}
HANGS = 1800  # seconds after which a part is ended
LEAST_CLANG = 16  # the first that supports GCC 12's C++ library
NEWEST_CLANG = 30  # newest version looked for by number


@dataclass(frozen=True)
class Sanitizer:
    """The targets built and tested with a sanitizer: those in which it could find something."""

    words: str
    programs: dict = field(default_factory=lambda: dict(UNIT_PROGRAMS))
    label: str = "unit"  # ctest's label of the programs
    fuzzers: tuple = ()

    @property
    def targets(self):
        return (*self.programs, *self.fuzzers)


SANITIZERS = {
    "address": Sanitizer(
        "address,undefined",
        fuzzers=("fuzz_get_cache", "fuzz_page_cache", "fuzz_rma", "fuzz_trace"),
    ),
    "thread": Sanitizer("thread", {"thread_tests": 1}, "threads"),
}
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}
ROOT_VARIABLES = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
)


@dataclass
class Stage:
    """The result of one stage."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    failures: list = field(default_factory=list)
    durations: list = field(default_factory=list)  # (seconds, test)


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


def why(failure):
    """Return the first line of what a JUnit file tells of a failure."""
    told = failure.get("message") or failure.text or ""
    return told.strip().partition("\n")[0][:200]


def count(stage, junit):
    """Add the results of a JUnit file, as written by both ctest and pytest."""
    for case in xml.parse(junit).getroot().iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        stage.durations.append((float(case.get("time") or 0), name))
        failures = [*case.iter("failure"), *case.iter("error")]
        if failures or case.get("status") == "fail":
            stage.failed += 1
            stage.failures.append(": ".join(filter(None, [name, *map(why, failures[:1])])))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            stage.skipped += 1
        else:
            stage.passed += 1


def staged(name, work):
    """Run one stage; if it cannot run at all, count one failure."""
    stage, start = Stage(name), time.monotonic()
    print(f"== {name}", flush=True)
    try:
        work(stage)
    except (Failed, OSError, xml.ParseError) as error:
        stage.failed += 1
        stage.failures.append(f"{name}: {str(error).splitlines()[0]}")
        print(error, file=sys.stderr, flush=True)
    stage.seconds = time.monotonic() - start
    return stage


def build(folder, settings, targets=(), title=""):
    log = folder / "log"
    folder.mkdir(exist_ok=True)
    log.write_text("")
    with Status(f"building {title or folder.name}") as status:
        configure(folder, settings, log)
        build_targets(folder, targets, log, status)
        status.done()


def results(folder):
    return folder / "ctest.xml"


def ctest_words(folder, selection=(), jobs=None):
    return [
        "ctest",
        "--test-dir",
        folder,
        "--output-on-failure",
        "--no-tests=ignore",
        "--timeout",
        "600",
        "--output-junit",
        results(folder),
        "-j",
        str(jobs or os.cpu_count() or 1),
        *selection,
    ]


def ctest(stage, folder, env, selection=()):
    results(folder).unlink(missing_ok=True)
    done = subprocess.run(ctest_words(folder, selection), env=env, stdin=subprocess.DEVNULL)
    if not results(folder).exists():
        raise Failed(f"ctest in {folder} left no results (exit code {done.returncode})")
    count(stage, results(folder))
    if done.returncode != 0 and not stage.failed:
        raise Failed(f"ctest in {folder} ended with exit code {done.returncode}")


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


@functools.cache
def clang():
    """Return CMake's settings for the newest clang that has sanitizers, or none. clang takes less
    time than GCC for the same, and finds more."""
    for version in (*range(NEWEST_CLANG, LEAST_CLANG - 1, -1), None):
        cc, cxx = (
            shutil.which(f"{name}-{version}" if version else name) for name in ("clang", "clang++")
        )
        if not (cc and cxx):
            continue
        resources, told = (
            subprocess.run([cc, word], capture_output=True, text=True).stdout.strip()
            for word in ("-print-resource-dir", "-dumpversion")
        )
        if int(told.split(".")[0] or 0) < LEAST_CLANG:
            continue
        if any(Path(resources).glob("lib/*/libclang_rt.asan*.a")):
            return {"CMAKE_C_COMPILER": cc, "CMAKE_CXX_COMPILER": cxx}
    return {}


def linker(usual=False):
    """Return CMake's settings for a linker that takes a third of the usual one's time, if it is
    here. Programs are linked by it, our libraries as users link them."""
    flags = [os.environ.get("LDFLAGS", "")]  # which the setting replaces
    if not usual and shutil.which("ld.gold"):
        # It does not look at libraries of libraries.
        flags += ["-fuse-ld=gold", "-Wl,--allow-shlib-undefined"]
    return {"CMAKE_EXE_LINKER_FLAGS": " ".join(flags).strip()}


def sanitizer_build(name):
    """Return folder and settings of a sanitizer's build, which is separate, as every object
    differs."""
    return ROOT / f"build-{name}", {
        **clang(),
        **linker(),
        "CMAKE_BUILD_TYPE": "Release",
        "NEARCACHE_SANITIZE": SANITIZERS[name].words,
        "NEARCACHE_BUILD_TESTS": "ON",
        "NEARCACHE_BUILD_APPS": "OFF",
        "NEARCACHE_BUILD_BENCH": "OFF",
    }


def parts_of(folder, programs):
    """Yield (command line, results) of each part of the unit tests in a build."""
    for program, parts in programs.items():
        for index in range(parts):
            found = folder / f"{program}.{index}.xml"
            words = ["env", f"GTEST_TOTAL_SHARDS={parts}", f"GTEST_SHARD_INDEX={index}"]
            # A low priority, so that other tests' measurements of programs run at the same time are
            # right.
            words += ["nice", "-n", "5", "timeout", HANGS, folder / "tests" / "unit" / program]
            yield [*words, f"--gtest_output=xml:{found}", "--gtest_brief=1"], found


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


def shards(name):
    """Yield (command line, results) of each part of a sanitizer's tests."""
    folder, _ = sanitizer_build(name)
    return parts_of(folder, SANITIZERS[name].programs)


def logs(name):
    """Return the logs of the tests with a sanitizer."""
    folder, _ = sanitizer_build(name)
    return [each.with_suffix(".log") for _, each in shards(name)] + [folder / "fuzz.log"]


def sanitizer_script(name):
    """Return a script that builds and runs the tests with a sanitizer, at a low priority. If the
    build fails, there are no results."""
    folder, settings = sanitizer_build(name)
    sanitizer = SANITIZERS[name]
    built = [
        shlex.join(["nice", "-n", "19", *map(str, words)]) + " >/dev/null 2>&1"
        for words in (
            configure_words(folder, settings),
            build_words(folder, sanitizer.targets),
        )
    ]
    runs = []
    for words, found in shards(name):
        log, code = (shlex.quote(str(found.with_suffix(end))) for end in (".log", ".code"))
        runs.append(f"{{ {shlex.join(map(str, words))} >{log} 2>&1; echo $? >{code}; }} &")
    if sanitizer.fuzzers:
        words = ["nice", "-n", "5", *ctest_words(folder, ("-R", "^fuzz_"), jobs=1)]
        runs.append(
            f"{shlex.join(map(str, words))} >{shlex.quote(str(folder / 'fuzz.log'))} 2>&1 &"
        )
    return " && ".join(built) + " && { " + " ".join(runs) + " wait; }"


def forget_other_compiler(folder):
    """Remove a build folder made for another compiler, as CMake cannot change it."""
    cache = folder / "CMakeCache.txt"
    found = cache.exists() and re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache.read_text(), re.M)
    if found and ("clang" in found[1]) != bool(clang()):
        shutil.rmtree(folder)


def start_sanitized(env):
    """Start to build and run the tests with sanitizers while other tests run, which mostly wait.

    Failed builds are repeated, and reported, later.
    """
    started = []
    for name in SANITIZERS:
        folder, _ = sanitizer_build(name)
        forget_other_compiler(folder)
        folder.mkdir(exist_ok=True)
        for _, found in shards(name):
            for end in (".xml", ".code"):
                found.with_suffix(end).unlink(missing_ok=True)
        for path in (results(folder), *logs(name)):
            path.unlink(missing_ok=True)
        started.append(
            subprocess.Popen(
                ["sh", "-c", sanitizer_script(name)],
                env={**SANITIZER_OPTIONS, **env},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
    return started


def stop_sanitized(started):
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def in_short(log):
    """Return the last line of a sanitizer's report, and the functions of its first stack."""
    report = log.read_text(errors="replace").partition("ERROR: ")[2]
    end = re.search(r"^SUMMARY: .*$", report, re.M)
    stack = re.findall(
        r"^ +#\d+ \S+ in (\S+)", report.partition("\n\n")[2].partition("\n\n")[0], re.M
    )
    return ", ".join([end[0].rstrip("."), *stack[:6]]) if end else "see its log above"


def sanitized(stage, name, env):
    """Report the results of unit and fuzz tests in a build with a sanitizer. If a program ended
    before it could write them, each test is run by itself."""
    folder, settings = sanitizer_build(name)
    found = [each for _, each in shards(name)]
    if SANITIZERS[name].fuzzers:
        found.append(results(folder))
    if all(path.exists() for path in found):
        for log in logs(name):
            if log.exists():
                print(log.read_text(errors="replace"), flush=True)
        for path in found:
            count(stage, path)
        for _, path in shards(name):
            code = path.with_suffix(".code").read_text().strip()
            # Leaks are found after all tests have passed and been recorded.
            if code != "0" and not stage.failed:
                told = in_short(path.with_suffix(".log"))
                raise Failed(f"{path.stem} ended with exit code {code}: {told}")
        return
    build(folder, settings, SANITIZERS[name].targets)
    ctest(stage, folder, {**SANITIZER_OPTIONS, **env}, ("-L", SANITIZERS[name].label))


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
    checks of the sources run beside the other tests.
    """
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "NEARCACHE_BUILD_TESTS": "ON",
        "NEARCACHE_BUILD_APPS": "ON",
        "NEARCACHE_BUILD_BENCH": "ON",
        "NEARCACHE_EVERY_MPI": "ON" if given.long else "OFF",
        "NEARCACHE_OPTIMISE_FEW": "OFF" if given.long else "ON",
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
    early, alone, late = test_lanes.lanes()
    ahead = []
    first = EARLY if uses_ninja() else ()
    try:
        yield build_stage(settings, first, "OpenSHMEM and UPC")
        for lane in early:
            lane.start(pytest_words(given), env, LANES)
        yield build_stage(settings)
        for lane in alone:
            lane.start(pytest_words(given), env, LANES)
        ahead = [] if given.quick else start_sanitized(env)
        checks = lint.start_quick()
        yield from lane_stages([lane for lane in alone if lane.polls])
        for lane in late:
            lane.start(pytest_words(given), env, LANES)
        yield staged("unit tests", lambda stage: unit_tests(stage, env))
        yield lint_stage(checks.result, quick=True)
        yield from lane_stages([*early, *(lane for lane in alone if not lane.polls), *late])
        for process in ahead:
            process.wait()
    except BaseException:
        for lane in (*early, *alone, *late):
            lane.stop()
        stop_sanitized(ahead)
        raise
    for name in SANITIZERS if ahead else ():
        yield staged(
            f"sanitizer: {SANITIZERS[name].words}",
            lambda stage, name=name: sanitized(stage, name, env),
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
    if not given.lint:
        print(f"\nthe {SLOWEST} slowest tests")
    for seconds, name in sorted(
        (each for stage in stages for each in stage.durations), reverse=True
    )[:SLOWEST]:
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
    except KeyboardInterrupt:
        sys.exit(130)
