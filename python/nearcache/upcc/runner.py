# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of upcc's steps, with a folder for intermediate files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .diagnostics import UpcError

if TYPE_CHECKING:
    from .command import Invocation


# Where the runtime's header is included, of which a macro is at the place of a message.
OUR_INCLUDES = re.compile(
    r"^In file included from (?:.*,\n +from )*.*/nearcache/upc_runtime\.h:\d+,\n +from .*:\n", re.M
)


class StepFailed(Exception):
    """A command failed and has reported why. upcc's exit code is then 1, like that of cc."""


class Runner:
    def __init__(self, invocation: Invocation, folder: str | Path) -> None:
        self.invocation = invocation
        self.folder = Path(folder)
        # temporary files, and the names shown for them in messages
        self.shown_as: dict[Path, str] = {}

    def say(self, text: str) -> None:
        if text:
            print(text, file=sys.stderr)

    def temporary(self, name: str) -> Path:
        """Return a file of this name in the temporary folder; the linker's messages show the
        name."""
        path = self.folder / name
        while path.exists() or path in self.shown_as:
            path = path.with_stem(path.stem + "_")
        self.shown_as[path] = name
        return path

    def run(self, words: Iterable[str | Path], output: IO[str] | None = None) -> None:
        """Run a command of the C compiler; its messages go to our standard error."""
        command = list(map(str, words))
        if self.invocation.verbose:
            self.say(shlex.join(command))
        if self.invocation.dry:
            return
        try:
            done = subprocess.run(
                command,
                stdout=output or subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="surrogateescape",
            )
        except OSError as error:
            raise UpcError(
                None, f"cannot start the C compiler {command[0]}: {error.strerror}"
            ) from None
        sys.stdout.write(done.stdout or "")
        sys.stderr.write(self.in_terms_of_source(done.stderr))
        if done.returncode != 0:
            raise StepFailed

    def in_terms_of_source(self, messages: str) -> str:
        """Return the C compiler's messages with the user's names instead of ours."""
        for path, name in self.shown_as.items():
            messages = messages.replace(str(path), name)
        messages = OUR_INCLUDES.sub("", messages)
        return re.sub(r"\bncupc_main\b", "main", messages)


def position_words(cc: Sequence[str]) -> list[str]:
    """Return the words that suppress the compiler's columns and source lines, which refer to the
    translated text, not to the UPC line named by #line."""
    clang = "clang" in os.path.basename(os.path.realpath(shutil.which(cc[0]) or cc[0]))
    return [
        "-fno-show-column",
        "-fno-caret-diagnostics" if clang else "-fno-diagnostics-show-caret",
    ]
