# SPDX-License-Identifier: BSD-3-Clause
"""The style of all plots: light background, colours that colour-blind readers can distinguish, the
same bytes in every run."""

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot, ticker  # noqa: E402

# Okabe and Ito's palette; markers serve readers who see no colours.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    "#000000",
    "#e69f00",
    "#56b4e9",
    "#009e73",
    "#b8a800",
    "#0072b2",
    "#d55e00",
    "#cc79a7",
)
GREY = "#777777"
COLOURS = (BLUE, ORANGE, GREEN, RED, PINK, SKY, YELLOW, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

matplotlib.rcParams.update(
    {
        "svg.hashsalt": "nearcache",
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans", "sans-serif"],
        "font.size": 12,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
        "legend.frameon": False,
        "legend.fontsize": 10,
        "figure.facecolor": "white",
        "lines.linewidth": 1.8,
        "lines.markersize": 6,
        "axes.titlesize": 13,
    }
)
NETWORKS = {"tcp": "tcp, 2 ranks", "model": "network model of Aries, 2 ranks", "simgrid": "SimGrid"}


def panels(columns, rows=1, width=5.6, height=4.2, share_y=False):
    """Return (figure, list of axes); two panels are 12 inches wide: readable at 1280 pixels."""
    figure, axes = pyplot.subplots(
        rows,
        columns,
        figsize=(max(8.0, width * columns), height * rows),
        squeeze=False,
        sharey=share_y,
        layout="constrained",
    )
    return figure, list(axes.flat)


def sizes_axis(axes, sizes, label="size of the get"):
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [bytes_text(size) for size in sizes], fontsize=10)
    axes.minorticks_off()
    axes.set_xlabel(label)


def bytes_text(size):
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def log_scale(axes, subs=(1, 2, 5)):
    """Make the y axis logarithmic, with plain numbers at 1, 2 and 5: few figures here span many
    decades."""
    axes.set_yscale("log")
    axis = axes.yaxis
    axis.set_major_locator(ticker.LogLocator(subs=subs))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(ticker.NullFormatter())


def line(axes, rows, x, y, label, place=0, **how):
    """Draw one series, with its intervals if the table has them."""
    rows = sorted((row for row in rows if row[y] is not None), key=lambda row: row[x])
    settings = {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "label": label,
        **how,
    }
    axes.plot([row[x] for row in rows], [row[y] for row in rows], **settings)
    if rows and rows[0].get(f"{y}_low") is not None:
        axes.fill_between(
            [row[x] for row in rows],
            [row[f"{y}_low"] for row in rows],
            [row[f"{y}_high"] for row in rows],
            color=settings["color"],
            alpha=0.15,
            linewidth=0,
        )


def save(figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "bench/figures"})
    pyplot.close(figure)
