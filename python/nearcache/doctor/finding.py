# SPDX-License-Identifier: BSD-3-Clause
"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Finding:
    level: str  # ok, note, wrong
    text: str
