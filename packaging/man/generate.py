#!/usr/bin/env python3
"""Makes the man pages: of the commands from their own help, of options and counters from the library's tables, of the C functions from
the public headers. generate.py --out FOLDER [--date YYYY-MM-DD]; NEARCACHE_HOME names the build whose tables count."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]

import click  # noqa: E402
import headers  # noqa: E402
import roff  # noqa: E402
from nearcache import __version__, cli, tables  # noqa: E402
from nearcache.upcc import command as upcc  # noqa: E402
from nearcache.upcc import upcrun  # noqa: E402


def released():
    """The day of the newest entry of the change log."""
    return re.search(r"^### (\d{4}-\d\d-\d\d)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]


class Writer:
    def __init__(self, date):
        self.date, self.pages = date, []

    def page(self, name, section, purpose):
        self.pages.append(roff.Page(name, section, purpose, __version__, self.date))
        return self.pages[-1]


def sentences(help_text):
    """(the first sentence, paragraphs) of a command's help."""
    paragraphs = [
        " ".join(part.split()) for part in re.split(r"\n\s*\n", help_text.replace("\b", "").strip())
    ]
    return re.split(r"(?<=[.?:])\s", paragraphs[0])[0].rstrip(".?:"), paragraphs


def add_options(page, command, context):
    rows = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
    ]
    if rows:
        page.heading("Options")
    for names, words in rows:
        page.item(names, words)


def add_epilog(page, command):
    if command.epilog:
        page.heading("Exit status")
        page.paragraph(command.epilog)


def of_click(writer, command, name, *more):
    paragraphs = sentences(command.help)[1]
    purpose = command.get_short_help_str(1000)
    page = writer.page(name.replace(" ", "-"), 1, purpose[:1].lower() + purpose[1:])
    context = click.Context(
        command, info_name=name, max_content_width=1000, help_option_names=["-h", "--help"]
    )
    page.heading("Synopsis")
    page.paragraph(f"`{name}` {' '.join(command.collect_usage_pieces(context))}")
    page.heading("Description")
    for words in paragraphs:
        page.paragraph(words)
    add_options(page, command, context)
    return page


def of_commands(writer):
    commands = cli.main.all_by_name()
    page = of_click(writer, cli.main, "nearcache")
    page.heading("Commands")
    for name, command in commands.items():
        page.item(f"nearcache-{name}(1)", command.get_short_help_str(1000).rstrip(".") + ".")
    page.heading("Environment")
    page.item("NEARCACHE_HOME", "The build or installation to use instead of the command's own.")
    page.item("NEARCACHE_<OPTION>", "Each option of the library, as in nearcache-options(7).")
    add_epilog(page, cli.main)
    page.see_also(
        *(f"nearcache-{name}(1)" for name in commands),
        "nearcache-options(7)",
        "nearcache-counters(7)",
        "upcc(1)",
        "upcrun(1)",
    )
    for name, command in commands.items():
        page = of_click(writer, command, f"nearcache {name}")
        add_epilog(page, command)
        page.see_also("nearcache(1)", "nearcache-options(7)")


def of_upc(writer):
    usage, rest = upcc.HELP.split("\n", 1)
    page = writer.page("upcc", 1, sentences(rest)[0][:1].lower() + sentences(rest)[0][1:])
    page.heading("Synopsis")
    page.paragraph(usage.removeprefix("Usage: "))
    page.heading("Description")
    page.paragraph(rest.split("\n\n")[0])
    page.heading("Options")
    page.verbatim(rest.split("\n\n", 1)[1])
    page.see_also("upcrun(1)", "nearcache(1)")
    page = of_click(writer, upcrun.main, "upcrun")
    add_epilog(page, upcrun.main)
    page.see_also("upcc(1)", "nearcache(1)", "nearcache-options(7)")


def of_tables(writer, known):
    page = writer.page("nearcache-options", 7, "options of Nearcache")
    page.heading("Description")
    page.paragraph(
        "Each option is an argument of `nearcache run` and an environment variable. Those of scope window are also info keys, which "
        "take precedence over both. Sizes take the suffixes k, M, G and T, times ns, us, ms and s."
    )
    page.heading("Options")
    for option in known.options:
        facts = [
            f"Default: {option.default or 'none'}",
            *([f"range: {option.range}"] if option.range else []),
            f"variable: {option.variable}",
            *([f"info key: {option.info_key}"] if option.info_key else []),
        ]
        page.item(
            option.flag,
            f"{option.help[:1].upper()}{option.help[1:]}. {'; '.join(facts)}.",
            option.type.upper(),
        )
    page.see_also("nearcache(1)", "nearcache-run(1)")
    page = writer.page(
        "nearcache-counters", 7, "counters of Nearcache's reports and of nearcache_stats"
    )
    page.heading("Description")
    page.paragraph("A sum adds up over windows and ranks; a gauge is the value now.")
    page.heading("Counters")
    for counter in known.counters:
        page.item(
            counter.name,
            f"{counter.help[:1].upper()}{counter.help[1:]} ({counter.kind}, {counter.unit}).",
        )
    page.see_also("nearcache-report(1)", "nearcache_get_stats(3)", "nearcache_shmem_stats(3)")


def of_header(writer, file, library):
    text = (ROOT / "include" / "nearcache" / file).read_text()
    found = headers.functions(text)
    every = [name for function in found for name in function.names]
    for function in found:
        for name in function.names:
            page = writer.page(name, 3, sentences(function.words)[0].replace("`", ""))
            page.heading("Synopsis")
            page.verbatim(f"#include <nearcache/{file}>\n\n" + "\n".join(function.declarations))
            page.heading("Description")
            for words in re.split(r"\n\s*\n", function.words):
                page.paragraph(words)
            page.heading("Notes")
            for words in headers.introduction(text):
                page.paragraph(words)
            page.paragraph(f"Preload or link `{library}`.")
            page.see_also(
                "nearcache(1)",
                "nearcache-counters(7)",
                *(f"{other}(3)" for other in every if other != name),
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--date", default=released())
    given = parser.parse_args()
    writer = Writer(given.date)
    of_commands(writer)
    of_upc(writer)
    of_tables(writer, tables.load())
    of_header(writer, "mpi.h", "libnearcache_mpi")
    of_header(writer, "shmem.h", "libnearcache_shmem")
    for page in writer.pages:
        file = given.out / page.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
