"""How much of src/ the tests run, by gcovr: unit tests, the tests of MPI, and the programs of OpenSHMEM and UPC.

    scripts/coverage.py [--html FOLDER] [--only-report]

Builds the preset `coverage` for one MPI (build-coverage/) and every OpenSHMEM, runs what SELECTION
and SHMEM_SELECTION name, and prints the share of lines, functions and branches, by part of src/.
Needs what ./test and ./test --lint need.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from console import DEPS, ROOT, Failed, Status, build_targets, configured, logged
from run_tests import ROOT_VARIABLES

FOLDER = ROOT / "build-coverage"
# Programs are run with the object preloaded, so that the code they reach counts.
TARGETS = ("unit_tests", "thread_tests", "nearcache_mpi", "nearcache_tables_json", "give_way")
MPI_TARGETS = ("tests/mpi/all", "tests/model/all", "tests/advise/all")
SELECTION = ("tests/mpi", "tests/model")
# Built if there is an OpenSHMEM. Its folders hold the libraries and the programs.
SHMEM_TARGETS = ("src/shmem/all", "src/upc/all", "tests/shmem/all", "tests/upc/all")
SHMEM_SELECTION = (
    "tests/shmem",
    "tests/upc/test_runtime.py",
    "tests/upc/test_collectives.py",
    "tests/upc/test_prefetch.py",
)
# upcc links instrumented archives, which need gcc's coverage library.
UPCC_COMPILER = "gcc --coverage"
PARTS = ("base", "cache", "front", "net", "rma", "telemetry", "simulate", "mpi", "shmem", "upc")


def mpicc():
    """Return the MPI of .deps, else the system's."""
    own = DEPS / "mpich" / "bin" / "mpicc"
    return own if own.exists() else "mpicc"


def has_shmem():
    """Return whether the build found an OpenSHMEM."""
    listing = FOLDER / "shmems.json"
    return listing.exists() and bool(json.loads(listing.read_text()))


def build(log):
    configured(FOLDER)
    words = ["cmake", "--preset", "coverage", "-S", ROOT, "-DCMAKE_UNITY_BUILD=ON"]
    words += [f"-DNEARCACHE_MPICC={mpicc()}", "-DNEARCACHE_BUILD_APPS=OFF"]
    words += ["-DNEARCACHE_BUILD_BENCH=OFF"]
    logged(words, log)
    known = subprocess.run(
        ["cmake", "--build", FOLDER, "--target", "help"], capture_output=True, text=True
    ).stdout.split()
    names = {word.rstrip(":") for word in known}
    tag = next(name for name in names if name.startswith("nearcache_mpi.")).partition(".")[2]
    targets = [f"{name}.{tag}" if f"{name}.{tag}" in names else name for name in TARGETS]
    targets += MPI_TARGETS
    if has_shmem():
        targets += SHMEM_TARGETS
    with Status("building with --coverage") as status:
        build_targets(FOLDER, targets, log, status)
        status.done()


def run():
    """Run the tests. A failed one is reported, and counts for what it ran."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("NEARCACHE_")}
    env.update({name: "1" for name in ROOT_VARIABLES}, NEARCACHE_BUILD=str(FOLDER))
    env["CC"] = UPCC_COMPILER
    for old in FOLDER.rglob("*.gcda"):
        old.unlink()
    for name in ("unit_tests", "thread_tests"):
        program = next(
            path for path in FOLDER.rglob(name) if os.access(path, os.X_OK) and path.is_file()
        )
        subprocess.run([program, "--gtest_brief=1"], env=env, stdin=subprocess.DEVNULL)
    words = [sys.executable, "-m", "pytest", "-q", "-m", "not long", *SELECTION]
    words += SHMEM_SELECTION if has_shmem() else ()
    subprocess.run(words, cwd=ROOT, env=env, stdin=subprocess.DEVNULL)


def measured(html):
    """Return gcovr's summary of src/: {file: (lines, covered)} and the totals."""
    summary = FOLDER / "coverage.json"
    words = [DEPS / "tools" / "bin" / "gcovr", "--root", ROOT, "--filter", f"{ROOT}/src/"]
    words += ["--object-directory", FOLDER, "--exclude-throw-branches"]
    # A few lines, which would count once for each of the 1,700 functions that an OpenSHMEM may
    # lack.
    words += ["--exclude", f"{ROOT}/src/shmem/next.cpp"]
    words += ["--gcov-ignore-errors=all", "--merge-mode-functions=separate"]
    # Threads that count the same line at once may leave a negative count.
    words += ["--gcov-ignore-parse-errors=negative_hits.warn_once_per_file"]
    words += ["--json-summary", summary, "-j", str(os.cpu_count() or 1), FOLDER]
    if html:
        html.mkdir(parents=True, exist_ok=True)
        words += ["--html-details", html / "index.html"]
    logged(words, FOLDER / "log")
    return json.loads(summary.read_text())


def show(found):
    for part in PARTS:
        rows = [row for row in found["files"] if row["filename"].startswith(f"src/{part}/")]
        lines, covered = (sum(row[f"line_{key}"] for row in rows) for key in ("total", "covered"))
        if lines:
            print(f"  src/{part:10} {100 * covered / lines:5.1f}% of {lines:,} lines")
    for kind, many in (("line", "lines"), ("function", "functions"), ("branch", "branches")):
        print(f"{many}: {found[f'{kind}_percent']}% of {found[f'{kind}_total']:,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--html", type=Path, metavar="FOLDER", help="also write pages that show each line"
    )
    parser.add_argument("--only-report", action="store_true", help="report on an earlier run")
    given = parser.parse_args()
    try:
        if not given.only_report:
            FOLDER.mkdir(exist_ok=True)
            build(FOLDER / "log")
            run()
        show(measured(given.html))
    except Failed as error:
        sys.exit(f"coverage: {error}")


if __name__ == "__main__":
    main()
