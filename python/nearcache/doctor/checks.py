# SPDX-License-Identifier: BSD-3-Clause
"""Examines a home and its objects, and prints what it finds."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import home, host_defects, libraries, mpi, preload, shmem, simulate, tables
from ..errors import NearcacheError
from .finding import Finding
from .launchers import folder_beside, folders, launcher_for, launchers, root_findings
from .selftest import engine_findings, selftest

if TYPE_CHECKING:
    from ..home import PreloadObject
    from ..mpi import Mpi


def host_findings(item: PreloadObject, library: Path) -> list[Finding]:
    """Return the known defects of the library that an object was built for."""
    try:
        rows = tables.load().host_defects
    except NearcacheError:  # reported elsewhere
        return []
    family, version = (
        ("oshmem", item.version)
        if item.family == "oshmem"
        else mpi.implementation(mpi.library_text(str(library)) or "")
    )
    name = " ".join(filter(None, (host_defects.NAMES.get(family), version)))
    return [
        Finding("note", f"{name} has a known defect: {row.what} ({row.answer})")
        for row in host_defects.of(family, version, rows)
    ]


def examine_object(
    item: PreloadObject, found: Mapping[str, Mpi], run_tests: bool, timeout: float
) -> list[Finding]:
    if not item.selftest.exists():
        return [Finding("note", f"no self-test program ({item.selftest})")]
    findings = []
    try:
        used = libraries.used_by(item.selftest)
        library = used.shmem if item.is_shmem else used.mpi
        if library:  # of the modules of a cluster, only those that are loaded are in PATH
            found = {**launchers([folder_beside(library)]), **found}
        launcher = launcher_for(item, found, library)
        if library is None:
            return [
                Finding(
                    "wrong",
                    f"the {item.kind} library of {item.tag} is not found any more; rebuild Nearcache",
                )
            ]
    except (OSError, ValueError) as error:
        return [Finding("wrong", str(error))]
    if not launcher:
        name = "oshrun" if item.is_shmem else "mpiexec"
        return [
            Finding("wrong", f"there is no {name} of {item.tag}: install it or put it into PATH")
        ]
    owner = found.get(launcher) or item
    findings += root_findings(owner)
    heap = shmem.heap_pitfall(os.environ) if item.family == "oshmem" else ""
    if heap:
        findings.append(Finding("wrong", heap))
    findings.append(Finding("ok", f"launcher {launcher}, library {library}"))
    findings += host_findings(item, library)
    if run_tests:
        try:
            findings += selftest(item, launcher, owner, timeout)
            if not item.is_shmem and findings[-1].level == "ok":
                findings += engine_findings(item, launcher, owner, timeout)
        except (OSError, NearcacheError) as error:
            findings.append(Finding("wrong", str(error)))
    return findings


def environment_findings() -> list[Finding]:
    """Return findings about this shell's settings that affect runs."""
    findings = []
    if os.environ.get("LD_PRELOAD"):
        findings.append(
            Finding(
                "note",
                f"LD_PRELOAD is set ({os.environ['LD_PRELOAD']}); nearcache run puts its object before it",
            )
        )
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        findings.append(
            Finding(
                "note", "one core: the ranks of a test share it; Open MPI needs --oversubscribe"
            )
        )
    return findings


def old_pycparser() -> str:
    """Return the version of a pycparser that is too old for upcc, else an empty text."""
    import pycparser

    version: str = pycparser.__version__
    return version if [int(part) for part in version.split(".")[:2]] < [3, 12] else ""


def upc_findings(where: home.Home, item: PreloadObject) -> list[Finding]:
    """Return whether upcc can compile UPC for this OpenSHMEM."""
    archive = item.path.parent / "libnearcache_upc.a"
    if not archive.exists():
        return [Finding("note", f"no UPC: {archive} is not built")]
    missing = []
    if sys.version_info < (3, 11):
        missing.append(
            f"a newer Python (this is {sys.version_info[0]}.{sys.version_info[1]}, upcc needs 3.11)"
        )
    if not importlib.util.find_spec("pycparser"):
        missing.append("the Python package pycparser (pip install 'pycparser>=3.12')")
    elif old := old_pycparser():
        missing.append(f"pycparser 3.12 (this is {old}; pip install 'pycparser>=3.12')")
    if not (where.upc_headers() / "upc.h").exists():
        missing.append(f"its headers ({where.upc_headers()})")
    if not where.upc.exists():
        missing.append(str(where.upc))
    if missing:
        return [Finding("wrong", f"UPC: the runtime is there, but upcc lacks {', '.join(missing)}")]
    return [Finding("ok", f"UPC: upcc and upcrun, runtime {archive}")]


def home_findings(where: home.Home, objects: Collection[PreloadObject]) -> list[Finding]:
    """Return findings about what a home must have."""
    findings = []
    if not where.tables.exists():
        findings.append(
            Finding(
                "wrong",
                f"the table of options is missing: {where.tables}; build it: cmake --build build",
            )
        )
    if not objects:
        findings.append(
            Finding(
                "wrong",
                "there are no preload objects; build them: nearcache build, or in a checkout cmake --build build",
            )
        )
    if preload.SEPARATORS.search(str(where.path)):
        findings.append(
            Finding(
                "wrong",
                "the loader separates preload objects by blanks and colons, so none in this folder can be "
                "preloaded; move Nearcache to a folder without them",
            )
        )
    try:
        simulate.executable()
    except NearcacheError as error:
        findings.append(Finding("note", f"no advise and no simulate: {error.message}"))
    return findings


def mpis_without_object(
    found: Mapping[str, Mpi], objects: Collection[PreloadObject]
) -> dict[str, str]:
    """{tag: launcher} of MPIs of which there is no object of the same version."""
    return {
        owner.tag: path
        for path, owner in found.items()
        if not any(
            item.family == owner.family
            and preload.version_numbers(item.version) == preload.version_numbers(owner.version)
            for item in objects
        )
    }


def _show(findings: Iterable[Finding]) -> None:
    styles = {"ok": ("ok   ", "green"), "note": ("note ", "yellow"), "wrong": ("WRONG", "red")}
    colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for finding in findings:
        label, colour = styles[finding.level]
        shown = click.style(label, fg=colour) if colours else label
        click.echo(f"  {shown} {finding.text}")


def examine(run_tests: bool = True, tags: Collection[str] = (), timeout: float = 30) -> bool:
    """Print all findings; return True if nothing is wrong."""
    where = home.find()
    click.echo(f"Nearcache in {where.path}")
    found = launchers(folders(where.path))
    objects = where.objects()
    unknown = set(tags) - {item.tag for item in objects}
    if unknown:
        raise NearcacheError(
            f"there is no preload object {', '.join(sorted(unknown))}; there are: "
            + (", ".join(item.tag for item in objects) or "none")
        )
    findings = environment_findings() + home_findings(where, objects)
    _show(findings)
    everything = list(findings)
    for item in objects:
        if tags and item.tag not in tags:
            continue
        click.echo(f"{item.tag}: {item.path}")
        findings = examine_object(item, found, run_tests, timeout)
        findings += upc_findings(where, item) if item.is_shmem else []
        _show(findings)
        everything += findings
    others = {} if tags else mpis_without_object(found, objects)
    for tag, path in sorted(others.items()):
        click.echo(f"{tag}: {path}")
        _show(
            [
                Finding(
                    "note",
                    "there is no preload object for this MPI; nearcache build --mpicc /path/mpicc makes one "
                    "(in a checkout cmake --preset library -DNEARCACHE_MPICC=/path/mpicc "
                    "&& cmake --build build)",
                )
            ]
        )
    wrong = sum(finding.level == "wrong" for finding in everything)
    click.echo(
        "nothing is wrong" if not wrong else f"{wrong} problem{'s' if wrong > 1 else ''} found"
    )
    return wrong == 0
