# SPDX-License-Identifier: BSD-3-Clause
"""The simulated network of `bench/run scale`."""
