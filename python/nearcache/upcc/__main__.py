# SPDX-License-Identifier: BSD-3-Clause
"""python -m nearcache.upcc: runs upcc where its script is not installed."""

from .driver import entry

entry()
