"""Shows a report as text."""
import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .report_counts import ACCESS_TYPES, bytes_text, hit_rate
from .report_file import DAMAGE, damaged


def _grid(*columns):
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")
    return table


def api(document):
    """What the program was written for; reports of before OpenSHMEM do not say."""
    return document.get("api") or "MPI"


def header(document):
    wall = document["wall_seconds"]
    rows = [("program", document.get("program", "")), ("host", document.get("host", "")), (api(document), document.get("mpi", "")),
            ("ranks", str(document["ranks"])), ("Nearcache", document.get("nearcache", "")),
            ("time", f"{wall['mean']:.3f} s (min {wall['min']:.3f}, max {wall['max']:.3f} over ranks)")]
    if document.get("modelled"):
        rows.append(("network", f"MODELLED, not measured: {document['modelled']}"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in rows:
        table.add_row(name, escape(" ".join(str(value).split())))
    return table


def accesses(document):
    totals, spread = document["totals"], document["spread"]
    gets = totals.get("gets", 0)
    table = _grid(("gets", "left"), ("calls", "right"), ("share", "right"), ("min/rank", "right"), ("max/rank", "right"), ("", "left"))
    for name, label, meaning in ACCESS_TYPES:
        count, over_ranks = totals.get(name, 0), spread.get(name, {"min": 0, "max": 0})
        share = f"{100 * count / gets:.1f}%" if gets else "-"
        table.add_row(label, f"{count:,}", share, f"{over_ranks['min']:,.0f}", f"{over_ranks['max']:,.0f}", meaning)
    table.add_row("all", f"{gets:,}", f"{100 * hit_rate(totals):.1f}%", "", "", "share: that of all hits", style="bold")
    return table


def traffic(document):
    totals = document["totals"]
    ranks = max(document["ranks"], 1)
    table = _grid(("sums over ranks", "left"), ("", "right"))
    for name, label in (("bytes_requested", "bytes requested"), ("bytes_from_cache", "bytes from the cache"),
                        ("bytes_from_network", "bytes from the network")):
        table.add_row(label, bytes_text(totals.get(name, 0)))
    for name, label in (("puts", "puts"), ("accumulates", "accumulates"), ("evictions", "evictions"),
                        ("invalidations", "times dropped"), ("write_drops", "entries overwritten"),
                        ("syncs_served", "flushes served"), ("syncs_passed", "synchronisations passed to MPI"),
                        ("progress_calls", "progress calls"), ("adaptations", "adaptations")):
        table.add_row(label, f"{totals.get(name, 0):,}")
    table.add_row("remote time, a rank", f"{totals.get('remote_ns', 0) / ranks / 1e9:.3f} s")
    table.add_row("saved time, a rank", f"{totals.get('saved_ns', 0) / ranks / 1e9:.3f} s (estimated)")
    return table


def windows(document):
    table = _grid(("window", "left"), ("mode", "left"), ("policy", "left"), ("ranks", "right"), ("gets", "right"),
                  ("hits", "right"), ("storage", "right"), ("filled", "right"), ("entries", "right"), ("not cached because", "left"))
    for window in document["windows"]:
        counters = window["counters"]
        storage = counters.get("storage_bytes", 0)
        filled = f"{100 * counters.get('stored_bytes', 0) / storage:.0f}%" if storage else "-"
        name = f"{window['id']} {window['name']}" if window.get("name") else str(window["id"])
        table.add_row(escape(name), window["mode"], window["policy"], str(window["ranks"]), f"{counters.get('gets', 0):,}",
                      f"{100 * hit_rate(counters):.1f}%", bytes_text(storage), filled,
                      f"{counters.get('entries', 0):,}", escape(window.get("bypass") or ""))
    return table


def render(document, console):
    """Prints a report to a rich console."""
    console.print(header(document))
    for part in (accesses(document), traffic(document), windows(document) if document["windows"] else None):
        if part is not None:
            console.print()
            console.print(part)
    verdict = document["verdict"]
    console.print()
    console.print(Text("the cache helped: " if verdict["helped"] else "no gain: ", style="bold green" if verdict["helped"] else "bold yellow")
                  + Text(verdict["text"], style="default"))


def show(document, width=None):
    console = Console(width=width or (None if sys.stdout.isatty() else 140), highlight=False)
    try:
        render(document, console)
    except DAMAGE as error:
        raise damaged(error) from None
