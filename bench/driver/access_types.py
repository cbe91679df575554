# SPDX-License-Identifier: BSD-3-Clause
"""The counters that say how gets were answered; each get is in one of them."""

TYPES = (
    "hits_full",
    "hits_pending",
    "hits_partial",
    "direct",
    "conflicting",
    "capacity",
    "failing",
    "bypassed",
)
