# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the page: the report's parts in the template, with its style and script inlined."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from markupsafe import Markup, escape

from ..report_counts import api, how_many, processes
from ..report_parts import Report
from ..tables import Tables
from . import adaptations, histograms, ranks, settings, symmetric, timeline, verdict
from .parts import Section

TEMPLATE = Path(__file__).resolve().parent / "template"


def started(document: Report) -> str:
    """Turn the report's `2026-11-23T06:00:00Z` into `2026-11-23 06:00:00 UTC`."""
    return str(document.get("started") or "").replace("T", " ").replace("Z", " UTC")


def host(document: Report) -> str | None:
    """Return the host of rank 0, and the number of hosts."""
    nodes = document.get("nodes") or 0
    return f"{document.get('host')}, one of {nodes} nodes" if nodes > 1 else document.get("host")


def facts(document: Report) -> list[tuple[str, str]]:
    """Return where the program ran: (name, value). Program and ranks are in the page's heading."""
    # an MPI's own version text may be long
    mpi = next(iter(str(document.get("mpi") or "").splitlines()), "")
    rows = [
        (api(document), mpi),
        ("command", document.get("command")),
        ("started", started(document)),
        ("job", document.get("job")),
        ("host", host(document)),
        ("threads", document.get("threads")),
        ("Nearcache", document.get("nearcache")),
    ]
    return [(name, " ".join(str(value).split())) for name, value in rows if value]


def sections(document: Report, tables: Tables | None) -> list[Section]:
    details = document.get("details")
    shmem = api(document) == "OpenSHMEM"
    objects = [symmetric.objects(details), symmetric.acquires(details, document["totals"])]
    return [
        settings.options(document, tables),
        timeline.section(document),
        settings.accesses(document),
        *(objects if shmem else []),
        histograms.section(document),
        ranks.targets(document),
        *([] if shmem else [adaptations.section(details, document["wall_seconds"])]),
        ranks.spread(document),
        settings.windows(document),
        settings.counters(document, tables),
    ]


def with_code(text: object) -> Markup:
    """Escape a text and mark what is in backquotes as code: commands to copy, names of options."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def render(document: Report, tables: Tables | None) -> str:
    """Return the page as text. `tables` are the library's, or None."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = with_code
    style, script = (
        (TEMPLATE / name).read_text(encoding="utf-8") for name in ("page.css", "tips.js")
    )
    parts = sections(document, tables)
    return environment.get_template("page.html.jinja").render(
        document=document,
        processes=processes(document),
        size=how_many(document["ranks"], processes(document)),
        facts=facts(document),
        headline=verdict.headline(document),
        words=verdict.sentences(document),
        tiles=verdict.tiles(document),
        sections=parts,
        missing=[part.missing for part in parts if part.missing],
        # Only this script may run on the page, whatever the report contains.
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
