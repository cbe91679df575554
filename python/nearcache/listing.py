# SPDX-License-Identifier: BSD-3-Clause
"""Lists options and counters, for the terminal and for docs/."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from .tables import Tables

OPTIONS_HEAD = """# Options

<!-- Generated: nearcache options --markdown > docs/options.md -->

Every option is a row of one table (`src/base/options.def`); its names are derived:

- environment variable `NEARCACHE_<NAME>`, for all windows of a process;
- `nearcache run --<name>`, which sets that variable for the ranks;
- info key `nearcache_<name>` of a window, for the options of scope `window`; it takes precedence
  over the environment.

Values: *bytes* accept the suffixes k, M, G and T; a *power* is the same, but must be a power of
two; *time* accepts ns, us, ms and s (without one: ns); *bool* is true or false. Numbers lie in the
range given, ends included. A *path* may contain `%p` (the number of the process that writes), `%h`
(its host), `%r` (its rank) and `%j` (the job: the scheduler's number and step, else the launcher's
name for it), so that jobs do not overwrite each other's files; `%%` is a percent sign.

`nearcache run` refuses an unknown option, or a value that is not allowed, before anything is
started. If the library finds such a value in the environment or in an info key, it prints the
option, the value and what is allowed. It then uses the default (for an info key: the setting from
the environment). A set-user-ID program, which runs with more privileges than the user who started
it, ignores these variables.
"""

COUNTERS_HEAD = """# Counters

<!-- Generated: nearcache counters --markdown -->

Every counter is a row of one table (`include/nearcache/counters.def`). A *sum* adds up over windows
and ranks, a *gauge* is a level at the end of the run.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def options_markdown(tables: Tables) -> str:
    parts = [OPTIONS_HEAD]
    for scope, title in (("window", "Of a window"), ("process", "Of a process")):
        rows = [
            (
                f"`{option.name}`",
                option.type,
                f"`{option.default}`" if option.default else "(empty)",
                option.range or "-",
                option.unit or "-",
                option.help,
            )
            for option in tables.options
            if option.scope == scope
        ]
        parts.append(
            f"## {title}\n\n"
            + _markdown_table(("option", "type", "default", "range", "unit", "what it does"), rows)
            + "\n"
        )
    return "\n".join(parts)


def counters_markdown(tables: Tables) -> str:
    rows = [
        (f"`{counter.name}`", counter.kind, counter.unit, counter.help)
        for counter in tables.counters
    ]
    return (
        COUNTERS_HEAD
        + "\n"
        + _markdown_table(("counter", "kind", "unit", "what it counts"), rows)
        + "\n"
    )


def _print(columns: Iterable[str], rows: Iterable[Sequence[str]], width: int | None) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold", no_wrap=name in ("option", "counter"))
    for row in rows:
        table.add_row(*[escape(cell) for cell in row])
    Console(width=width or (None if sys.stdout.isatty() else 140), highlight=False).print(table)


def show_options(tables: Tables, markdown: bool, width: int | None) -> None:
    if markdown:
        click.echo(options_markdown(tables), nl=False)
        return
    _print(
        ("option", "type", "default", "range", "scope", "what it does"),
        [
            (option.name, option.type, option.default, option.range, option.scope, option.help)
            for option in tables.options
        ],
        width,
    )


def show_counters(tables: Tables, markdown: bool, width: int | None) -> None:
    if markdown:
        click.echo(counters_markdown(tables), nl=False)
        return
    _print(
        ("counter", "kind", "unit", "what it counts"),
        [(counter.name, counter.kind, counter.unit, counter.help) for counter in tables.counters],
        width,
    )
