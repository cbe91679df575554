# SPDX-License-Identifier: BSD-3-Clause
"""`nearcache run`: finds the program's MPI or OpenSHMEM and starts the command with the right
objects preloaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from . import command, elf, ended, home, mpi, preload, shmem, tables
from .errors import NearcacheError, Refused
from .values import read_bytes


def variables_of(values: Iterable[tuple[tables.Option, str]]) -> dict[str, str]:
    """Return the NEARCACHE_* variables for a list of (option, text). Raises an error if a value is
    not allowed."""
    variables = {}
    for option, text in values:
        option.check(text)
        if option.name == "report" and text in ("", "0", "1", "-"):
            text = "1" if text == "-" else text  # `-` is the short report on standard error
        elif option.type == "path" and text:
            # Ranks may run in another folder. The current folder's name is not a pattern, so its %
            # are escaped.
            text = os.path.normpath(os.path.join(os.getcwd().replace("%", "%%"), text))
        variables[option.variable] = text
    return variables


def inherited_variables(environment: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the options set in our own environment, which launchers would not pass on to other
    hosts, without those that are `given` on the command line."""
    options = {option.variable: option for option in tables.load().options}
    found = {
        name: value for name, value in environment.items() if name in options and name not in given
    }
    for name, value in found.items():
        options[name].check(value, name)
    return found


def check_pages(variables: Mapping[str, str]) -> None:
    """Apply the library's rules for page cache sizes that depend on each other
    (src/shmem/cache_options.cpp)."""

    def read(name: str) -> float:
        option = tables.load().option(name)
        if option is None:
            raise NearcacheError(f"the table of options is of another version: it has no {name}")
        return read_bytes(variables.get(option.variable, option.default)) or 0

    page, line, size = read("shmem_page"), read("shmem_line"), read("shmem_size")
    if not page / 64 <= line <= page:
        raise NearcacheError(
            f"--shmem-line: {line:.0f} is not allowed; allowed: from {page / 64:.0f} to {page:.0f} (a page)"
        )
    if size < 8 * page:
        raise NearcacheError(
            f"--shmem-size: {size:.0f} is not allowed; allowed: at least {8 * page:.0f} bytes (8 pages)"
        )


def warn_of_folders(variables: Mapping[str, str]) -> None:
    """Warn if a file is to be written to a folder that does not exist here; it may exist where the
    writer runs."""
    for option in tables.load().options:
        path = variables.get(option.variable, "") if option.type == "path" else ""
        folder = os.path.dirname(path)
        if (
            path not in ("", "0", "1", "-")
            and "%" not in folder
            and folder
            and not os.path.isdir(folder)
        ):
            print(f"nearcache: {option.flag}: there is no folder {folder} here", file=sys.stderr)


def choose_objects(parsed: command.Command, tag: str | None) -> list[preload.Choice]:
    """Return the preload objects for all programs of a command."""
    objects = home.find().objects()
    if tag:
        # a program that runs without Nearcache would keep the others waiting
        for program in parsed.programs:
            look = command.locate_in_launcher if parsed.launcher else command.locate
            path = look(parsed.words[program.start], folder=program.folder)
            if path and elf.is_elf(path):
                mpi.check_preload(path)
        return [preload.by_tag(tag, objects)]
    found = [
        mpi.of_program(
            parsed.words[program.start], parsed.launcher, program.folder, program.assignments
        )
        for program in parsed.programs
    ]
    families = sorted({"+".join(item.family for item in used) for used in found})
    if len(families) > 1:
        raise Refused(f"the programs of this command use different MPIs: {', '.join(families)}")
    return preload.choose_all(found[0], objects)


def warn_of_launcher(launcher: str, chosen: home.PreloadObject) -> None:
    """Warn if the launcher belongs to another MPI than the program: each rank would run alone."""
    path = command.locate(launcher) if launcher else None
    started_by = mpi.of_launcher(path) if path else None
    # MPICH's mpiexec also starts programs of the standard ABI, and Open MPI's those of its
    # OpenSHMEM.
    families = {"abi": ("abi", "mpich", "openmpi"), "oshmem": ("openmpi",)}.get(
        chosen.family, (chosen.family,)
    )
    if chosen.family in ("sandia", "openshmem"):  # any launcher that speaks PMI starts them
        return
    if started_by and started_by.family not in families:
        print(
            f"nearcache: {launcher} belongs to {started_by.tag}, but the program to {chosen.family}: "
            "its ranks will not find each other",
            file=sys.stderr,
        )


def warn_of_memory_hook(
    parsed: command.Command, chosen: home.PreloadObject, environment: Mapping[str, str]
) -> None:
    """Warn if Open MPI's shmem_finalize is going to crash, with or without Nearcache."""
    given = {
        **environment,
        **{
            name: value
            for program in parsed.programs
            for name, value in program.assignments.items()
        },
    }
    text = (
        shmem.memory_hook_pitfall(given, parsed.words)
        if shmem.has_memory_hook(chosen.family, chosen.version)
        else ""
    )
    if text:
        print(f"nearcache: {text}", file=sys.stderr)


def prepare(
    words: Sequence[str],
    values: Iterable[tuple[tables.Option, str]],
    tag: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[list[str], list[preload.Choice]]:
    """Return the words to start instead of `words`, and the choices made."""
    environment = os.environ if environment is None else environment
    parsed = command.parse(words)
    if parsed.config_file:
        raise Refused(
            "the programs are listed in a file that the launcher reads; name them on the command line"
        )
    if not parsed.programs:
        raise Refused(f"there is no program in: {' '.join(words)}")
    if any(os.path.basename(words[program.start]) == command.UPCRUN for program in parsed.programs):
        raise Refused("upcrun takes these options itself: upcrun --report - -n 2 ./program")
    given = variables_of(values)
    variables = {**inherited_variables(environment, given), **given}
    check_pages(variables)
    choices = choose_objects(parsed, tag)
    warn_of_folders(variables)
    warn_of_launcher(parsed.launcher, choices[0].object)
    warn_of_memory_hook(parsed, choices[0].object, environment)
    return preload.insert(
        parsed, [choice.object.path for choice in choices], variables, environment
    ), choices


def start(words: Sequence[str]) -> NoReturn:
    """Replace this process by the program."""
    try:
        ended.replace(words)
    except OSError as error:
        raise Refused(f"cannot start {words[0]}: {error.strerror}") from None
