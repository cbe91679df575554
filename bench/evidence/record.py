# SPDX-License-Identifier: BSD-3-Clause
"""docs/evidence/context.json: when, on what and by which command each study was measured."""

import json

from driver import context

KEPT = (
    "date",
    "processor",
    "cpus",
    "memory_bytes",
    "kernel",
    "compiler",
    "mpi_version",
    "nearcache",
    "load",
)


def now(launch):
    """Return what must be known to compare figures with others', without the machine's name."""
    gathered = context.gather(launch)
    return {name: gathered[name] for name in KEPT}


def read(folder):
    path = folder / "context.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(folder, studies):
    text = json.dumps(dict(sorted(studies.items())), indent=1)
    (folder / "context.json").write_text(text + "\n", encoding="utf-8")


def sentence(entry):
    """Return the text of a line below a figure."""
    gib = entry["memory_bytes"] / 2**30
    mode = "quick set" if entry["quick"] else "full set"
    return (
        f"{entry['date'][:10]}, {entry['processor']}, {entry['cpus']} cores, {gib:.0f} GiB, {entry['mpi_version']}, "
        f"Nearcache {entry['nearcache']}, {mode}, load {entry['load'][0]:.1f} at the start."
    )
