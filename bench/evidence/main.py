"""The command line of bench/figures."""
import pathlib
import sys
import time

import click
from driver.build import DEFAULT_MPI, ROOT, Build, Failure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from . import page, record, style, studies, table
from .laboratory import Laboratory, prepare

PAGE, FOLDER = ROOT / "docs" / "evidence.md", ROOT / "docs" / "evidence"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer repetitions and smaller inputs: under 5 minutes instead of under 30.")
@click.option("--only", metavar="9,12", help="Only these figures, and those that are measured with them.")
@click.option("--list", "only_list", is_flag=True, help="List the figures and end.")
@click.option("--render", is_flag=True, help="Measure nothing: plots and page from the CSV files that are there.")
@click.option("--out", type=click.Path(path_type=pathlib.Path), help="Another folder for page and figures instead of docs/.")
@click.option("--mpi", default=DEFAULT_MPI, show_default=True, help="MPI of the build.")
@click.option("--build", "directory", default=ROOT / "build", type=click.Path(path_type=pathlib.Path), help="Build folder, default build/.")
@click.option("--built", is_flag=True, help="Take the build as it is.")
def main(quick, only, only_list, render, out, mpi, directory, built):
    """Measures what the CLaMPI paper's figures show, and writes CSV, SVG and a page with both side by side."""
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
        failed = drawn(chosen, folder, console) if render else measured(chosen, quick, Build(directory, mpi), built, folder, target, console)
        page.write(target, folder)
    except Failure as failure:
        console.print(f"bench/figures: {failure}", style="red", markup=False)
        sys.exit(1)
    console.print(f"written: {target}", markup=False)
    if failed:
        console.print(f"bench/figures: failed: {', '.join(failed)}; what they had written before is still there", style="red", markup=False)
        sys.exit(1)
    return None


def listing():
    shown = Table("figure", "files", "what it shows", box=None)
    for figure, _ in studies.figures():
        shown.add_row(figure.number, f"{figure.file}.csv, .svg", figure.title)
    Console(width=160).print(shown)


def drawn(chosen, folder, console):
    """Plots again from CSV; returns the figures that could not be."""
    failed = []
    for study in chosen:
        for figure in study.figures:
            path = folder / f"{figure.file}.csv"
            try:
                style.save(figure.draw(table.read(path)), folder / f"{figure.file}.svg")
            except Exception as error:  # one figure's mistake must not cost the others
                console.print(f"{figure.name}: {type(error).__name__}: {error}", style="red", markup=False)
                failed.append(figure.number)
    return failed


def measured(chosen, quick, build, built, folder, target, console):
    """Every study writes its files, and the page with them, as soon as it is done; returns the figures of those that failed."""
    if not built:
        prepare(build)
    failed = []
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(),
                  console=console) as progress:
        task = progress.add_task("", total=sum(study.seconds[not quick] for study in chosen))
        for study in chosen:
            begin, share = progress.tasks[0].completed, study.seconds[not quick]
            names = ", ".join(figure.number for figure in study.figures)

            def say(text, part=0.0, begin=begin, share=share, names=names):
                if not console.is_terminal:
                    console.print(f"{names}: {text}", markup=False)
                progress.update(task, description=f"[{names}] {text}".replace("[", r"\["), completed=begin + share * part)

            say(study.name)
            started = time.monotonic()
            laboratory = Laboratory(build, quick, say)
            laboratory.attempt(study.name, lambda study=study, laboratory=laboratory: one_study(study, laboratory, folder))
            laboratory.attempt("the page", lambda: page.write(target, folder))
            for failure in laboratory.failures:
                console.print(f"{study.name} failed: {failure}", style="red", markup=False)
            if laboratory.failures:
                failed += [figure.number for figure in study.figures]
            console.print(f"{study.name}: {time.monotonic() - started:.0f} s", markup=False)
            progress.update(task, completed=begin + share)
    return failed


def one_study(study, laboratory, folder):
    entry = {"quick": laboratory.quick, **record.now(laboratory.launch)}
    started = time.monotonic()
    for number, rows in study.measure(laboratory).items():
        if not rows:
            raise Failure(f"there is nothing to show in figure {number}: {'; '.join(laboratory.failures)}")
        figure = next(each for each in study.figures if each.number == number)
        table.write(folder / f"{figure.file}.csv", rows)
        style.save(figure.draw(table.read(folder / f"{figure.file}.csv")), folder / f"{figure.file}.svg")
    entry["seconds"] = round(time.monotonic() - started)
    record.write(folder, {**record.read(folder), study.name: entry})
