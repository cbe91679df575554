"""Common parts of the demo and the tests: a status line, logged commands, the build."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEPS = ROOT / ".deps"


class Failed(Exception):
    """A step failed; the text names it and shows the end of its log."""


def told(error):
    """Return what a Failed or an OSError says to the user."""
    if isinstance(error, PermissionError) and error.filename:
        return f"{error.filename} cannot be written by this user; if another one (root?) has made it, remove it"
    return str(error)


class Status:
    """A line that is rewritten on a terminal. Elsewhere (CI), a line per step and a few in
    between."""

    def __init__(self, title, stream=sys.stdout):
        self.title, self.stream, self.live = title, stream, stream.isatty()
        self.start, self.shown, self.last = time.monotonic(), -100, ""

    def __enter__(self):
        if self.live:
            self._line("...")
        else:
            print(f"{self.title} ...", file=self.stream, flush=True)
        return self

    def update(self, text, percent=None):
        if self.live:
            self._line(text)
        elif percent is not None and percent >= self.shown + 25 and 0 < percent < 100:
            self.shown = percent
            print(f"  {text}", file=self.stream, flush=True)

    def done(self, text="done"):
        seconds = time.monotonic() - self.start
        if self.live:
            self._line("")
            print(f"\r{self.title}: {text} ({seconds:.1f} s)", file=self.stream, flush=True)
        else:
            print(f"  {text} ({seconds:.1f} s)", file=self.stream, flush=True)

    def _line(self, text):
        width = shutil.get_terminal_size().columns - 1
        print("\r\033[K" + f"{self.title}: {text}"[:width], end="", file=self.stream, flush=True)

    def __exit__(self, kind, *_):
        if kind and self.live:
            print(file=self.stream, flush=True)


def logged(words, log, on_line=None, env=None, cwd=ROOT):
    """Run a command with its output in a log; Failed shows the log's end. `on_line` is called with
    each line."""
    log = Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    with log.open("a", encoding="utf-8") as file:
        print("$ " + " ".join(map(str, words)), file=file, flush=True)
        process = subprocess.Popen(
            list(map(str, words)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            stdin=subprocess.DEVNULL,
            errors="replace",
            env=env,
            cwd=cwd,
        )
        try:
            for line in process.stdout:
                file.write(line)
                lines.append(line)
                if on_line:
                    on_line(line)
        except BaseException:
            process.terminate()
            raise
        process.wait()
    if process.returncode != 0:
        raise Failed(
            f"{' '.join(map(str, words[:4]))} ... failed with {process.returncode}; its whole output is in {log}\n"
            + "".join(lines[-30:])
        )
    return "".join(lines)


def configured(build):
    """Return whether a build folder is configured. What CMake has noted before the checkout was
    moved is removed, because it would refuse to go on."""
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        return False
    found = re.search(r"^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$", cache.read_text(), re.M)
    if found and Path(found[1]).exists() and build.samefile(found[1]):
        return True
    cache.unlink()
    shutil.rmtree(build / "CMakeFiles", ignore_errors=True)
    return False


def configure_words(build, settings):
    """Return CMake's command line; a new build folder uses Ninja if it is installed.

    The sources of a target are compiled together, and headers of the C++ library once. Reading
    headers takes most of a compilation, and is repeated for every MPI.
    """
    words = [
        "cmake",
        "-S",
        ROOT,
        "-B",
        build,
        "-DCMAKE_UNITY_BUILD=ON",
        "-DNEARCACHE_PRECOMPILE=ON",
        f"-DNEARCACHE_STRICT={'ON' if os.environ.get('CI') else 'OFF'}",
        *[f"-D{name}={value}" for name, value in settings.items()],
    ]
    if not configured(build) and shutil.which("ninja"):
        words += ["-G", "Ninja"]
    return words


def build_words(build, targets, jobs=None):
    jobs = jobs or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count() or 1)
    return ["cmake", "--build", build, "-j", jobs, *(["--target", *targets] if targets else [])]


def configure(build, settings, log):
    """Run CMake."""
    logged(configure_words(build, settings), log)


def build_targets(build, targets, log, status):
    """Build targets (all if none are given) and show the progress."""

    def on_line(line):
        found = re.match(r"\[\s*(\d+)/(\d+)\]", line)
        if found:
            step, steps = int(found[1]), int(found[2])
            status.update(f"{step} of {steps}", 100 * step // steps)
            return
        found = re.match(r"\[\s*(\d+)%\]", line)
        if found:
            status.update(f"{found[1]}%", int(found[1]))

    logged(build_words(build, targets), log, on_line)
