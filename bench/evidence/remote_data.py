# SPDX-License-Identifier: BSD-3-Clause
"""The cache for remote data (PGAS 2015): its synthetic programs, prefetch by distance, and
applications, on the page cache."""

from driver import shmem, shmem_apps
from driver.openshmem import NETWORKS

from . import style
from .figure import Figure, Study
from .table import where

# Results stated in the paper's text, by our names of the rows; its figures have more bars, but
# without numbers. "-": not stated.
PAPERS_NETWORKS = (
    "1 Gb Ethernet",
    "10 Gb Ethernet",
    "InfiniBand",
    "Aries (GASNet)",
    "Aries (uGNI)",
)
PAPER = {
    "copy": ("350", "480", "98", "-", "26"),
    "rand_gets": ("0.91", "-", "-", "-", "0.91"),
    "rand_puts, plain with a quiet each": ("3.7", "2.0", "about 3", "modest", "modest"),
    "prefetch, no hints": ("2 to 3",) * 5,
    "prefetch, best distance": ("10", "10", "10", "4", "4"),
    "hydro": ("-", "-", "1.3", "3.5", "4.9"),
    "minimd": ("-", "-", "about 3", "about 3", "1.6"),
    "ptrans": ("about 2",) * 5,
    "ssca2": ("-", "-", "slower", "-", "slower"),
}
NAMES = {
    "rand_puts, plain with a quiet each": "rand-puts",
    "rand_gets": "rand-gets",
    "hydro": "LULESH; ours: hydro",
    "minimd": "miniMD",
    "ptrans": "PTRANS",
    "ssca2": "SSCA2, kernel 4",
}


def synthetics(laboratory):
    laboratory.say("copy, rand-gets, rand-puts, prefetch")
    rows, _, _ = shmem.measure(laboratory.launch, laboratory.arguments, list(NETWORKS))
    return {
        "synthetics": [row for row in rows if row["program"] != "prefetch"],
        "prefetch": [{"mode": mode_of(row), **row} for row in rows if row["program"] == "prefetch"],
    }


def mode_of(row):
    """Return a column value that keeps the adaptive distance, which is not a number, out of a
    line."""
    return "adaptive" if row["distance"] == "adaptive" else "fixed"


def programs(laboratory):
    laboratory.say("programs")
    rows, _, _ = shmem_apps.measure(laboratory.launch, laboratory.arguments, list(NETWORKS))
    return {"programs": rows}


def bars(rows, title):
    """Draw speedups in groups of one program, with a bar for each network."""
    figure, (axes,) = style.panels(1, width=10, height=4.8)
    names = list(dict.fromkeys(row["program"] for row in rows))
    shown = [network for network in NETWORKS if where(rows, network=network)]
    for place, network in enumerate(shown):
        of_network = {row["program"]: row for row in where(rows, network=network)}
        at = [
            names.index(name) + (place - (len(shown) - 1) / 2) * 0.8 / len(shown)
            for name in of_network
        ]
        # Bars start at 1, so that slowdowns hang below the line.
        heights = [row["speedup"] - 1 for row in of_network.values()]
        spread = [
            [max(0, row["speedup"] - row["speedup_low"]) for row in of_network.values()],
            [max(0, row["speedup_high"] - row["speedup"]) for row in of_network.values()],
        ]
        axes.bar(
            at,
            heights,
            0.75 / len(shown),
            bottom=1,
            yerr=spread,
            label=network,
            color=style.COLOURS[place],
            ecolor=style.GREY,
        )
    style.log_scale(axes)
    axes.axhline(1, color=style.BLACK, linewidth=1)
    axes.set_xticks(range(len(names)), [name.replace(", ", ",\n") for name in names], fontsize=10)
    axes.set_ylabel("times faster with the cache")
    axes.set_title(title)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_prefetch(rows):
    networks = [network for network in NETWORKS if where(rows, network=network)]
    figure, all_axes = style.panels(len(networks), width=5.2)
    for axes, network in zip(all_axes, networks):
        style.line(
            axes,
            where(rows, network=network, mode="fixed"),
            "distance",
            "speedup",
            "fixed distance",
        )
        for adaptive in where(rows, network=network, mode="adaptive"):
            axes.axhline(adaptive["speedup"], color=style.RED, linestyle="--", label="adaptive")
        axes.set_ylim(bottom=0)
        axes.set_title(network)
        axes.set_xlabel("accesses ahead")
    all_axes[0].set_ylabel("times faster than without the cache")
    all_axes[0].legend()
    return figure


NETWORKS_TEXT = "tcp, and the network model with Aries' and InfiniBand's latency and bandwidth of the paper's Table I"

SYNTHETICS = Study(
    "synthetics",
    (
        Figure(
            "synthetics",
            "shmem_synthetics",
            "OpenSHMEM: copy, rand-gets, rand-puts, with the page cache and without",
            "Fig. 1, section V.A: copy is 26 to 98 times faster, over Ethernet 350 and 480 times; "
            "rand-gets loses up to 10%; rand-puts gains 3 times over InfiniBand, 3.7 over 1 Gb "
            "and 2.0 over 10 Gb Ethernet.",
            f"`bench/run shmem` with the paper's sizes, 2 PEs, over {NETWORKS_TEXT}. In a language "
            "without a cache, a put is complete before the next statement. So rand-puts is "
            "compared with a put and a quiet each and, which is harder, with puts and one quiet "
            "at the end.",
            lambda rows: bars(rows, "Synthetic programs"),
        ),
        Figure(
            "prefetch",
            "shmem_prefetch",
            "OpenSHMEM: computed indices, prefetched k accesses ahead",
            "Fig. 2, section V.A: 2 to 3 times without hints, as the array's header is cached; over InfiniBand another 4 times at the best "
            "distance, 14; 10 times in all. An adaptive distance is left to future work (section VII).",
            "`apps/shmem/synthetic/prefetch.c`: 30,000 reads of 10,000,000 integers, over "
            f"{NETWORKS_TEXT}. An access reads the lower bound, the upper bound and the place of "
            "the data from the other PE's descriptor, then the element; so 4 times is what can be "
            "gained without hints. For the dashed line, the program asks the library for the "
            "distance at each access.",
            draw_prefetch,
        ),
    ),
    synthetics,
    (90, 420),
    openshmem=True,
)

PROGRAMS = Study(
    "programs",
    (
        Figure(
            "programs",
            "shmem_programs",
            "OpenSHMEM: programs with the page cache and without",
            "Fig. 3, section V.B, 8 locales: LULESH is 4.9 (uGNI), 3.5 (Aries) and 1.3 (InfiniBand) times faster, miniMD about 3, PTRANS "
            "about 2, SSCA2 slower on several networks.",
            f"`bench/run shmem_apps`: programs of `apps/shmem` in C, 2 PEs, over {NETWORKS_TEXT}. "
            "They do what the paper's Chapel programs do, but are other programs. In every run, "
            "the results are those of a serial reference.",
            lambda rows: bars(rows, "Programs"),
        ),
    ),
    programs,
    (80, 420),
    openshmem=True,
)
