"""Builds every mutant in a folder of its own and says whether the tests named in its file catch it.

    run.py [--list] [--junit FILE] [--folder FOLDER] [NAME ...]      NAME: a mutation, a folder of them, or a pattern such as '*/*writes*'

The sources are copied first: those of the user are never changed. What is not to be caught by chance: all named tests must pass on
the unchanged copy, and a mutant must compile. A test that hangs has caught its mutant. Kinds of tests in a mutation's file:

    unit FILTER, threads FILTER     unit_tests, thread_tests --gtest_filter=FILTER
    fuzz ENGINE                     the fuzz test of the normal suite, by ctest
    pytest ARGUMENTS                with the newest MPICH and the first OpenSHMEM of the build
"""

import argparse
import contextlib
import fnmatch
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutation  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from console import configured  # noqa: E402

SETTINGS = {
    "CMAKE_BUILD_TYPE": "Mutant",
    "CMAKE_CXX_FLAGS": "-O1",
    "CMAKE_C_FLAGS": "-O1",
    "CMAKE_UNITY_BUILD": "OFF",
    "NEARCACHE_BUILD_APPS": "OFF",
    "NEARCACHE_BUILD_BENCH": "OFF",
}
SECONDS = 60  # that any test may take; more where it takes more on the unchanged sources


class Failed(Exception):
    """A step that must succeed did not."""


# --- The copy ---------------------------------------------------------------------------------------------------------------


def sources():
    """Files of the project, relative to its root: tracked or new, not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
    )
    if listed.returncode == 0:
        return [
            name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()
        ]
    return [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*")
        if path.is_file()
        and not path.relative_to(ROOT).parts[0].startswith(("build", ".deps", ".git"))
    ]


def copy_sources(tree):
    """Makes `tree` equal to the project; files that are the same stay untouched, so that little is compiled again."""
    wanted = sources()
    for name in wanted:
        to, text = tree / name, (ROOT / name).read_bytes()
        if to.exists() and to.read_bytes() == text:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(text)
        shutil.copymode(ROOT / name, to)
    kept = set(wanted)
    for path in [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]:
        if path.relative_to(tree).as_posix() not in kept and ".deps" not in path.parts:
            path.unlink()
    if (ROOT / ".deps").exists() and not (tree / ".deps").exists():
        (tree / ".deps").unlink(missing_ok=True)  # a link to where the checkout was
        (tree / ".deps").symlink_to((ROOT / ".deps").resolve())


def restore(before):
    for path, text in before.items():
        path.write_text(text, encoding="utf-8")


# --- Commands ---------------------------------------------------------------------------------------------------------------


def execute(words, seconds, env=None, cwd=None):
    """(exit code or None after `seconds`, output) of a command, which is ended with all that it started."""
    process = subprocess.Popen(
        list(map(str, words)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        end_all(process.pid)
    except BaseException:
        end_all(process.pid)
        raise
    try:
        return None, process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:  # somebody who lost his parent has the other end still
        return None, ""


def children_of(pid):
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []


def end_all(pid):
    """Launchers and their ranks have sessions of their own, so they are found by who started whom: and first, as they lose their parents."""
    found = [pid]
    for number, wait in ((signal.SIGTERM, 2), (signal.SIGKILL, 0)):
        for parent in found:  # which grows, also by what they have started in the meantime
            found += [child for child in children_of(parent) if child not in found]
        for each in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, number)
        time.sleep(wait)


class Mutants:
    """The copy, its build, and how tests run in it."""

    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "build"
        self.tree.mkdir(parents=True, exist_ok=True)
        self.needed = {}  # test: seconds that it takes on the unchanged sources

    def configure(self):
        copy_sources(self.tree)
        words = [
            "cmake",
            "-S",
            self.tree,
            "-B",
            self.build,
            *[f"-D{name}={value}" for name, value in SETTINGS.items()],
        ]
        if not configured(self.build) and shutil.which("ninja"):
            words += ["-G", "Ninja"]
        if shutil.which("ccache"):
            words += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        self.must(words)
        targets = self.all_targets()
        self.mpi = newest(targets, "nearcache_mpi.mpich-") or newest(targets, "nearcache_mpi.")
        self.shmem = newest(targets, "nearcache_shmem.")

    def must(self, words):
        code, output = execute(words, 3600)
        if code != 0:
            raise Failed(f"{' '.join(map(str, words[:5]))} ... failed:\n{output[-3000:]}")
        return output

    def all_targets(self):
        lines = self.must(["cmake", "--build", self.build, "--target", "help"]).splitlines()
        return {line.replace("... ", "").split(":")[0].strip() for line in lines}

    def targets(self, kind, arguments):
        """What must be built for a test."""
        if kind != "pytest":
            return {"unit": ["unit_tests"], "threads": ["thread_tests"]}.get(kind) or [
                f"fuzz_{arguments.split()[0]}"
            ]
        program = Path(shlex.split(arguments)[0].split("::")[0]).as_posix()
        for prefix, targets in PYTEST_TARGETS.items():
            if program.startswith(prefix):
                return [target.format(mpi=self.mpi, shmem=self.shmem) for target in targets]
        raise Failed(f"PYTEST_TARGETS of {Path(__file__).name} does not say what {program} needs")

    def make(self, targets):
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count() or 1)
        return execute(
            ["cmake", "--build", self.build, "-j", jobs, "--target", *sorted(set(targets))], 3600
        )

    def command(self, kind, arguments):
        if kind in ("unit", "threads"):
            name = "unit_tests" if kind == "unit" else "thread_tests"
            return [
                self.build / "tests" / "unit" / name,
                f"--gtest_filter={arguments}",
                "--gtest_brief=1",
            ]
        if kind == "fuzz":
            return [
                "ctest",
                "--test-dir",
                self.build,
                "-R",
                f"^fuzz_{arguments}$",
                "--no-tests=error",
            ]
        return [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "not long",
            *shlex.split(arguments),
        ]

    def run(self, test):
        """(exit code or None after a timeout, output) of a test."""
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("NEARCACHE_") and name != "LD_PRELOAD"
        }
        env.update(
            NEARCACHE_BUILD=str(self.build),
            NEARCACHE_TEST_MPIS=self.mpi,
            PYTHONPATH=str(self.tree / "python"),
        )
        if os.geteuid() == 0:
            env.update(
                {
                    f"{name}_ALLOW_RUN_AS_ROOT{end}": "1"
                    for name in ("OMPI", "PRTE")
                    for end in ("", "_CONFIRM")
                }
            )
        seconds = max(SECONDS, 3 * self.needed.get(test, 200))
        return execute(self.command(*test), seconds, env, self.tree)

    def check_unchanged(self, test):
        """A test that does not pass on the sources as they are, or that runs nothing, says nothing of a mutant."""
        start = time.monotonic()
        code, output = self.run(test)
        self.needed[test] = time.monotonic() - start
        ran_none = (test[0] in ("unit", "threads") and "Running 0 tests" in output) or (
            test[0] == "pytest" and " passed" not in output
        )
        if code != 0 or ran_none:
            raise Failed(
                f"{' '.join(test)}: does not pass on the unchanged sources:\n{output[-3000:]}"
            )

    def try_one(self, mutant):
        """(how it ended: caught, survived or broken; a line that says more)"""
        before = mutant.apply(self.tree)
        try:
            for test in mutant.tests:
                code, output = self.make(self.targets(*test))
                if code != 0:
                    return "broken", "it does not build: " + next(
                        (line for line in output.splitlines() if "error" in line), output[-300:]
                    )
                code, _ = self.run(test)
                if code != 0:
                    return "caught", f"by {' '.join(test)}" + (
                        ", which hangs" if code is None else ""
                    )
            return "survived", f"{mutant.title} ({mutant.rule})"
        finally:
            restore(before)


# What the tests of pytest need, by the beginning of their path; the first that fits.
PYTEST_TARGETS = {
    "tests/mpi/test_semantics": ("nearcache_mpi.{mpi}", "lazy_mpi.{mpi}", "semantics.{mpi}"),
    "tests/mpi/test_known_failures": (
        "nearcache_mpi.{mpi}",
        "lazy_mpi.{mpi}",
        "known_failures.{mpi}",
        "edges.{mpi}",
        "shim_mpi.{mpi}",
        "faults.{mpi}",
    ),
    "tests/mpi/test_world": ("nearcache_mpi.{mpi}", "world.{mpi}", "shim_mpi.{mpi}"),
    "tests/mpi/test_sharing": ("nearcache_mpi.{mpi}", "sharing.{mpi}", "count_mpi.{mpi}"),
    "tests/mpi/test_runtime": (
        "nearcache_mpi.{mpi}",
        "lazy_mpi.{mpi}",
        "count_mpi.{mpi}",
        "progress.{mpi}",
        "threads.{mpi}",
    ),
    "tests/mpi/test_phases": (
        "nearcache_mpi.{mpi}",
        "lazy_mpi.{mpi}",
        "shim_mpi.{mpi}",
        "phases.{mpi}",
    ),
    "tests/mpi/test_coherent": ("nearcache_mpi.{mpi}", "lazy_mpi.{mpi}", "coherent.{mpi}"),
    "tests/mpi/test_rma": (
        "nearcache_mpi.{mpi}",
        "shim_mpi.{mpi}",
        "rma.{mpi}",
        "rma_edges.{mpi}",
        "rma_first.{mpi}",
        "rma_job.{mpi}",
        "rma_large.{mpi}",
        "rma_threads.{mpi}",
    ),
    "tests/model": ("nearcache_mpi.{mpi}", "lazy_mpi.{mpi}", "model.{mpi}"),
    "tests/shmem/front": (
        "nearcache_shmem.{shmem}",
        "shmem_front.{shmem}",
        "shmem_front_ends.{shmem}",
        "shmem_front_threads.{shmem}",
    ),
    "tests/shmem/test_stub15": (
        "nearcache_shmem.stub-1.5",
        "stub15",
        "stub15_calls",
        "stub15_cases",
    ),
    "tests/shmem/test_check": (
        "nearcache_shmem.{shmem}",
        "shmem_promises.{shmem}",
        "shmem_contract.{shmem}",
        "shmem_threads.{shmem}",
    ),
    "tests/upc/test_language": (
        "nearcache_upc.{shmem}",
        "nearcache_upc_struct.{shmem}",
        "nearcache_shmem.{shmem}",
        "give_way",
    ),
    "tests/upc/test_lowering": ("nearcache_upc.{shmem}", "nearcache_shmem.{shmem}", "give_way"),
    "tests/shmem/test_near": (
        "nearcache_shmem.{shmem}",
        "shmem_near.{shmem}",
        "shmem_late_updates.{shmem}",
    ),
    "tests/shmem/test_contract": ("nearcache_shmem.{shmem}", "shmem_contract.{shmem}"),
    "tests/upc/test_runtime": (
        "upc_accesses.{shmem}",
        "upc_barriers.{shmem}",
        "upc_copies.{shmem}",
        "upc_heap.{shmem}",
        "upc_kept.{shmem}",
        "upc_late_sets.{shmem}",
        "upc_litmus.{shmem}",
        "upc_locks.{shmem}",
        "upc_pointers.{shmem}",
        "upc_statics.{shmem}",
    ),
}


def newest(targets, prefix):
    """The tag of the newest version among targets of this prefix."""

    def version(tag):
        return [int(part) for part in tag.split("-")[-1].split(".") if part.isdigit()]

    tags = [name[len(prefix) :] for name in targets if name.startswith(prefix)]
    return prefix.split(".")[1] + max(tags, key=version) if tags else ""


# --- The whole --------------------------------------------------------------------------------------------------------------


def chosen(names):
    every = mutation.all_mutations()
    if not names:
        return every
    found = [
        m
        for m in every
        if any(
            m.name == name or m.name.startswith(name + "/") or fnmatch.fnmatch(m.name, name)
            for name in names
        )
    ]
    if not found:
        raise Failed(f"no mutation is named {' '.join(names)}")
    return found


def write_junit(path, results):
    suite = xml.Element("testsuite", name="mutations")
    for mutant, outcome, text, seconds in results:
        case = xml.SubElement(
            suite, "testcase", classname="mutations", name=mutant.name, time=f"{seconds:.1f}"
        )
        if outcome != "caught":
            xml.SubElement(case, "failure", message=f"{outcome}: {text}")
    xml.ElementTree(suite).write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names and titles only")
    parser.add_argument("--junit", metavar="FILE", help="write the results there too")
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build-mutants",
        help="where the copy and its build are",
    )
    given = parser.parse_args()
    mutants = chosen(given.names)
    if given.list:
        for mutant in mutants:
            print(f"{mutant.name:50} {mutant.title}")
        return 0
    house = Mutants(given.folder.resolve())
    house.configure()
    tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
    code, output = house.make([target for test in tests for target in house.targets(*test)])
    if code != 0:
        raise Failed("the unchanged sources do not build:\n" + output[-3000:])
    for test in tests:
        house.check_unchanged(test)
        print(f"unchanged: {' '.join(test)} passes in {house.needed[test]:.1f} s", flush=True)
    results = []
    for mutant in mutants:
        start = time.monotonic()
        outcome, text = house.try_one(mutant)
        results.append((mutant, outcome, text, time.monotonic() - start))
        print(f"{outcome:9} {mutant.name:50} {text} ({results[-1][3]:.1f} s)", flush=True)
    if given.junit:
        write_junit(given.junit, results)
    uncaught = sum(outcome != "caught" for _, outcome, _, _ in results)
    print(f"{len(results) - uncaught} mutations caught, {uncaught} not")
    return 1 if uncaught else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, mutation.Stale) as error:
        sys.exit(f"mutations: {error}")
