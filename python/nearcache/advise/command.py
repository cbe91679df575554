# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `nearcache advise`."""

from __future__ import annotations

import json as json_module
import shutil
import sys
from collections.abc import Sequence
from typing import Any, Union

import click

from .. import common_options, simulate
from ..ended import signals_as_exceptions, told
from ..errors import Command, NearcacheError
from ..files import check_folder, write_whole
from ..values import problem
from . import judgement, measure, openshmem, text
from .advice import Advice

Advised = Union[Advice, openshmem.PageAdvice]


class AdviseCommand(Command):
    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parser.allow_interspersed_args = False  # what follows the command belongs to it
        return parser


def checked_model(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> str | None:
    wrong = problem("model", text) if text is not None else ""
    if wrong or text == "":
        raise click.BadParameter(
            f"'{text}' is not allowed; allowed: {wrong or problem('model', 'x')}"
        )
    return text


@click.command(cls=AdviseCommand, short_help="Run a program and tell whether caching would help")
@click.option(
    "--mpi",
    "tag",
    metavar="TAG",
    help="Use the preload object of this MPI without looking at the program",
)
@click.option(
    "--keep",
    metavar="PREFIX",
    help="Keep the traces, as PREFIX.<rank>.nctrace  [default: they are deleted]",
)
@click.option(
    "--from",
    "traces",
    multiple=True,
    metavar="TRACE",
    help="Run nothing: judge these traces (a file, or a prefix for all ranks)",
)
@click.option(
    "--model",
    metavar="L,G",
    callback=checked_model,
    help="A get of n bytes costs L + G*n ns where the program is to run, instead of what this run measures",
)
@click.option(
    "--json",
    metavar="FILE",
    help="Also write the advice as JSON; - is standard output, without the text",
)
@common_options.width
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def advise(
    words: tuple[str, ...],
    tag: str | None,
    keep: str | None,
    traces: tuple[str, ...],
    model: str | None,
    json: str | None,
    width: int | None,
) -> None:
    """Run COMMAND (mpiexec ... ./program ...) once and tell whether caching would help it.

    The run records a trace. The advice derived from it says which mode is safe (what was written while it was read), how much
    time hits would save, how much storage that takes, and what to set, or that caching is not worth it.

    An OpenSHMEM or UPC program (oshrun ... ./program, upcrun ... ./program) is run twice: uncached with a trace, then cached with
    every hit fetched again, which shows whether it keeps the cache's contract.
    """
    if bool(words) == bool(traces):
        raise click.UsageError(
            "give either a command after --, or --from with traces of an earlier run"
        )
    if traces and keep:
        raise click.UsageError("--keep is for the traces of a run; with --from nothing is run")
    if json and json != "-":
        check_folder("--json", json)
    if traces:
        show(judged(traces, model, openshmem.is_of_openshmem(traces)), [], None, json, width)
        return
    simulate.executable()  # if it is missing, the run would be in vain
    with signals_as_exceptions(), measure.folder_for(keep) as prefix:
        by_upcrun = openshmem.started_by_upcrun(words)
        of_pages = by_upcrun or measure.communicates_by_openshmem(words, tag)
        if of_pages:
            for options in (openshmem.traced(prefix), openshmem.checked(prefix)):
                values = measure.settings(options)
                succeed(
                    (openshmem.run_upc(words, options), "")
                    if by_upcrun
                    else measure.run_with(words, tag, values)
                )
                measure.check_traces(prefix)
        else:
            succeed(measure.run_traced(words, prefix, tag, []))
            measure.check_traces(prefix)
        try:
            advice = judged([prefix], model, of_pages)
        except (NearcacheError, OSError) as error:
            raise measure.NotJudged(error, prefix) from None
    show(advice, words, tag, json, width)


def judged(names: Sequence[str], model: str | None, of_pages: bool) -> Advised:
    """Return the advice for `names`, which are traces or their prefix.

    `of_pages`: the traces are of an OpenSHMEM or UPC program.
    """
    if of_pages:
        return openshmem.judge(names, model)
    return judgement.judge(measure.evidence_of(names, model))


def succeed(done: tuple[int, str]) -> None:
    """Exit with the program's exit code if it is not 0; pass on any note for the user."""
    code, note = done
    sys.stdout.flush()
    if note:
        click.echo(f"nearcache: {note}", err=True)
    if code:
        raise NearcacheError(
            f"the program {told(code)}: there is no advice on a run that failed",
            code if code > 0 else 128 - code,  # as a shell has it
        )


def show(
    advice: Advised, words: Sequence[str], tag: str | None, json: str | None, width: int | None
) -> None:
    document = json_module.dumps(advice.as_json(), indent=1)
    if json == "-":
        click.echo(document)
        return
    width = width or min(120, shutil.get_terminal_size((100, 24)).columns)
    if isinstance(advice, openshmem.PageAdvice):
        click.echo(openshmem.render(advice, words, width, tag), nl=False)
    else:
        click.echo(text.render(advice, words, width, tag), nl=False)
    if json:  # at last: what was said stays said if this fails
        write_whole(json, (document + "\n").encode())
