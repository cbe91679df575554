# SPDX-License-Identifier: BSD-3-Clause
"""The one kind of error shown to users, and the exit codes of the command."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from click.core import ParameterSource

from .plain import plain_lines

# `nearcache run` passes the program's own exit code through; these are ours. They avoid 1 and
# 128+signal, which programs and launchers use.
EXIT_USAGE = 2  # unknown option, bad value, unreadable file: click's own code for usage errors
EXIT_UNHEALTHY = 3  # doctor found something wrong
EXIT_REFUSED = (
    125  # run: the program cannot be cached (no MPI, no object of its family), nothing was started
)


class NearcacheError(click.ClickException):
    """An error shown to the user as a message, without a traceback."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # of the class in click, which reads it of the instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"nearcache: {plain_lines(self.format_message())}", err=True)


@contextmanager
def usage_in_one_line(error_class: type[NearcacheError], path: str) -> Iterator[None]:
    """Turn click's usage errors, which take four lines, into one-line errors of ours."""
    try:
        yield
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # prints the help if no arguments are given
            raise
        words = error.format_message().rstrip(".")
        words = words[:1].lower() + words[1:] if words[1:2].islower() else words
        asked = error.ctx.command_path if error.ctx else path
        raise error_class(f"{words} (see {asked} --help)") from None


def open_closed_streams() -> None:
    """Open the standard streams that who starts this has closed, for the life of the process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))


class Command(click.Command):
    """A command that reports each error in one line, including wrong usage."""

    error_class = NearcacheError

    def main(self, *args: Any, **more: Any) -> Any:
        open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            # Names may hold what the terminal cannot show, or bytes that are no text at all.
            if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **more)
        except OSError as error:  # such as a full disk or a deleted folder; click handles EPIPE
            _discard_what_cannot_be_written()
            where = f"{error.filename}: " if error.filename else ""
            failed = self.error_class(f"{where}{error.strerror or error}")
            if not more.get("standalone_mode", True):
                raise failed from None
            failed.show()
            sys.exit(failed.exit_code)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **more: Any,
    ) -> click.Context:
        path = f"{parent.command_path if parent else ''} {info_name}".strip()
        with usage_in_one_line(self.error_class, path):
            return super().make_context(info_name, args, parent, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        for parameter in self.params:  # without options of the library's table, which may be empty
            value = ctx.params.get(parameter.name or "")
            if (
                "" in (value if isinstance(value, tuple) else (value,))
                and parameter.type != click.UNPROCESSED
                and ctx.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
            ):
                raise click.BadParameter("it is empty", ctx, parameter)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        with usage_in_one_line(self.error_class, ctx.command_path):
            return super().invoke(ctx)


def _discard_what_cannot_be_written() -> None:
    """Empty the standard output's buffer if its device is full: Python would try again to write it
    at the end, and end with its own message and exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


class Commands(Command, click.Group):
    """A command group. Errors of its commands pass through it."""


class Refused(NearcacheError):
    def __init__(self, message: str) -> None:
        super().__init__(message, EXIT_REFUSED)
