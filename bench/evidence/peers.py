# SPDX-License-Identifier: BSD-3-Clause
"""The policy study over traces of the applications and the micro-benchmark: one table."""

from driver import policies

from . import style
from .figure import Figure, Study
from .table import values, where

COLUMNS = {
    "rate": "rate",
    "lru": "LRU",
    "sieve": "SIEVE",
    "tinylfu": "W-TinyLFU",
    "clampi": "CLaMPI",
    "best_fixed": "best fixed set",
    "clairvoyant": "clairvoyant",
    "infinite": "infinite",
}


def measure(laboratory):
    laboratory.say("recording and replaying the applications' gets")
    rows, _, _ = policies.measure(laboratory.launch, laboratory.arguments)
    return {"peers": rows}


def draw(rows):
    traces = values(rows, "trace")
    figure, all_axes = style.panels(
        3, rows=-(-len(traces) // 3), width=4.4, height=3.4, share_y=True
    )
    for axes in all_axes[len(traces) :]:
        axes.remove()
    for axes, trace in zip(all_axes, traces):
        of_trace = where(rows, trace=trace)
        for place, (column, label) in enumerate(COLUMNS.items()):
            bound = column in policies.BOUNDS
            axes.plot(
                range(len(of_trace)),
                [row[column] for row in of_trace],
                color=style.GREY if bound else style.COLOURS[place],
                linestyle=("--", ":", "-.")[place % 3] if bound else "-",
                marker=None if bound else style.MARKERS[place],
                label=label,
            )
        axes.set_xticks(range(len(of_trace)), [row["storage"] for row in of_trace])
        axes.set_ylim(0, 100)
        axes.set_title(trace)
    for axes in all_axes[0 : len(traces) : 3]:
        axes.set_ylabel("% of the cost saved")
    figure.legend(
        *all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(COLUMNS)
    )
    return figure


STUDY = Study(
    "peers",
    (
        Figure(
            "peers",
            "peers",
            "Cost of all gets that is saved, by policy and storage",
            "The paper has no such table: it compares its victim scheme with parts of itself (Fig. 11).",
            "`bench/run policies`: the gets of the applications and of the micro-benchmark are "
            "recorded once, then replayed through the library's engine with every policy at 10, "
            "25 and 50% of the distinct bytes of a rank. A get costs what it does on Aries. The "
            "best fixed set and the clairvoyant schedule know the future; infinite has no limits "
            "(docs/trace.md).",
            draw,
        ),
    ),
    measure,
    (15, 120),
)
