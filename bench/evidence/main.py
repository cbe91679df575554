# SPDX-License-Identifier: BSD-3-Clause
"""The command line of bench/figures."""

import pathlib
import sys
import time

import click
from driver.build import DEFAULT_MPI, ROOT, Build, Failure
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from . import page, record, studies, style, table
from .laboratory import Laboratory, prepare

PAGE, FOLDER = ROOT / "docs" / "evidence.md", ROOT / "docs" / "evidence"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--quick",
    is_flag=True,
    help="Fewer repetitions and smaller inputs: about 14 minutes instead of 60.",
)
@click.option(
    "--only", metavar="9,12", help="Only these figures, and those measured together with them."
)
@click.option("--list", "only_list", is_flag=True, help="List the figures and end.")
@click.option(
    "--render",
    is_flag=True,
    help="Measure nothing: make plots and page from the existing CSV files.",
)
@click.option(
    "--out",
    type=click.Path(path_type=pathlib.Path),
    help="Write page and figures to this folder instead of docs/.",
)
@click.option("--mpi", default=DEFAULT_MPI, show_default=True, help="MPI of the build.")
@click.option(
    "--build",
    "directory",
    default=ROOT / "build",
    type=click.Path(path_type=pathlib.Path),
    help="Build folder, default build/.",
)
@click.option("--built", is_flag=True, help="Use the build as it is.")
def main(quick, only, only_list, render, out, mpi, directory, built):
    """Reproduces the papers' figures: measures, and writes CSV, SVG and a page with both side by side."""
    console = Console(stderr=True)
    try:
        chosen = studies.of(only.split(",") if only else [])
    except ValueError as error:
        raise click.UsageError(f"--only {error}") from None
    if only_list:
        return listing()
    target, folder = (out / "evidence.md", out / "evidence") if out else (PAGE, FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        failed = (
            drawn(chosen, folder, console)
            if render
            else measured(chosen, quick, Build(directory, mpi), built, folder, target, console)
        )
        page.write(target, folder)
    except Failure as failure:
        console.print(f"bench/figures: {failure}", style="red", markup=False)
        sys.exit(1)
    console.print(f"written: {target}", markup=False)
    if failed:
        console.print(
            f"bench/figures: failed: {', '.join(failed)}; what they had written before is still there",
            style="red",
            markup=False,
        )
        sys.exit(1)
    return None


def listing():
    shown = Table("figure", "files", "what it shows", box=None)
    for figure, _ in studies.figures():
        shown.add_row(figure.number, f"{figure.file}.csv, .svg", figure.title)
    Console(width=160).print(shown)


def drawn(chosen, folder, console):
    """Plot again from CSV; return the figures that failed."""
    failed = []
    for study in chosen:
        for figure in study.figures:
            try:
                plot(figure, folder)
            except Exception as error:  # an error in one figure must not affect the others
                console.print(
                    f"{figure.name}: {type(error).__name__}: {error}", style="red", markup=False
                )
                failed.append(figure.number)
    return failed


def measured(chosen, quick, build, built, folder, target, console):
    """Run the studies, and write each one's files and the page as soon as it is done. Returns the
    figures of those that failed."""
    if not built:
        prepare(build, chosen)
    failed = []
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        progress.add_task("", total=sum(study.seconds[not quick] for study in chosen))
        for study in chosen:
            started = time.monotonic()
            say = reporter(progress, study, quick)
            say(study.name)
            laboratory = Laboratory(build, quick, say)
            laboratory.attempt(
                study.name,
                lambda study=study, laboratory=laboratory: one_study(study, laboratory, folder),
            )
            laboratory.attempt("the page", lambda: page.write(target, folder))
            for failure in laboratory.failures:
                console.print(f"{study.name} failed: {failure}", style="red", markup=False)
            if laboratory.failures:
                failed += [figure.number for figure in study.figures]
            say(f"{study.name}: {time.monotonic() - started:.0f} s", 1)
    return failed


def reporter(progress, study, quick):
    """Return a function that sends a study's messages and progress to the progress bar; without a
    terminal, messages become lines."""
    task = progress.tasks[0]
    begin, names = task.completed, ", ".join(figure.number for figure in study.figures)

    def say(text, part=0.0):
        if not progress.console.is_terminal:
            progress.console.print(f"{names}: {text}", markup=False)
        progress.update(
            task.id,
            description=escape(f"[{names}] {text}"),
            completed=begin + study.seconds[not quick] * part,
        )

    return say


def one_study(study, laboratory, folder):
    if study.openshmem:
        laboratory.use_openshmem()
    entry = {"quick": laboratory.quick, **record.now(laboratory.launch)}
    started = time.monotonic()
    tables = study.measure(laboratory)
    if not all(tables.values()):
        raise Failure("there is nothing to show")
    for figure in study.figures:
        table.write(folder / f"{figure.file}.csv", tables[figure.number])
    record.write(
        folder,
        {
            **record.read(folder),
            study.name: {**entry, "seconds": round(time.monotonic() - started)},
        },
    )
    for figure in study.figures:
        laboratory.attempt(figure.name, lambda figure=figure: plot(figure, folder))


def plot(figure, folder):
    style.save(
        figure.draw(table.read(folder / f"{figure.file}.csv")), folder / f"{figure.file}.svg"
    )
