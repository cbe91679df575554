"""Builds with sanitizers and their tests, which run beside the other tests of ./test."""

import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from console import ROOT, Failed, build_words, configure_words
from test_stages import UNIT_PROGRAMS, build, count, ctest, ctest_words, linker, parts_of, results

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
OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


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


def build_of(name):
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


def shards(name):
    """Yield (command line, results) of each part of a sanitizer's tests."""
    folder, _ = build_of(name)
    return parts_of(folder, SANITIZERS[name].programs)


def logs(name):
    """Return the logs of the tests with a sanitizer."""
    folder, _ = build_of(name)
    return [each.with_suffix(".log") for _, each in shards(name)] + [folder / "fuzz.log"]


def script(name):
    """Return a script that builds and runs the tests with a sanitizer, at a low priority. If the
    build fails, there are no results."""
    folder, settings = build_of(name)
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


def start(env):
    """Start to build and run the tests with sanitizers while other tests run, which mostly wait.

    Failed builds are repeated, and reported, later.
    """
    started = []
    for name in SANITIZERS:
        folder, _ = build_of(name)
        forget_other_compiler(folder)
        folder.mkdir(exist_ok=True)
        for _, found in shards(name):
            for end in (".xml", ".code"):
                found.with_suffix(end).unlink(missing_ok=True)
        for path in (results(folder), *logs(name)):
            path.unlink(missing_ok=True)
        started.append(
            subprocess.Popen(
                ["sh", "-c", script(name)],
                env={**OPTIONS, **env},
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
    return started


def still_runs(process):
    return process.poll() is None


def stop(started):
    for process in started:
        if still_runs(process):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def in_short(log):
    """Return the last line of a sanitizer's report, and the functions of its first stack."""
    text = log.read_text(errors="replace").partition("ERROR: ")[2]
    end = re.search(r"^SUMMARY: .*$", text, re.M)
    stack = re.findall(
        r"^ +#\d+ \S+ in (\S+)", text.partition("\n\n")[2].partition("\n\n")[0], re.M
    )
    return ", ".join([end[0].rstrip("."), *stack[:6]]) if end else "see its log above"


def report(stage, name, env):
    """Report the results of unit and fuzz tests in a build with a sanitizer. If a program ended
    before it could write them, each test is run by itself."""
    folder, settings = build_of(name)
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
    ctest(stage, folder, {**OPTIONS, **env}, ("-L", SANITIZERS[name].label))
