# SPDX-License-Identifier: BSD-3-Clause
"""The nearcache command: run programs with the cache, read their reports, check this machine."""

__version__ = "0.2.0"
