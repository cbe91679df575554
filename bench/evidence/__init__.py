# SPDX-License-Identifier: BSD-3-Clause
"""Reproduces the figures of the CLaMPI paper: measurements, CSV, plots and the page
docs/evidence.md."""
