"""Runs the commands of upcc's steps, with a folder for what is between them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from .diagnostics import UpcError


class StepFailed(Exception):
    """A command failed; it has said why. The exit code of upcc is 1, as of cc."""


class Runner:
    def __init__(self, invocation, folder):
        self.invocation = invocation
        self.folder = Path(folder)
        self.shown_as = {}  # temporary files, and what messages shall name instead

    def say(self, text):
        if text:
            print(text, file=sys.stderr)

    def temporary(self, name):
        """A file of this name in the temporary folder; messages of the linker show it."""
        path = self.folder / name
        while path.exists() or path in self.shown_as:
            path = path.with_stem(path.stem + "_")
        self.shown_as[path] = name
        return path

    def run(self, words, output=None):
        """Runs a command of the C compiler; its messages go to our standard error."""
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
        """Messages of the C compiler with the user's names in place of ours."""
        for path, name in self.shown_as.items():
            messages = messages.replace(str(path), name)
        return re.sub(r"\bncupc_main\b", "main", messages)


def position_words(cc):
    """The compiler's columns and source lines are those of the translated text, not of the UPC line that #line names: left out."""
    clang = "clang" in os.path.basename(os.path.realpath(shutil.which(cc[0]) or cc[0]))
    return [
        "-fno-show-column",
        "-fno-caret-diagnostics" if clang else "-fno-diagnostics-show-caret",
    ]
