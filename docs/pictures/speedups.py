#!/usr/bin/env python3
"""Draws the README's picture, speedups-light.svg and speedups-dark.svg, from docs/evidence/*.csv: python docs/pictures/speedups.py"""

import csv
from pathlib import Path
from statistics import median

FOLDER = Path(__file__).resolve().parent
EVIDENCE = FOLDER.parent / "evidence"
TCP, ARIES = "TCP, measured", "Aries, modelled"
# (label, program of shmem_programs.csv)
SHMEM = (
    ("miniMD, OpenSHMEM", "minimd"),
    ("PTRANS, OpenSHMEM", "ptrans"),
    ("hydrodynamics, OpenSHMEM", "hydro"),
    ("index gather, OpenSHMEM", "indexgather"),
    ("SSCA2, OpenSHMEM", "ssca2"),
    ("random updates, OpenSHMEM", "gups, atomic adds"),
)
THEMES = {  # text, faint lines, colour of each network
    "light": ("#1f2328", "#d1d9e0", {TCP: "#0072b2", ARIES: "#e69f00"}),
    "dark": ("#f0f6fc", "#3d444d", {TCP: "#56b4e9", ARIES: "#e69f00"}),
}


def rows(name):
    with (EVIDENCE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_any_start(table, network):
    """The median speedup of adaptive caches (the default) over all starting sizes of index and storage."""
    return median(
        float(row["speedup"])
        for row in table
        if row["network"] == network and "adaptive" in row.values()
    )


def bars():
    """[(program, {network: speedup})], the fastest first."""
    found = []
    for label, name in (
        ("clustering coefficients, MPI", "fig15_lcc.csv"),
        ("Barnes-Hut, MPI", "fig12_barnes_hut.csv"),
    ):
        table = rows(name)
        found.append(
            (label, {TCP: of_any_start(table, "tcp"), ARIES: of_any_start(table, "model")})
        )
    programs = {
        (row["network"], row["program"]): float(row["speedup"])
        for row in rows("shmem_programs.csv")
    }
    for label, program in SHMEM:
        found.append((label, {TCP: programs["tcp", program], ARIES: programs[ARIES, program]}))
    return sorted(found, key=lambda bar: -bar[1][TCP])


def text_of(speedup):
    return (
        f"{speedup:.0f}x"
        if speedup >= 10
        else f"{speedup:.1f}x"
        if speedup >= 1.05
        else f"{speedup:.2f}x"
    )


def draw(theme):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    text, faint, colours = THEMES[theme]
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "nearcache",
            "svg.fonttype": "none",
            "font.family": ["DejaVu Sans", "sans-serif"],
            "font.size": 11,
            "text.color": text,
            "axes.labelcolor": text,
            "xtick.color": text,
            "ytick.color": text,
        }
    ):
        figure, axes = pyplot.subplots(figsize=(9, 4.6), layout="constrained")
        figure.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        drawn = bars()
        for place, network in enumerate((TCP, ARIES)):
            for row, (_, speedups) in enumerate(drawn):
                at, speedup = row + (place - 0.5) * 0.38, speedups[network]
                axes.barh(
                    at,
                    speedup - 1,
                    0.36,
                    left=1,
                    color=colours[network],
                    label=network if row == 0 else None,
                )
                axes.text(max(speedup, 1) * 1.05, at, text_of(speedup), va="center", fontsize=9)
        axes.set_yticks(range(len(drawn)), [label for label, _ in drawn])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(0.8, 200)
        axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1x", "2x", "5x", "10x", "20x", "50x", "100x"])
        axes.minorticks_off()
        axes.axvline(1, color=text, linewidth=1)
        axes.grid(axis="x", color=faint, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(length=0)
        axes.set_xlabel("times faster than without Nearcache (logarithmic)")
        axes.legend(frameon=False, loc="lower right")
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.savefig(
            FOLDER / f"speedups-{theme}.svg",
            metadata={"Date": None, "Creator": "docs/pictures/speedups.py"},
        )
        pyplot.close(figure)


if __name__ == "__main__":
    for one in THEMES:
        draw(one)
    for program, by_network in bars():
        print(
            f"{program:30}",
            "  ".join(f"{network}: {text_of(value)}" for network, value in by_network.items()),
        )
