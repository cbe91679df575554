"""The command line of `nearcache advise`."""

import json as json_module
import shutil
import sys

import click

from ..ended import signals_as_exceptions
from ..errors import NearcacheError
from ..files import write_whole
from ..values import problem
from . import judgement, measure, openshmem, text


class AdviseCommand(click.Command):
    def make_parser(self, ctx):
        parser = super().make_parser(ctx)
        parser.allow_interspersed_args = False  # what follows the command belongs to it
        return parser


def checked_model(_context, _option, text):
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
    help="Write the advice as JSON, too; - is standard output, without the text",
)
@click.option(
    "--width", type=click.IntRange(min=60), help="Width of the text  [default: the terminal's]"
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def advise(words, tag, keep, traces, model, json, width):
    """Run COMMAND (mpiexec ... ./program ...) once, and say whether caching would help it.

    The run records a trace; from it follow which mode is safe (what was written while it was read), how much time hits would
    save, how much storage that takes, and what to set - or that it is not worth it.

    A program of OpenSHMEM or UPC (oshrun ... ./program, upcrun ... ./program) is run twice: uncached with a trace, and cached with
    every hit fetched again, which tells whether it keeps the cache's contract.
    """
    if bool(words) == bool(traces):
        raise click.UsageError(
            "give either a command after --, or --from with traces of an earlier run"
        )
    if traces:
        of_pages = openshmem.is_of_openshmem(traces)
        judge = (
            openshmem.judge if of_pages else lambda *of: judgement.judge(measure.evidence_of(*of))
        )
        show(judge(traces, model), None, json, width)
        return
    words = list(words)
    with signals_as_exceptions(), measure.folder_for(keep) as prefix:
        by_upcrun = openshmem.started_by_upcrun(words)
        if by_upcrun or measure.communicates_by_openshmem(words, tag):
            for options in (openshmem.traced(prefix), openshmem.checked(prefix)):
                values = openshmem.settings(options)
                succeed(
                    (openshmem.run_upc(words, options), "")
                    if by_upcrun
                    else measure.run_with(words, tag, values)
                )
            advice = openshmem.judge([prefix], model)
        else:
            succeed(measure.run_traced(words, prefix, tag, []))
            advice = judgement.judge(measure.evidence_of([prefix], model))
    show(advice, words, json, width)


def succeed(done):
    """Ends with the program's exit code if that is not 0; says what the user should know."""
    code, note = done
    sys.stdout.flush()
    if note:
        click.echo(f"nearcache: {note}", err=True)
    if code:
        raise NearcacheError(
            f"the program ended with exit code {code}: there is no advice on a run that failed",
            code if 0 < code < 126 else 1,
        )


def show(advice, words, json, width):
    document = json_module.dumps(advice.as_json(), indent=1)
    if json == "-":
        click.echo(document)
        return
    if json:
        write_whole(json, (document + "\n").encode())
    render = openshmem.render if isinstance(advice, openshmem.PageAdvice) else text.render
    click.echo(
        render(advice, words, width or min(120, shutil.get_terminal_size((100, 24)).columns)),
        nl=False,
    )
