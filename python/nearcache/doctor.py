# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache doctor`: finds MPIs, OpenSHMEMs and preload objects, tests each, and reports what is
wrong."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import ended, home, host_defects, libraries, mpi, preload, shmem, simulate, tables
from .errors import NearcacheError

if TYPE_CHECKING:
    from .home import PreloadObject
    from .mpi import Mpi

LAUNCHER_NAMES = re.compile(r"(mpiexec|mpirun)(\.(mpich|openmpi|hydra))?")
ROOT_VARIABLES = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
ROOT_VARIABLES_5 = ("PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")
SINGLE_RANK = "it needs two ranks, but was started with 1"  # see selftest.c
SELFTEST_CODES = (0, 1, 2)  # exit codes of a self-test that ran to completion


@dataclass
class Finding:
    level: str  # ok, note, wrong
    text: str


def folders(home_path: Path) -> list[Path]:
    """Return the folders that may hold launchers: PATH, well-known prefixes, the venvs of a source
    tree."""
    found = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    found += [
        Path(os.environ[name]) / "bin"
        for name in ("MPI_HOME", "I_MPI_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX")
        if os.environ.get(name)
    ]
    found += sorted(Path("/opt").glob("*/bin")) + sorted(Path("/usr/lib64").glob("*mpi*/bin"))
    for root in (home.PACKAGE.parents[1], home_path.parent):
        found += sorted((root / ".deps").glob("*/bin"))
    return list(dict.fromkeys(found))


def launchers(places: Iterable[Path]) -> dict[str, Mpi]:
    """Return {path: Mpi} of the launchers in some folders, with one path for each file."""
    found: dict[str, Mpi] = {}
    seen = set()
    for folder in places:
        try:
            names = sorted(
                (name for name in os.listdir(folder) if LAUNCHER_NAMES.fullmatch(name)),
                key=lambda name: (len(name), name),
            )
        except OSError:
            continue
        for name in names:
            path = folder / name
            # Open MPI's launchers are one program that looks at its own name, so links to it are
            # distinguished by folder.
            same = (os.path.realpath(path), os.path.realpath(folder))
            if same in seen or not os.access(path, os.X_OK):
                continue
            seen.add(same)
            owner = mpi.of_launcher(str(path))
            known = {
                (item.tag, os.path.realpath(Path(item.found).parent)) for item in found.values()
            }
            if owner and (owner.tag, same[1]) not in known:
                found[str(path)] = owner
    return found


def folder_beside(library: Path) -> Path:
    """Return the folder of the launchers of the installation that a library belongs to."""
    return library.parent.parent / "bin"


def launcher_for(
    item: PreloadObject, found: Mapping[str, Mpi], library: Path | None = None
) -> str | None:
    """Return the launcher of a preload object's MPI or OpenSHMEM, preferably the one beside the
    library that the self-test loads."""
    if item.is_shmem:
        own = shutil.which("oshrun", path=str(folder_beside(library))) if library else None
        return own or shutil.which("oshrun")
    family = {"abi": "mpich"}.get(item.family, item.family)
    mates = [
        path
        for path, owner in found.items()
        if owner.family == family
        and (
            item.family == "abi"
            or preload.version_numbers(owner.version) == preload.version_numbers(item.version)
        )
    ]
    if library:
        beside = [path for path in mates if Path(path).parent.parent == Path(library).parent.parent]
        mates = beside or mates
    return mates[0] if mates else None


def launch_words(launcher: str, owner: Mpi | PreloadObject) -> list[str]:
    words = [launcher, "-n", "2"]
    if owner.family == "openmpi":
        major = (preload.version_numbers(owner.version) or (4,))[0]
        words += (
            ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
            if major >= 5
            else ["--oversubscribe", "--bind-to", "none"]
        )
    return words


def root_findings(owner: Mpi | PreloadObject) -> list[Finding]:
    """Return what Open MPI requires of root and is not set."""
    if owner.family != "openmpi" or os.geteuid() != 0:
        return []
    major = (preload.version_numbers(owner.version) or (4,))[0]
    wanted = ROOT_VARIABLES + (ROOT_VARIABLES_5 if major >= 5 else ())
    missing = [name for name in wanted if os.environ.get(name) != "1"]
    if not missing:
        return []
    return [
        Finding(
            "note",
            f"Open MPI refuses to run as root unless you export {' '.join(name + '=1' for name in missing)} "
            "(set for this self-test)",
        )
    ]


def run(words: Sequence[str], timeout: float, **variables: str) -> tuple[int | None, str]:
    """Run a command in its own session, so that all of its processes can be ended.

    Returns (exit code, or None after a timeout; output).
    """
    environment = {
        **os.environ,
        **{name: "1" for name in ROOT_VARIABLES + ROOT_VARIABLES_5},
        **variables,
    }

    def end(process: subprocess.Popen[str]) -> None:
        ended.kill_group(process, signal.SIGKILL)

    def use(process: subprocess.Popen[str]) -> tuple[int | None, str]:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            end(process)
            return None, process.communicate()[0]

    return ended.run(
        words,
        use,
        end,  # the terminal's interrupt does not reach that session
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def judge(code: int | None, output: str, timeout: float) -> Finding:
    """Return the finding of a self-test with the object preloaded."""
    ok = re.search(r"selftest: ok hits=(\d+)", output)
    if code is None:
        return Finding("wrong", f"self-test: did not finish within {timeout:g} s")
    if code == 0 and ok and int(ok[1]) > 0:
        return Finding("ok", f"self-test on 2 ranks: {ok[1]} hits")
    if "selftest: nearcache is not loaded" in output:
        return Finding(
            "wrong",
            "self-test: ran, but without the object: preloading has no effect here (a launcher or "
            "container that drops LD_PRELOAD, or secure execution)",
        )
    if SINGLE_RANK in output:
        return Finding(
            "wrong",
            "self-test: this launcher starts each rank as a job of its own, as it and the MPI library have "
            "no process management interface in common (Ubuntu 24.04's MPICH 4.2.0: only launchers with "
            "PMIx start it, such as Open MPI's; or use another MPICH, such as that of `pip install mpich`)",
        )
    if code == 0 and ok:
        return Finding(
            "wrong",
            "self-test: ran, but nothing was served from the cache; NEARCACHE_VERBOSE=2 says why",
        )
    # Launchers add their own lines after the self-test's verdict.
    lines = [line for line in output.strip().splitlines() if line.strip()]
    last = [line for line in lines if line.startswith("selftest: FAILED")] or lines[-4:]
    return Finding(
        "wrong", f"self-test: exit code {code}\n" + "\n".join("    " + line for line in last)
    )


def memory_hook_findings(
    item: PreloadObject, words: Sequence[str], timeout: float
) -> list[Finding]:
    """Check whether this Open MPI's shmem_finalize crashes with the shell's settings, by running
    the self-test without Nearcache."""
    text = (
        shmem.memory_hook_pitfall(os.environ)
        if shmem.has_memory_hook(item.family, item.version)
        else ""
    )
    if (
        not text
        or run([*words, "env", "-u", "LD_PRELOAD", str(item.selftest)], timeout)[0]
        in SELFTEST_CODES
    ):
        return []
    return [Finding("wrong", f"{text} (set for this self-test)")]


def selftest(
    item: PreloadObject, launcher: str, owner: Mpi | PreloadObject, timeout: float
) -> list[Finding]:
    """Run the self-test of an object. If it fails, run it without the object too, to tell trouble
    of the MPI from ours."""
    words = launch_words(launcher, owner)
    shmem.fix_addresses(item.family, item.version)
    findings = memory_hook_findings(item, words, timeout)
    surroundings = (
        {"OMPI_MCA_memory": "^patcher"} if shmem.has_memory_hook(item.family, item.version) else {}
    )
    value = preload.preload_value([item.path], os.environ.get("LD_PRELOAD"))
    variables = [f"LD_PRELOAD={value}", "NEARCACHE_SKIP_CHEAP=false", "NEARCACHE_MODE=always"]
    finding = judge(
        *run([*words, "env", *variables, str(item.selftest)], timeout, **surroundings), timeout
    )
    findings.append(finding)
    if finding.level == "wrong":
        code, output = run(
            [*words, "env", "-u", "LD_PRELOAD", str(item.selftest)], timeout, **surroundings
        )
        if code != 0 and "selftest:" not in output:
            findings.append(
                Finding(
                    "wrong",
                    f"without Nearcache it fails as well: this {kind_of(item)} does not work here ({' '.join(words)})",
                )
            )
    return findings


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


# Values of option rma_fabric, and how each is described.
FABRICS = {"socket": "over TCP", "ofi": "by libfabric", "node": "by shared memory"}


def judge_engine(way: str, code: int | None, output: str, timeout: float) -> Finding:
    """Return the finding of a self-test on the RMA engine: whether it works, or why windows stay
    with the host MPI."""
    finding = judge(code, output, timeout)
    if finding.level == "wrong":
        return Finding("wrong", f"RMA engine {way}: {finding.text}")
    left = re.search(r"a window does not use the RMA engine: (.*)", output)
    if left or "a window uses the RMA engine" not in output:
        why = f": {left[1]}" if left else ""
        return Finding("note", f"RMA engine {way}: windows are left to the MPI{why}")
    return Finding("ok", f"RMA engine {way} (option rma)")


def engine_findings(
    item: PreloadObject, launcher: str, owner: Mpi | PreloadObject, timeout: float
) -> list[Finding]:
    """Test each fabric of the RMA engine between two ranks of this node."""
    words = launch_words(launcher, owner)
    value = preload.preload_value([item.path], os.environ.get("LD_PRELOAD"))
    findings = []
    for fabric, way in FABRICS.items():
        variables = {
            "LD_PRELOAD": value,
            "NEARCACHE_RMA": "on",
            "NEARCACHE_RMA_FABRIC": fabric,
            # the one provider that needs no special hardware
            "NEARCACHE_RMA_PROVIDER": os.environ.get("NEARCACHE_RMA_PROVIDER") or "tcp",
            "NEARCACHE_VERBOSE": "2",
            "NEARCACHE_SKIP_CHEAP": "false",
            "NEARCACHE_MODE": "always",
        }
        settings = [f"{name}={text}" for name, text in variables.items()]
        code, output = run([*words, "env", *settings, str(item.selftest)], timeout)
        findings.append(judge_engine(way, code, output, timeout))
    return findings


def kind_of(item: PreloadObject) -> str:
    return "OpenSHMEM" if item.is_shmem else "MPI"


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
                    f"the {kind_of(item)} library of {item.tag} is not found any more; rebuild Nearcache",
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
                    "(in a checkout cmake --preset library -DNEARCACHE_MPICC=/path/mpicc)",
                )
            ]
        )
    wrong = sum(finding.level == "wrong" for finding in everything)
    click.echo(
        "nothing is wrong" if not wrong else f"{wrong} problem{'s' if wrong > 1 else ''} found"
    )
    return wrong == 0
