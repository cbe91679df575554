"""What the stages of ./test share: results that are counted, and builds with their tests."""

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

from console import Failed, Status, build_targets, configure, told

# GoogleTest programs, and the number of parts that each is run in: a process for each test would
# take three times as long.
UNIT_PROGRAMS = {"unit_tests": 2, "thread_tests": 1}
HANGS = 1800  # seconds after which a part is ended


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
        stage.failures.append(f"{name}: {told(error).splitlines()[0]}")
        print(told(error), file=sys.stderr, flush=True)
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


def linker(usual=False):
    """Return CMake's settings for a linker that takes a third of the usual one's time, if it is
    here. Programs are linked by it, our libraries as users link them."""
    flags = [os.environ.get("LDFLAGS", "")]  # which the setting replaces
    if not usual and shutil.which("ld.gold"):
        # It does not look at libraries of libraries.
        flags += ["-fuse-ld=gold", "-Wl,--allow-shlib-undefined"]
    return {"CMAKE_EXE_LINKER_FLAGS": " ".join(flags).strip()}


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
