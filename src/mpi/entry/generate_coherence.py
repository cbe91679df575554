# SPDX-License-Identifier: BSD-3-Clause
"""Generates what an entry point reports before its call goes down, in C and in Fortran: a release,
and where the call receives (see entry_points.txt)."""

import re


def told(row, expression=lambda name: name):
    """Return the reporting statements. `expression` gives the C value of a parameter, by its name.

    Reports of received memory follow the release, which inspects the pages reported after it.
    """
    releases = (
        ["note_release();"] if row.releases else ["note_write();"] if row.kind == "write" else []
    )
    received = row.received
    if received is None:
        return "".join(f"  {line}\n" for line in releases)
    group = (
        ""
        if received.group == "all"
        else f"if (receives_{received.group}({expression('root')}, {expression('comm')})) "
    )
    lines = [*releases, f"{group}{telling(received, expression)};"]
    # The part of a release that is needed even without readers.
    locks = "  take_waiting_locks();\n" if row.releases else ""
    return (
        locks
        + f"  if ({'persistent_receives_are_told' if row.persistent else 'receives_are_told'}()) [[unlikely]] {{\n"
        + "".join(f"    {line}\n" for line in lines)
        + "  }\n"
    )


def telling(received, expression):
    later = str(received.later).lower()
    if received.places == "anywhere":
        return f"tell_received_anywhere({later})"
    name = {
        "block": "tell_received",
        "each": "tell_received_each",
        "displaced": "tell_received_displaced",
        "all": "tell_received_all",
    }[received.places]
    counts = re.sub(
        r"\b[a-z]\w*\b", lambda parameter: expression(parameter.group()), received.counts
    )
    arguments = [expression(received.buffer), counts]
    arguments += [expression(received.displacements)] if received.displacements else []
    arguments += [expression(received.type)]
    arguments += [expression("comm")] if received.places != "block" else []
    return f"{name}({', '.join([*arguments, later])})"
