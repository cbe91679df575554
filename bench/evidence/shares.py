# SPDX-License-Identifier: BSD-3-Clause
"""Stacked bars of how the gets were answered, by each access type's share (Fig. 13, 16, 18)."""

from . import style

# From served to not served. A partial hit is a hit whose tail is fetched.
TYPES = {
    "hits": ("hit", style.BLUE),
    "hits_partial": ("partial hit", style.SKY),
    "direct": ("direct", style.GREEN),
    "conflicting": ("conflicting", style.ORANGE),
    "capacity": ("capacity", style.PINK),
    "failing": ("failing", style.RED),
    "bypassed": ("bypassed", style.GREY),
}


def of_counts(row):
    """Return the columns of TYPES, as shares of all gets, from a row of counts."""
    counts = {
        name: row["hits_full"] + row["hits_pending"] if name == "hits" else row[name]
        for name in TYPES
    }
    gets = sum(counts.values())
    return {name: count / gets if gets else 0.0 for name, count in counts.items()}


def draw(axes, rows, labels, title):
    below = [0.0] * len(rows)
    places = range(len(rows))
    for name, (label, colour) in TYPES.items():
        heights = [row[name] for row in rows]
        if any(heights) or name in ("hits", "direct"):
            axes.bar(
                places,
                heights,
                bottom=below,
                color=colour,
                label=label,
                width=0.75,
                edgecolor="white",
                linewidth=0.5,
            )
        below = [a + b for a, b in zip(below, heights)]
    axes.set_xticks(list(places), labels, fontsize=9)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of all gets")
    axes.set_title(title)


def legend(figure, axes):
    found = {}
    for each in axes:
        found.update(zip(*reversed(each.get_legend_handles_labels())))
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=len(found))
