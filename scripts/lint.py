"""Static checks of the sources (`./test --lint`): layout, Python, scripts, C++.

The tools have fixed versions (`checks` and `lint` in pyproject.toml), since other versions' layout
or findings differ. `scripts/setup.sh lint` installs them. A plain `./test` runs the quick ones
beside its tests. Its set-up installs their tools, too, but where it cannot, they are left out.
"""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import tidy
from console import DEPS, ROOT, Failed

CLANG = "16"  # the major version whose layout is ours


@dataclass(frozen=True)
class Check:
    """A tool that checks files. `quick`: it takes seconds, short enough for a plain ./test."""

    name: str
    tool: str
    options: tuple = ()
    files: tuple = ()  # patterns of files known to git; none: the options name the files
    quick: bool = True


@dataclass(frozen=True)
class Outcome:
    """The result of a check; `passed` is None if its tool is not installed."""

    check: Check
    passed: "bool | None"
    text: str
    seconds: float


CPP = ("*.c", "*.cpp", "*.h")
CHECKS = (
    Check("layout of C and C++", "clang-format", ("--dry-run", "--Werror"), CPP),
    Check("ruff check", "ruff", ("check", "--quiet", "."), ()),
    Check("ruff format", "ruff", ("format", "--quiet", "--diff", "."), ()),
    Check("types of Python", "mypy", ("--no-error-summary",), ()),
    Check("scripts", "shellcheck", ("--external-sources",), ("#!sh",)),
    Check("clang-tidy", "clang-tidy", quick=False),
)


def tool(name):
    """Return the path of a tool: our own, else that in PATH. clang's tools in PATH must have the
    required version."""
    own = DEPS / "tools" / "bin" / name
    if own.exists():
        return str(own)
    if name in ("ruff", "mypy"):
        return None  # one in PATH may have any version
    return shutil.which(f"{name}-{CLANG}" if name.startswith("clang-") else name)


def tracked(*patterns):
    """Return the files known to git, and new ones that it does not ignore."""
    # In a container, the folder may belong to another user, whom git distrusts.
    words = [
        "git",
        "-C",
        ROOT,
        "-c",
        "safe.directory=*",
        "ls-files",
        "-co",
        "--exclude-standard",
        "--",
        *patterns,
    ]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"git ls-files failed: {done.stderr.strip()}")
    return sorted({name for name in done.stdout.splitlines() if (ROOT / name).is_file()})


def is_script(name):
    """Return whether a file is a shell script. Most scripts here show it only by their first
    line."""
    with open(ROOT / name, "rb") as file:
        first = file.readline(64)
    return first.startswith(b"#!") and first.rstrip().endswith((b"/sh", b"/bash", b"env bash"))


def files_of(check):
    if check.files == ("#!sh",):
        return [name for name in tracked() if is_script(name)]
    return tracked(*check.files) if check.files else []


def said_by(words, beside):
    done = subprocess.run(
        [*(("nice", "-n", "19") if beside else ()), *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, done.stdout.strip()


def run(check, beside=False):
    start = time.monotonic()
    path = tool(check.tool)
    if not path:
        return Outcome(check, None, f"{check.tool} is not here: scripts/setup.sh lint", 0)
    if check.tool == "clang-tidy":
        passed, text = tidy.run(path)
    else:
        passed, text = said_by([path, *check.options, *files_of(check)], beside)
    return Outcome(check, passed, text, time.monotonic() - start)


def outcomes(quick, beside=False):
    """Run the checks in parallel, `beside` other tests at a low priority. A source archive lacks
    git's list of files."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        if quick:
            return []
        raise Failed("lint: this is no checkout of git, or there is no git")
    chosen = [check for check in CHECKS if check.quick or not quick]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        # the longest ones start first
        return list(pool.map(lambda check: run(check, beside), reversed(chosen)))[::-1]


def start_quick():
    """Start the quick checks beside other tests; return the future of their outcomes."""
    pool = ThreadPoolExecutor(1)
    started = pool.submit(outcomes, quick=True, beside=True)
    pool.shutdown(wait=False)
    return started


def format_all():
    """Rewrite every file in its layout (scripts/format.sh)."""
    formatter, ruff = tool("clang-format"), tool("ruff")
    if not formatter or not ruff:
        raise Failed("clang-format and ruff are not here: scripts/setup.sh lint")
    subprocess.run([formatter, "-i", *tracked(*CPP)], cwd=ROOT, check=True)
    subprocess.run([ruff, "check", "--quiet", "--fix", "."], cwd=ROOT, check=True)
    subprocess.run([ruff, "format", "--quiet", "."], cwd=ROOT, check=True)


def main():
    try:
        format_all()
    except (Failed, subprocess.CalledProcessError) as error:
        sys.exit(f"format: {error}")
