# SPDX-License-Identifier: BSD-3-Clause
"""Reads the library's JSON report (docs/report.md) and rejects anything else."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .errors import NearcacheError
from .report_parts import Report

FORMAT = "nearcache-report"
VERSIONS = (1, 2, 3)  # 2 adds `details`, 3 the details of OpenSHMEM programs
REQUIRED = ("ranks", "totals", "spread", "wall_seconds", "windows", "verdict")
# Errors raised by a document of the right format and version whose parts have the wrong type or
# shape.
DAMAGE = (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError)


def name_of(file: str) -> str:
    return "standard input" if file == "-" else file


def load(file: str) -> Report:
    """Return the report in a file. Raises an error that says what else the file is."""
    return checked(read(file), name_of(file))


def read(file: str) -> Any:
    """Return the JSON in a file, which may be a pipe."""
    name = name_of(file)
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = data.decode("utf-8-sig")  # editors of other systems mark UTF-8 at its beginning
    except OSError as error:
        raise NearcacheError(f"cannot read {name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise NearcacheError(f"{name} is not a Nearcache report: it is not text") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NearcacheError(f"{name} is not JSON: {error}") from None


def checked(document: Any, name: str) -> Report:
    """Return the document if it is a report. Raises an error that says what else `name` is."""
    kind = document.get("format") if isinstance(document, dict) else None
    if kind != FORMAT:
        found = "it states no format" if kind is None else f"its format is {kind!r}, not {FORMAT!r}"
        raise NearcacheError(f"{name} is not a Nearcache report: {found}")
    if document.get("version") not in VERSIONS:
        known = ", ".join(map(str, VERSIONS[:-1])) + f" and {VERSIONS[-1]}"
        raise NearcacheError(
            f"{name} is a report of version {document.get('version')!r}; this nearcache reads versions {known}"
        )
    missing = [key for key in REQUIRED if key not in document]
    if missing:
        raise NearcacheError(f"{name} is incomplete: it has no {', '.join(missing)}")
    report: Report = document
    return report


def damaged(error: Exception, name: str = "the report") -> NearcacheError:
    """Return the error to raise for one of DAMAGE."""
    return NearcacheError(f"{name} is damaged: {type(error).__name__}: {error}")
