"""The command line of `nearcache advise`."""

import json as json_module
import shutil
import sys

import click

from ..ended import signals_as_exceptions
from ..errors import NearcacheError
from ..files import write_whole
from ..values import problem
from . import judgement, measure, text


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


@click.command(
    cls=AdviseCommand, short_help="Run a program once and tell whether caching would help"
)
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
    """
    if bool(words) == bool(traces):
        raise click.UsageError(
            "give either a command after --, or --from with traces of an earlier run"
        )
    if traces:
        show(judgement.judge(measure.evidence_of(traces, model)), None, json, width)
        return
    with signals_as_exceptions(), measure.folder_for(keep) as prefix:
        code, note = measure.run_traced(list(words), prefix, tag, [])
        sys.stdout.flush()
        if note:
            click.echo(f"nearcache: {note}", err=True)
        if code:
            raise NearcacheError(
                f"the program ended with exit code {code}: there is no advice on a run that failed",
                code if 0 < code < 126 else 1,
            )
        advice = judgement.judge(measure.evidence_of([prefix], model))
    show(advice, list(words), json, width)


def show(advice, words, json, width):
    document = json_module.dumps(advice.as_json(), indent=1)
    if json == "-":
        click.echo(document)
        return
    if json:
        write_whole(json, (document + "\n").encode())
    click.echo(
        text.render(advice, words, width or min(120, shutil.get_terminal_size((100, 24)).columns)),
        nl=False,
    )
