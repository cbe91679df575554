# SPDX-License-Identifier: BSD-3-Clause
"""upcrun: starts a UPC program under its OpenSHMEM's launcher, with the environment that both need.

It replaces itself with the launcher, so that signals, standard input and output and the exit code
are the program's own.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

import click
from click.core import ParameterSource

from .. import __version__, command, run, shmem, tables
from ..cli import RunCommand
from ..errors import NearcacheError
from ..values import read_heap_size
from . import toolchain
from .diagnostics import UpcError
from .preprocess import MAX_THREADS

HEAP = "NEARCACHE_UPC_SHARED_HEAP"
# size of the library's own heap
SYMMETRIC = ("SMA_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE")
# Options of MPI programs, too, that the cache for OpenSHMEM has.
SHARED_OPTIONS = ("report", "verbose", "skip_cheap", "max_storage", "trace", "model")
LARGEST_HEAP = 16 << 30  # range of the address in a packed pointer to shared
ROOT = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
)


class Stopped(NearcacheError):
    """A NearcacheError shown under this command's name."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"upcrun: {self.format_message()}", err=True)


class UpcrunCommand(RunCommand):
    """Accepts the library's options for OpenSHMEM, but not those for MPI."""

    error_class = Stopped

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        chosen = super().get_params(ctx)
        of_mpi = {
            option.name
            for option in self.derived
            if not option.name.startswith("shmem_") and option.name not in SHARED_OPTIONS
        }
        return [param for param in chosen if param.name not in of_mpi]


@dataclass
class Plan:
    """The words to start, and the variables to set for them."""

    words: list[str]
    variables: dict[str, str]
    family: str  # of the OpenSHMEM
    version: str
    note: str = ""  # for the user

    def text(self) -> str:
        return "\n".join(
            [f"{name}={shlex.quote(value)}" for name, value in sorted(self.variables.items())]
            + [shlex.join(self.words)]
        )


class Size(click.ParamType):  # type: ignore[type-arg]  # generic in new versions of click
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        size = read_heap_size(str(value))
        if not size:
            self.fail(
                f"{value!r} is not a size: give a number of megabytes, or one with K, M, G or T",
                param,
                ctx,
            )
        return size


@dataclass
class Linked:
    """What a program was linked for; None and False if it was stripped."""

    threads: int | None = None  # upcc -T
    heap: int | None = None  # upcc -shared-heap
    struct_pointers: bool = False
    told: bool = False  # whether its symbols say so
    other: bool = False  # whether they are those of a program that upcc has not linked


def linked(program: str) -> Linked:
    try:
        listed = subprocess.run(["nm", program], capture_output=True, text=True).stdout
    except OSError:
        return Linked()
    known = {
        name: int(value, 16)
        for value, name in re.findall(r"^([0-9a-f]+) [Aa] ncupc_(\w+)$", listed, re.M)
    }
    return Linked(
        known.get("static_threads"),
        known.get("shared_heap"),
        "struct_pointers" in known,
        " ncupc_main\n" in listed,
        " main\n" in listed and " ncupc_main\n" not in listed,
    )


def thread_count(asked: int | None, program: str, built: Linked) -> int:
    """Return the number of threads to start. Raises an error if the program was compiled for
    another number, or cannot address that many."""
    fixed = built.threads
    most = MAX_THREADS[built.struct_pointers or not built.told]
    if asked and asked > most:
        more = (
            "; compiled with upcc --struct-pointers it would run on more"
            if most < MAX_THREADS[True]
            else ""
        )
        raise NearcacheError(f"-n {asked}: {program} runs on {most:,} threads at most{more}")
    if asked is None and fixed is None:
        raise NearcacheError(
            "the number of threads is missing: use upcrun -n N (the program was not compiled for a fixed number by upcc -T=N)"
        )
    if asked and fixed and asked != fixed:
        raise NearcacheError(
            f"{program} was compiled for {fixed} threads (upcc -T={fixed}) and cannot run with -n {asked}"
        )
    return cast(int, asked or fixed)


def launcher(tag: str) -> tuple[str, str, str]:
    """Return the oshrun of the program's OpenSHMEM, its family and version."""
    try:
        tools = toolchain.find(tag=tag)
        family, _, version = tools.tag.partition("-")
        return tools.oshrun, family, version
    except UpcError as error:
        raise NearcacheError(error.message.replace("--shmem=", "--shmem-tag ")) from None


def openmpi_variables(threads: int, environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables for Open MPI: version 4's finalize crashes with its memory hook, and waiting
    threads must yield the processors that they share."""
    wanted = {"OMPI_MCA_memory": "^patcher"}
    if os.geteuid() == 0:
        wanted.update({name: "1" for name in ROOT})
    if threads > len(os.sched_getaffinity(0)):
        wanted["OMPI_MCA_mpi_yield_when_idle"] = "1"
    return {name: value for name, value in wanted.items() if name not in environment}


def launch_words(
    program: str, family: str, threads: int, per_node: int | None, more: list[str]
) -> list[str]:
    words = [program, "-n", str(threads)]
    if family == "oshmem":
        if threads > len(os.sched_getaffinity(0)):
            words += ["--oversubscribe", "--bind-to", "none"]
        words += ["--map-by", f"ppr:{per_node}:node"] if per_node else []
    elif per_node:
        words += ["-N", str(per_node)]
    return words + more


def plan(
    words: list[str],
    threads: int | None,
    cache: bool | None = None,
    heap: int | None = None,
    per_node: int | None = None,
    tag: str = "",
    more: Iterable[str] = (),
    values: Iterable[tuple[tables.Option, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """Return the Plan for a program and its arguments."""
    environment = os.environ if environment is None else environment
    program = command.locate(words[0]) or command.locate("./" + words[0])
    if program is None:
        raise NearcacheError(command.why_not_located(words[0]))
    program = (
        os.path.join(".", program) if os.path.exists(words[0]) and "/" not in program else program
    )
    built = linked(program)
    threads = thread_count(threads, program, built)
    heap = heap or (built.heap if HEAP not in environment else None)
    oshrun, family, version = launcher(tag)
    variables = dict(run.variables_of(values))
    inherited = run.inherited_variables(environment, variables)
    run.check_pages({**inherited, **variables})
    if cache is not None:
        variables["NEARCACHE_SHMEM"] = "true" if cache else "off"
    if heap:  # the runtime makes the library's symmetric heap large enough for it
        variables[HEAP] = str(heap)
    passed = {
        **inherited,
        **{name: environment[name] for name in (HEAP, *SYMMETRIC) if name in environment},
        **variables,
    }
    started = launch_words(oshrun, family, threads, per_node, list(more))
    if family == "oshmem":
        variables.update(openmpi_variables(threads, environment))
        started += [word for name in sorted(passed) for word in ("-x", name)]  # also on other hosts
    note = (
        f"{program} is not linked by upcc: unless it starts a UPC program, each of its {threads} copies is on its own"
        if built.other and threads > 1
        else ""
    )
    return Plan(started + [program, *words[1:]], variables, family, version, note)


@click.command(
    cls=UpcrunCommand,
    short_help="Run a UPC program",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="The exit code is the program's, or the launcher's. 2: wrong usage; 125: nothing could be started.",
)
@click.version_option(__version__, prog_name="upcrun")
@click.option(
    "-n",
    "-np",
    "threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of threads; by default what the program was compiled for (upcc -T=N)",
)
@click.option(
    "-N", "--per-node", type=click.IntRange(min=1), metavar="N", help="Threads on each node"
)
@click.option(
    "--cache/--no-cache",
    default=None,
    help="Cache accesses to other threads' memory, or not  [cache]",
)
@click.option(
    "--shared-heap",
    "-shared-heap",
    "heap",
    type=Size(),
    metavar="SIZE",
    help="Memory of each thread for shared data, such as 512M; a plain number means megabytes  [64M]",
)
@click.option(
    "--shmem-tag",
    "tag",
    default="",
    metavar="TAG",
    help="The OpenSHMEM, if there are several (oshmem-4.1.4)",
)
@click.option(
    "--launcher-args",
    "more",
    type=click.UNPROCESSED,  # may be empty
    default="",
    metavar="WORDS",
    help="Options for oshrun, in one word: '--hostfile hosts'",
)
@click.option(
    "-q",
    "quiet",
    is_flag=True,
    help="As in Berkeley's upcrun; no effect, as upcrun is always quiet",
)
@click.option(
    "-localhost",
    is_flag=True,
    help="As in Berkeley's upcrun; no effect, as threads run here unless the launcher is given other machines",
)
@click.option(
    "-c",
    "cores",
    type=click.IntRange(min=1),
    metavar="N",
    help="As in Berkeley's upcrun (cores of a node); ignored, with a note",
)
@click.option("--dump-options", is_flag=True, help="Print what would be set and started, and stop")
@click.option("-v", "--show", is_flag=True, help="Print what is started")
@click.argument(
    "words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENTS]"
)
def main(
    words: tuple[str, ...],
    threads: int | None,
    per_node: int | None,
    cache: bool | None,
    heap: int | None,
    tag: str,
    more: str,
    dump_options: bool,
    show: bool,
    cores: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Run a UPC program that upcc has linked.

    Options that are not described here are the cache's, as of `nearcache run`: `--report -` prints a report of it at the end.
    """
    context = click.get_current_context()
    values = [
        (option, given[option.name])
        for option in tables.load().options
        if option.name in given
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if cores and not quiet:
        click.echo(
            f"upcrun: note: -c {cores} has no meaning here and is ignored (--launcher-args has the launcher's own options)",
            err=True,
        )
    if heap and heap > LARGEST_HEAP:
        click.echo(
            f"upcrun: note: more than {LARGEST_HEAP >> 30}G for each thread need programs compiled with --struct-pointers",
            err=True,
        )
    try:
        launcher_words = shlex.split(more)
    except ValueError as error:
        raise Stopped(f"--launcher-args: {str(error).lower()}: {more}") from None
    try:
        chosen = plan(list(words), threads, cache, heap, per_node, tag, launcher_words, values)
        if chosen.note and not quiet:
            click.echo(f"upcrun: note: {chosen.note}", err=True)
        if dump_options:
            click.echo(chosen.text())
            return
        if show:
            click.echo(shlex.join(chosen.words), err=True)
        os.environ.update(chosen.variables)
        shmem.fix_addresses(chosen.family, chosen.version)
        run.start(chosen.words)
    except NearcacheError as error:
        raise Stopped(error.message, error.exit_code) from None
