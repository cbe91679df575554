# SPDX-License-Identifier: BSD-3-Clause
"""The library's JSON report: read, evaluated, shown as text (html/ makes a page of it)."""

from .report_counts import ACCESS_TYPES, HITS, bytes_text, hit_rate, hits
from .report_file import load
from .report_text import show

__all__ = ["ACCESS_TYPES", "HITS", "bytes_text", "hit_rate", "hits", "load", "show"]
