# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache report FILE --html OUT`: a report as one page, readable without network or scripts.

timeline, histograms, ranks, adaptations    figures with their tables, drawn by svg and bars
verdict, settings                           words, key figures, windows, options, counters
whole_page                                  all of it in template/
"""

from __future__ import annotations

import os
import sys

from ..errors import NearcacheError
from ..files import write_whole
from ..report_file import DAMAGE, damaged
from ..report_parts import Report


def page(document: Report) -> str:
    """Return the page of a report as text."""
    try:
        import jinja2
    except ImportError:
        raise NearcacheError(
            "--html needs the Python package jinja2: pip install jinja2, or Debian's python3-jinja2"
        ) from None
    from .settings import library_tables
    from .whole_page import render

    tables = library_tables()
    try:
        return render(document, tables)
    except (*DAMAGE, jinja2.UndefinedError) as error:
        raise damaged(error) from None


def write(document: Report, source: str, out: str) -> None:
    """Write the page of a report read from `source` to the file `out`; - is standard output."""
    if out != "-" and source != "-" and os.path.exists(out) and os.path.samefile(source, out):
        raise NearcacheError(f"{out} is the report itself; name another file for the page")
    text = page(document).encode("utf-8", "replace")
    if out == "-":
        sys.stdout.buffer.write(text)
        return
    write_whole(out, text)
