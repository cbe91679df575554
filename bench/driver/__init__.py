# SPDX-License-Identifier: BSD-3-Clause
"""Drives the measuring programs of bench/programs and turns their samples into tables and JSON."""
