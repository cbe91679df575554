# SPDX-License-Identifier: BSD-3-Clause
"""The command line of nearcache: run, advise, simulate, report, compare, options, counters, doctor,
build."""

from __future__ import annotations

import importlib
import re
import shlex
from typing import Any

import click
from click.core import ParameterSource

from . import __version__, common_options, tables
from .ended import signals_as_exceptions
from .errors import EXIT_UNHEALTHY, Command, Commands, NearcacheError

EPILOG = (
    "Exit codes: the program's for run, and for advise if the program fails; 0 success, 2 wrong usage or unreadable file, 3 doctor found something "
    "wrong, 125 run or advise refused the program and started nothing."
)

# Commands in modules of their own, which take longer to import than `run` to start a program: each
# is imported when it is first asked for.
SEPARATE = ("advise", "build", "compare", "simulate")


class AllCommands(Commands):
    """All commands, some of which are imported later."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *SEPARATE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in SEPARATE and cmd_name not in self.commands:
            module = importlib.import_module(f".{cmd_name}", __package__)
            self.add_command(getattr(module, cmd_name))
        return super().get_command(ctx, cmd_name)

    def all_by_name(self) -> dict[str, click.Command]:
        """Return all commands, sorted by name."""
        ctx = click.Context(self)
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return {name: each for name, each in found if each}


@click.group(
    cls=AllCommands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
    short_help="cache for one-sided communication",
)
@click.version_option(__version__, prog_name="nearcache")
def main() -> None:
    """Nearcache: a cache for the one-sided communication of MPI and OpenSHMEM programs."""


class RunCommand(Command):
    """The command `run`, whose options come from the library's table; they are read when first
    needed."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        if not getattr(self, "derived", None):
            self.derived = [
                click.Option(
                    [*dict.fromkeys([option.flag, "--" + option.name]), option.name],
                    metavar=option.type.upper(),
                    help=_help_of(option),
                )
                for option in tables.load().options
            ]
        return [*super().get_params(ctx), *self.derived]

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parser.allow_interspersed_args = False  # what follows the command belongs to it
        return parser


def _help_of(option: tables.Option) -> str:
    default = f" [default: {option.default}]" if option.default else ""
    first = re.match(r"[\w-]*", option.help)
    values = {value for each in tables.load().options for value in each.values}
    if first and first[0] in values:  # keep it as typed
        return option.help + default
    return f"{option.help[:1].upper()}{option.help[1:]}{default}"


@main.command(
    cls=RunCommand,
    epilog=EPILOG,
    short_help="Run a program with its one-sided communication cached",
)
@click.option(
    "--mpi",
    "tag",
    metavar="TAG",
    help="Use the preload object of this MPI (such as mpich-4.0.2) or OpenSHMEM (oshmem-4.1.4) without looking at the program",
)
@click.option("--dry-run", is_flag=True, help="Print the command that would be started, and stop")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def run(words: tuple[str, ...], tag: str | None, dry_run: bool, **given: str) -> None:
    """Run COMMAND (mpiexec ... ./program ..., oshrun ... ./program ...) with its one-sided communication cached.

    Determines which MPI or OpenSHMEM the program uses and preloads the matching object into its ranks, not into the launcher.
    Options are those of the library; `--report -` prints a report at the end, `--report FILE` writes it as JSON.
    """
    from . import run as runner

    context = click.get_current_context()
    values = [
        (option, given[option.name])
        for option in tables.load().options
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    started, choices = runner.prepare(list(words), values, tag)
    for choice in choices:
        if choice.note:
            click.echo(f"nearcache: {choice.note}", err=True)
    if dry_run:
        click.echo(shlex.join(started))
        return
    runner.start(started)


@main.command(cls=Command, short_help="Show a JSON report as text or as a page")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@common_options.width
@click.option(
    "--html",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="OUT",
    help="Write a self-contained page with charts for a browser instead; - is standard output",
)
def report(file: str, width: int | None, html: str | None) -> None:
    """Show the JSON report FILE (of NEARCACHE_REPORT or run --report) as text, or as a page; - reads standard input."""
    from . import report as reports

    document = reports.load(file)
    if html is None:
        reports.show(document, width)
        return
    from . import html as pages

    pages.write(document, file, html)


@main.command(cls=Command, short_help="List every option with its default")
@click.option("--markdown", is_flag=True, help="Print docs/options.md")
@common_options.width
def options(markdown: bool, width: int | None) -> None:
    """List every option with its default."""
    from . import listing

    listing.show_options(tables.load(), markdown, width)


@main.command(cls=Command, short_help="List every counter of the reports")
@click.option("--markdown", is_flag=True, help="Print as Markdown")
@common_options.width
def counters(markdown: bool, width: int | None) -> None:
    """List every counter of the reports."""
    from . import listing

    listing.show_counters(tables.load(), markdown, width)


def positive(_context: click.Context, _option: click.Parameter, value: float) -> float:
    if not 0 < value <= 86400:
        raise click.BadParameter(f"{value:g} is not allowed; allowed: seconds, at most a day")
    return value


@main.command(
    cls=Command,
    epilog="Exits with 3 if something is wrong.",
    short_help="Look for MPIs and objects, and test whether each works",
)
@click.option("--no-run", is_flag=True, help="Only look; start no self-tests")
@click.option(
    "--mpi",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Check this MPI or OpenSHMEM only; may be repeated",
)
@click.option(
    "--timeout",
    type=float,
    default=30,
    show_default=True,
    callback=positive,
    help="Seconds that a self-test may take",
)
def doctor(no_run: bool, tags: tuple[str, ...], timeout: float) -> None:
    """Look for MPIs, OpenSHMEMs and preload objects, run a self-test of each on 2 ranks, report what is wrong and how to fix it."""
    from . import doctor as check

    with signals_as_exceptions():
        healthy = check.examine(run_tests=not no_run, tags=tags, timeout=timeout)
    if not healthy:
        raise click.exceptions.Exit(EXIT_UNHEALTHY)


__all__ = ["main", "NearcacheError"]
