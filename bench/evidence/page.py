# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/evidence.md from the CSV files and the claims, so that text and data cannot
disagree."""

import pathlib
import textwrap

import jinja2
from driver import policies

from . import answer, one_sided_models, peers, record, remote_data_claims, studies, table
from .claims import CLAIMS

TEMPLATE = pathlib.Path(__file__).with_name("page.md.jinja")


def read(folder):
    """Return {number of the figure: rows} of the CSV files that exist."""
    paths = {figure.number: folder / f"{figure.file}.csv" for figure, _ in studies.figures()}
    return {number: table.read(path) for number, path in paths.items() if path.exists()}


def answered(data):
    """Return (claim, answer) of all claims that the data answer, the worse ones first, and the
    unanswered claims."""
    found, open_ = [], []
    for claim in CLAIMS:
        try:
            found.append((claim, claim.answer(data)))
        except (LookupError, ZeroDivisionError):  # no such figure or no such row
            open_.append(claim)
    return found, open_


def shown(folder, data):
    """Return what the page says about every figure."""
    entries = record.read(folder)
    for figure, study in studies.figures():
        entry = entries.get(study.name)
        if entry and figure.number in data:
            quick = "--quick " if entry["quick"] else ""
            yield {
                "figure": figure,
                "here": figure.described(data[figure.number]),
                "context": record.sentence(entry),
                "command": f"bench/figures {quick}--only {figure.number}",
            }


def peers_table(data):
    bold = {"rate": "**{}**"}
    return [
        {
            "trace": row["trace"],
            "gets": row["gets"],
            "storage": row["storage"],
            "cells": [bold.get(name, "{}").format(f"{row[name]:.1f}") for name in peers.COLUMNS],
        }
        for row in data.get("peers", ())
    ]


def bullet(text):
    """Return an item of a list, in lines of at most 100 characters."""
    return textwrap.fill(
        text,
        100,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def text(folder):
    data = read(folder)
    found, open_ = answered(data)
    groups = {
        verdict: [pair for pair in found if pair[1].verdict == verdict]
        for verdict in (answer.WORSE, answer.GOOD, answer.GIVEN)
    }
    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["bullet"] = bullet
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        groups=groups,
        open=open_,
        figures=list(shown(folder, data)),
        peers=peers_table(data),
        columns=peers.COLUMNS.values(),
        remote=remote_data_claims.table(data),
        models=one_sided_models.table(data),
        model=policies.MODEL,
        WORSE=answer.WORSE,
        GOOD=answer.GOOD,
        GIVEN=answer.GIVEN,
    )


def write(path, folder):
    path.write_text(text(folder), encoding="utf-8")
