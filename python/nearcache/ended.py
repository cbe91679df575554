# SPDX-License-Identifier: BSD-3-Clause
"""Starts commands so that signals do to them what they would do without us, and cleans up after
one that is ended by a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

Result = TypeVar("Result")
SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """A signal that ends this process, as an exception."""


def told(code: int) -> str:
    """Return how a process ended, given its code from subprocess: `ended with exit code 3`."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:  # of real time
        name = ""
    return f"was ended by signal {-code}{name}"


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Raise SIGTERM and SIGHUP as exceptions inside, so that `finally` blocks run; the signal then
    ends this process as usual."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        for each in before:
            signal.signal(each, signal.SIG_IGN)  # clean-up is not interrupted
        raise Ended(number)

    before = {
        number: signal.getsignal(number)
        for number in SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, end)
    try:
        yield
    except Ended as ended:
        signal.signal(ended.args[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended.args[0])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    words: Sequence[str],
    use: Callable[[subprocess.Popen[str]], Result],
    end: Callable[[subprocess.Popen[str]], None],
    **options: Any,
) -> Result:
    """Start a command and return what `use` does of its process; if that raises, `end` is called.

    A signal that arrives while the process is being started is held back until `end` can be called.
    """
    process = None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [*SIGNALS, signal.SIGINT])
    try:
        process = subprocess.Popen(
            words,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
            **options,
        )
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return use(process)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if process:
            end(process)
        raise


def replace(words: Sequence[str]) -> NoReturn:
    """Replace this process by a command, so that signals and the exit code are the command's
    own."""
    sys.stdout.flush()
    sys.stderr.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the command
        signal.signal(number, signal.SIG_DFL)
    os.execvp(words[0], list(words))


def kill_group(process: subprocess.Popen[str], number: int) -> None:
    """Send a signal to what is left of the session of a process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def run_to_its_end(words: Sequence[str], patience: float = 10) -> int:
    """Return the exit code of a command. If we are ended, it is ended by SIGTERM, so that a
    launcher ends its ranks, too."""

    def end(process: subprocess.Popen[str]) -> None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()

    return run(words, subprocess.Popen.wait, end)
