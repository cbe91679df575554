"""Compiles and runs UPC programs for tests, with the upcc and the runtime of the build.

    program = launch_upc.upcc(source)              # a path, or the text of a program; compiled once
    launch_upc.run(program, 4, cache=False).check()
    launch_upc.compile(source).stderr              # for what must not compile

upcc runs inside this process, and programs are started by the words that upcrun would use: that saves two starts of Python each time.
"""

import atexit
import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import launch, launch_shmem

sys.path.insert(0, str(launch.ROOT / "python"))

_folder = None
_compiled = {}


def available():
    """Whether the build has a UPC runtime, and this Python all that upcc needs."""
    try:
        import pycparser  # noqa: F401
    except ImportError:
        return False
    return any(
        (launch.BUILD / "lib" / shmem.tag / "libnearcache_upc.a").exists()
        for shmem in launch_shmem.shmems()
    )


needs_upc = pytest.mark.skipif(
    not available(), reason="there is no UPC runtime in the build, or no pycparser"
)


def folder():
    """A folder for compiled programs, which goes away at the end."""
    global _folder
    if _folder is None:
        _folder = Path(tempfile.mkdtemp(prefix="nearcache-upc-"))
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    return _folder


@dataclass
class Compiled:
    """What upcc did. The program is `path`, where there is one."""

    words: list
    path: Path
    returncode: int
    stdout: str
    stderr: str

    def check(self):
        shown = " ".join(map(str, self.words))
        assert self.returncode == 0, (
            f"upcc failed:\n{self.stderr[-3000:]}\nrun again: NEARCACHE_HOME={launch.BUILD} upcc {shown}"
        )
        return self


@contextlib.contextmanager
def home():
    """The build is the home of what is called inside."""
    before = os.environ.get("NEARCACHE_HOME")
    os.environ["NEARCACHE_HOME"] = str(launch.BUILD)
    try:
        yield
    finally:
        if before is None:
            del os.environ["NEARCACHE_HOME"]
        else:
            os.environ["NEARCACHE_HOME"] = before


def call_upcc(*words):
    """upcc with these words: (exit code, standard output, standard error)."""
    from nearcache.upcc import driver

    out, err = io.StringIO(), io.StringIO()
    with home(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = driver.main([str(word) for word in words])
    return code, out.getvalue(), err.getvalue()


def source_file(source, name="program.upc"):
    """The path of a source that is given as a path or as its text."""
    if isinstance(source, Path) or "\n" not in str(source):
        return Path(source)
    path = folder() / hashlib.sha256(source.encode()).hexdigest()[:16] / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    return path


def compile(source, *options, name="program.upc"):
    """The Compiled of one source, or of a list of them; each set of sources and options is compiled once."""
    sources = [
        source_file(item, name)
        for item in (source if isinstance(source, (list, tuple)) else [source])
    ]
    key = (tuple((str(path), path.stat().st_mtime_ns) for path in sources), options)
    if key not in _compiled:
        path = folder() / f"program{len(_compiled)}"
        words = [*options, "-o", path, *sources] if "-o" not in options else [*options, *sources]
        words += [] if "-c" in options else ["-lm"]
        _compiled[key] = Compiled(words, path, *call_upcc(*words))
    return _compiled[key]


def upcc(source, *options, name="program.upc"):
    """The path of the compiled program; the test fails where it does not compile."""
    return compile(source, *options, name=name).check().path


@dataclass
class Result:
    command: list
    returncode: int  # None after a timeout
    stdout: str
    stderr: str

    def check(self):
        what = "timed out" if self.returncode is None else f"exit code {self.returncode}"
        assert self.returncode == 0, (
            f"{what}\n{self.stderr[-2000:]}\n{self.stdout[-2000:]}\nrun again: {' '.join(map(str, self.command))}"
        )
        return self


def run(path, threads, *args, cache=True, tcp=False, timeout=60, env=None, stdin=None, heap=None):
    """Runs a program on `threads` threads. tcp: they talk through the loopback interface, not by shared memory."""
    from nearcache.upcc import upcrun

    preloaded = " ".join(map(str, launch.giving_way()))
    surroundings = {
        **launch_shmem.surroundings(tcp),
        **({"LD_PRELOAD": preloaded} if preloaded else {}),
        **(env or {}),
    }
    with home():
        plan = upcrun.plan(
            [str(path), *map(str, args)], threads, cache=cache, heap=heap, environment=surroundings
        )
    surroundings.update(plan.variables)
    shown = [
        f"{name}={value}"
        for name, value in {
            **launch_shmem.SURROUNDINGS,
            **(launch_shmem.TCP if tcp else {}),
            **plan.variables,
            **(env or {}),
        }.items()
    ]

    def once():
        process = launch.begin(plan.words, surroundings, stdin=stdin, stderr=subprocess.PIPE)
        out, err, timed_out = launch.outcome(process, timeout, stdin)
        return Result(shown + plan.words, None if timed_out else process.returncode, out, err)

    return launch_shmem.started(once, lambda result: result.stdout + result.stderr)
