"""What looks at the sources without running them (`./test --lint`): layout, Python, scripts, C++.

The tools have fixed versions (`lint` in pyproject.toml), since another version's layout or findings
differ. `scripts/setup.sh lint` installs them. A plain `./test` runs the quick ones that are there.
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
    """A tool over files. `quick`: it takes seconds, so that a plain ./test can afford it."""

    name: str
    tool: str
    options: tuple = ()
    files: tuple = ()  # patterns of what git knows; none: the options name the files
    quick: bool = True


@dataclass(frozen=True)
class Outcome:
    """What a check said; `passed` is None where its tool is not there."""

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
    """Where a tool is: with our other Python tools; others in PATH, of clang's only the version that we want."""
    own = DEPS / "tools" / "bin" / name
    if own.exists():
        return str(own)
    if name in ("ruff", "mypy"):
        return None  # of any version
    return shutil.which(f"{name}-{CLANG}" if name.startswith("clang-") else name)


def tracked(*patterns):
    """The files that git knows, and new ones that it does not ignore."""
    # In a container the folder may belong to somebody else, which git distrusts.
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
    """Whether a file is a shell script, which most here tell by their first line only."""
    with open(ROOT / name, "rb") as file:
        first = file.readline(64)
    return first.startswith(b"#!") and first.rstrip().endswith((b"/sh", b"/bash", b"env bash"))


def files_of(check):
    if check.files == ("#!sh",):
        return [name for name in tracked() if is_script(name)]
    return tracked(*check.files) if check.files else []


def said_by(words):
    done = subprocess.run(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode == 0, done.stdout.strip()


def run(check):
    start = time.monotonic()
    path = tool(check.tool)
    if not path:
        return Outcome(check, None, f"{check.tool} is not here: scripts/setup.sh lint", 0)
    if check.tool == "clang-tidy":
        passed, text = tidy.run(path)
    else:
        passed, text = said_by([path, *check.options, *files_of(check)])
    return Outcome(check, passed, text, time.monotonic() - start)


def outcomes(quick):
    """Runs the checks side by side. A source archive has no list of what is ours."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        if quick:
            return []
        raise Failed("lint: this is no checkout of git, or there is no git")
    chosen = [check for check in CHECKS if check.quick or not quick]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(run, reversed(chosen)))[::-1]  # what takes longest begins first


def format_all():
    """Rewrites every file in its layout (scripts/format.sh)."""
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
