"""The one error that users see, and the exit codes of the command."""

from __future__ import annotations

from typing import IO, Any

import click

# A program run by `nearcache run` passes its own exit code through; these are ours. They keep clear of
# 1 and of 128+signal, which programs and launchers use.
EXIT_OK = 0
EXIT_USAGE = 2  # unknown option, bad value, unreadable file: click's own code for usage errors
EXIT_UNHEALTHY = 3  # doctor found something wrong
EXIT_REFUSED = (
    125  # run: the program cannot be cached (no MPI, no object of its family), nothing was started
)


class NearcacheError(click.ClickException):
    """A message for the user, without a traceback."""

    def __init__(self, message: str, exit_code: int = EXIT_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # of the class in click, which reads it of the instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"nearcache: {self.format_message()}", err=True)


class Refused(NearcacheError):
    def __init__(self, message: str) -> None:
        super().__init__(message, EXIT_REFUSED)
