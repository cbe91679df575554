"""Runs the commands of upcc's steps, with a folder for intermediate files."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .diagnostics import UpcError


class StepFailed(Exception):
    """A command failed and has reported why. upcc's exit code is then 1, like that of cc."""


class Runner:
    def __init__(self, invocation, folder):
        self.invocation = invocation
        self.folder = Path(folder)
        self.shown_as = {}  # temporary files, and the names shown for them in messages

    def say(self, text):
        if text:
            print(text, file=sys.stderr)

    def temporary(self, name):
        """Return a file of this name in the temporary folder; the linker's messages show the
        name."""
        path = self.folder / name
        while path.exists() or path in self.shown_as:
            path = path.with_stem(path.stem + "_")
        self.shown_as[path] = name
        return path

    def run(self, words, output=None):
        """Run a command of the C compiler; its messages go to our standard error."""
        words = list(map(str, words))
        if self.invocation.verbose:
            self.say(shlex.join(words))
        if self.invocation.dry:
            return
        try:
            done = subprocess.run(
                words,
                stdout=output or subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="surrogateescape",
            )
        except OSError as error:
            raise UpcError(
                None, f"cannot start the C compiler {words[0]}: {error.strerror}"
            ) from None
        sys.stdout.write(done.stdout or "")
        sys.stderr.write(self.in_terms_of_source(done.stderr))
        if done.returncode != 0:
            raise StepFailed

    def in_terms_of_source(self, messages):
        """Return the C compiler's messages with the user's names instead of ours."""
        for path, name in self.shown_as.items():
            messages = messages.replace(str(path), name)
        return re.sub(r"\bncupc_main\b", "main", messages)


def position_words(cc):
    """Return the words that suppress the compiler's columns and source lines, which refer to the
    translated text, not to the UPC line named by #line."""
    clang = "clang" in os.path.basename(os.path.realpath(shutil.which(cc[0]) or cc[0]))
    return [
        "-fno-show-column",
        "-fno-caret-diagnostics" if clang else "-fno-diagnostics-show-caret",
    ]
