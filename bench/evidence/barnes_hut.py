# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 12 and 13: Barnes-Hut by storage and index, and how its gets were answered."""

from driver import barnes_hut, scale

from . import shares, style
from .figure import Figure, Study
from .simulated import Job, Simulations
from .table import ratio, values, where

RANKS = 16  # as in the paper, in SimGrid
STORAGES, QUICK_STORAGES = (0.5, 1, 2, 4), (1, 4)  # MB, for the paper's 20,000 bodies
INDICES, QUICK_INDICES = (1000, 5000, 20000), (1000, 20000)
SHOWN = 1  # MB, the storage shown in Fig. 13
# A hit of the native cache takes a tag comparison and no copy. On two ranks with a native cache
# that holds everything, `barnes_hut --bodies 6000 --steps 0` takes the time of 1.7 more
# interactions per hit than on one rank: 22 ns, rounded down.
NATIVE_HIT_NS = 20


def measure(laboratory):
    rows = []
    networks = laboratory.networks()
    for number, (name, launch) in enumerate(networks.items()):
        laboratory.say(f"barnes_hut over {name}", number / 3)
        rows += laboratory.attempt(
            name, lambda name=name, launch=launch: over_network(laboratory, name, launch)
        )
    laboratory.say(f"barnes_hut on {RANKS} simulated ranks", 2 / 3)
    rows += laboratory.attempt("simgrid", lambda: simulated(laboratory))
    rows = with_speedup(rows)
    times = (
        "network",
        "ranks",
        "bodies",
        "fetch",
        "storage_mb",
        "index_k",
        "storage",
        "index",
        "us_per_body",
        "speedup",
        "adaptations",
    )
    types = ("network", "ranks", "bodies", "fetch", "storage_mb", "index_k", *shares.TYPES)
    cached = [row for row in rows if row["fetch"] in ("fixed", "adaptive")]
    return {
        "12": [{name: row[name] for name in times} for row in rows],
        "13": [{name: row[name] for name in types} for row in cached],
    }


def over_network(laboratory, network, launch):
    bench = barnes_hut.Bench(launch, bodies=1000 if laboratory.quick else 2000, steps=0)
    with laboratory.folder() as folder:
        bench.folder = str(folder)
        found = [
            bench.row("plain", "plain", {}, [bench.run()]),
            *bench.parameters(quick=laboratory.quick),
        ]
    return [of_driver(network, bench, row) for row in found]


def of_driver(network, bench, row):
    """Return a row of bench/run barnes_hut in the columns of this figure."""
    storage, index = row["storage"], row["index"]
    if storage is None and row["memory_bytes"]:
        storage = row["memory_bytes"]  # for the native cache
    types = {name: row[name] or 0 for name in barnes_hut.TYPES}
    return {
        "network": network,
        "ranks": 2,
        "bodies": bench.bodies,
        "fetch": row["fetch"],
        "storage_mb": of_paper(storage, bench.bodies, 2**20),
        "index_k": of_paper(index, bench.bodies, 1000),
        "storage": storage,
        "index": index,
        "us_per_body": row["force_us_per_body"]["median"],
        "adaptations": row["adaptations"],
        **shares.of_counts(types),
    }


def of_paper(value, bodies, unit):
    """Scale a size to the paper's number of bodies, in MB or thousands, to two digits: our sizes
    are truncated to whole ones."""
    return (
        None if value is None else float(f"{value * barnes_hut.PAPER_BODIES / bodies / unit:.2g}")
    )


def simulated(laboratory):
    app = scale.BarnesHut(laboratory.quick)
    app.per_rank = 32 if laboratory.quick else 64
    bodies = app.per_rank * RANKS
    label = {"network": "simgrid", "bodies": bodies}
    jobs = [Job(app, RANKS, {**label, "fetch": "plain"})]
    for megabytes in QUICK_STORAGES if laboratory.quick else STORAGES:
        storage = int(megabytes * 2**20) * bodies // barnes_hut.PAPER_BODIES
        sized = {**label, "storage_mb": megabytes, "storage": storage}
        native = [
            "--fetch",
            "native",
            "--native-memory",
            storage,
            "--native-hit-cost",
            NATIVE_HIT_NS,
        ]
        jobs += [
            Job(app, RANKS, {**sized, "fetch": name}, words=[*native, "--native-mapping", mapping])
            for name, mapping in (("native", "hash"), ("native_linear", "linear"))
        ]
        for entries in QUICK_INDICES if laboratory.quick else INDICES:
            index = entries * bodies // barnes_hut.PAPER_BODIES
            jobs += [
                Job(
                    app,
                    RANKS,
                    {**sized, "fetch": fetch, "index_k": entries / 1000, "index": index},
                    {
                        "storage": storage,
                        "index": index,
                        "adaptive": int(fetch == "adaptive"),
                        "skip_cheap": 0,
                    },
                )
                for fetch in ("fixed", "adaptive")
            ]
    empty = dict.fromkeys(("storage_mb", "index_k", "storage", "index"))
    return [
        {**empty, **row, "us_per_body": row["per_unit_us"]}
        for row in Simulations(laboratory).rows(jobs)
    ]


def with_speedup(rows):
    plain = {row["network"]: row["us_per_body"] for row in where(rows, fetch="plain")}
    return [
        {**row, "speedup": ratio(plain.get(row["network"]), row["us_per_body"])} for row in rows
    ]


def draw_times(rows):
    networks = values(rows, "network")
    figure, all_axes = style.panels(1, rows=len(networks), width=12, height=3.6)
    for axes, network in zip(all_axes, networks):
        of_network = where(rows, network=network)
        plain = where(of_network, fetch="plain")[0]
        bars(axes, of_network)
        axes.axhline(plain["us_per_body"], color=style.BLACK, linestyle="--", label="plain gets")
        style.log_scale(axes)
        axes.set_ylabel("force phase, us a body")
        axes.set_title(f"{title(plain)}: {plain['bodies']:,} bodies")
        axes.set_ylim(None, 3 * axes.get_ylim()[1])  # room for the numbers above the bars
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def title(row):
    return (
        f"SimGrid, {row['ranks']} ranks"
        if row["network"] == "simgrid"
        else style.NETWORKS[row["network"]]
    )


def bars(axes, rows):
    """Draw a group of bars for each storage: both native caches, then fixed and adaptive by index;
    the number counts adaptations."""
    rows = [row for row in rows if row["fetch"] != "plain"]
    kinds = list(dict.fromkeys((row["fetch"], row["index_k"]) for row in rows))
    storages = sorted(values(rows, "storage_mb"))
    colours = {
        "native": style.YELLOW,
        "native_linear": style.ORANGE,
        "fixed": style.SKY,
        "adaptive": style.BLUE,
    }
    for place, (fetch, index) in enumerate(kinds):
        for at, storage in enumerate(storages):
            for row in where(rows, fetch=fetch, index_k=index, storage_mb=storage):
                x = at + (place - len(kinds) / 2 + 0.5) * 0.9 / len(kinds)
                label = fetch.replace("_", ", ")
                known = label in axes.get_legend_handles_labels()[1]
                axes.bar(
                    x,
                    row["us_per_body"],
                    width=0.8 / len(kinds),
                    color=colours[fetch],
                    label=None if known else label,
                )
                note = (
                    ""
                    if index is None
                    else f"{index:g}K" + (f", {row['adaptations']}" if fetch == "adaptive" else "")
                )
                axes.annotate(
                    note,
                    (x, row["us_per_body"]),
                    ha="center",
                    va="bottom",
                    fontsize=7,
                    rotation=90,
                    xytext=(0, 2),
                    textcoords="offset points",
                )
    axes.set_xticks(range(len(storages)), [f"|S_w| = {storage:g} MB" for storage in storages])
    axes.grid(axis="x", visible=False)


def draw_types(rows):
    networks = values(rows, "network")
    figure, all_axes = style.panels(len(networks), width=4.6)
    for axes, network in zip(all_axes, networks):
        shown = where(rows, network=network, storage_mb=SHOWN)
        shares.draw(
            axes, shown, [f"{row['fetch']}\n{row['index_k']:g}K" for row in shown], title(shown[0])
        )
    shares.legend(figure, all_axes)
    return figure


def counts(rows):
    plain = where(rows, fetch="plain")
    return {"counts": "; ".join(f"{title(row)}: {row['bodies']:,} bodies" for row in plain)}


COSTS = ", ".join(
    f"{name.removeprefix('cost-per-').removeprefix('cache-').removesuffix('-cost')} {ns} ns"
    for name, ns in scale.BarnesHut.COSTS.items()
)
SCALED = "Storage and index are the paper's, scaled with the bodies (the labels are the paper's)"
STUDY = Study(
    "barnes_hut",
    (
        Figure(
            "12",
            "fig12_barnes_hut",
            "Barnes-Hut: force phase by storage and index",
            "Section IV.B: without a cache 1.53 ms a body; native takes about 820 us with 1 MB "
            "and 400 us with 4 MB. Adaptive is the best in all cases; fixed with an index of 1K "
            "is held back by conflicting accesses. 20,000 bodies on 16 processes.",
            f"`barnes_hut`, theta 0.5, Plummer sphere; {{counts}}. {SCALED}. native is our own "
            "block cache, mapped by hash or linearly. Adaptive may grow beyond the storage it "
            "begins with; native may not (`bench/run barnes_hut` compares them at equal memory). "
            f"Simulated work is charged: {COSTS}, a native hit {NATIVE_HIT_NS} ns.",
            draw_times,
            counts,
        ),
        Figure(
            "13",
            "fig13_barnes_hut_types",
            "Barnes-Hut: how the gets were answered, storage 1 MB",
            "Section IV.B: fixed with an index of 1K has many conflicting accesses.",
            f"The runs of Fig. 12. {SCALED}.",
            draw_types,
        ),
    ),
    measure,
    (40, 220),
)
