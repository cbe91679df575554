# SPDX-License-Identifier: BSD-3-Clause
"""Writes files atomically."""

from __future__ import annotations

import os
import stat

from .errors import NearcacheError


def check_folder(option: str, path: str | os.PathLike[str]) -> None:
    """That a file can be written later on fails early, as far as it can be known."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise NearcacheError(f"{option}: there is no folder {folder}")
    special = os.path.exists(path) and not os.path.isfile(path)
    if not special and not os.access(folder, os.W_OK | os.X_OK):
        raise NearcacheError(f"{option}: the folder {folder} cannot be written")


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write bytes to a file atomically: it takes its name only when all is written, so a failure
    leaves the old contents.

    Anything but a regular file is written directly.
    """
    try:
        special = os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode)
        target = path if special else os.path.realpath(path)
        beside = target if special else f"{target}.part.{os.getpid()}"
        try:
            with open(beside, "wb") as file:
                file.write(data)
            if not special:
                os.replace(beside, target)
        except OSError:
            if not special and os.path.exists(beside):
                os.unlink(beside)
            raise
    except OSError as error:
        raise NearcacheError(f"cannot write {path}: {error.strerror}") from None
