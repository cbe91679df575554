# SPDX-License-Identifier: BSD-3-Clause
"""Fig. 14, 17 and 18: weak scaling of Barnes-Hut and LCC on 16 to 128 simulated ranks."""

from driver import scale

from . import shares, style
from .barnes_hut import NATIVE_HIT_NS
from .figure import Figure, Study
from .simulated import Job, Simulations
from .table import ratio, where

CASES = {"plain": "plain gets", "native": "native cache", "fixed": "fixed", "adaptive": "adaptive"}
COLOURS = {"plain": style.BLACK, "native": style.ORANGE, "fixed": style.SKY, "adaptive": style.BLUE}


def measure(laboratory):
    bodies, lcc = scale.BarnesHut(laboratory.quick), scale.Lcc(laboratory.quick)
    # sizes that finish in minutes on 128 ranks
    bodies.per_rank, lcc.per_rank = (16, 64) if laboratory.quick else (32, 256)
    counts_of_ranks = (
        [ranks for ranks in scale.RANKS if ranks != 64] if laboratory.quick else scale.RANKS
    )
    jobs = [job for ranks in counts_of_ranks for app in (bodies, lcc) for job in of_app(app, ranks)]
    rows = with_speedup(Simulations(laboratory).rows(jobs))
    times = (
        "ranks",
        "case",
        "size",
        "per_unit_us",
        "communication_s",
        "processing_s",
        "total_s",
        "speedup",
        "gets",
        "bytes",
        "adaptations",
        *shares.TYPES,
    )
    types = ("ranks", "case", *shares.TYPES)
    of_lcc = where(rows, application="lcc")
    return {
        "14": [
            {name: row[name] for name in times} for row in where(rows, application="barnes_hut")
        ],
        "17": [{name: row[name] for name in times[: -len(shares.TYPES)]} for row in of_lcc],
        "18": [
            {name: row[name] for name in types}
            for row in of_lcc
            if row["case"] in ("fixed", "adaptive")
        ],
    }


def of_app(app, ranks):
    label = {"application": app.name}
    jobs = [Job(app, ranks, {**label, "case": "plain"})]
    if app.name == "barnes_hut":
        memory = app.options()["storage"]
        jobs.append(
            Job(
                app,
                ranks,
                {**label, "case": "native"},
                words=[
                    "--fetch",
                    "native",
                    "--native-memory",
                    memory,
                    "--native-hit-cost",
                    NATIVE_HIT_NS,
                ],
            )
        )
    return jobs + [
        Job(app, ranks, {**label, "case": case}, {**app.options(), **scale.OPTIONS[case]})
        for case in ("fixed", "adaptive")
    ]


def with_speedup(rows):
    plain = {
        (row["application"], row["ranks"]): row["communication_s"]
        for row in where(rows, case="plain")
    }
    return [
        {
            **row,
            "speedup": ratio(plain.get((row["application"], row["ranks"])), row["communication_s"]),
        }
        for row in rows
    ]


def draw_scaling(rows, unit):
    figure, (times, speedups) = style.panels(2)
    for place, (case, label) in enumerate(CASES.items()):
        of_case = where(rows, case=case)
        if not of_case:
            continue
        how = {"color": COLOURS[case]}
        style.line(times, of_case, "ranks", "per_unit_us", label, place, **how)
        style.line(speedups, of_case, "ranks", "speedup", label, place, **how)
        for row in of_case if case == "adaptive" else ():
            times.annotate(
                str(row["adaptations"]),
                (row["ranks"], row["per_unit_us"]),
                xytext=(0, -14),
                textcoords="offset points",
                fontsize=8,
                ha="center",
            )
    times.set_ylabel(unit)
    style.log_scale(times)
    speedups.set_ylabel("speedup of communication over plain gets")
    speedups.set_ylim(0, None)
    for axes in (times, speedups):
        axes.set_xscale("log", base=2)
        axes.set_xticks(scale.RANKS, [str(ranks) for ranks in scale.RANKS])
        axes.set_xlabel("processing elements (SimGrid)")
    times.margins(y=0.1)
    times.legend()
    return figure


def draw_types(rows):
    figure, both = style.panels(2)
    for axes, case in zip(both, ("fixed", "adaptive")):
        shown = where(rows, case=case)
        shares.draw(axes, shown, [f"{row['ranks']}" for row in shown], case)
        axes.set_xlabel("processing elements (SimGrid)")
    shares.legend(figure, both)
    return figure


def counts(rows):
    first = min(rows, key=lambda row: row["ranks"])
    return {
        "counts": f"from {first['size'].split(' (')[0]} on {first['ranks']} ranks, with as many per rank on all"
    }


STUDY = Study(
    "scaling",
    (
        Figure(
            "14",
            "fig14_barnes_hut_scaling",
            "Barnes-Hut: weak scaling",
            "Section IV.B: both strategies are up to about 3 times faster than native and 5 times "
            "faster than foMPI; adaptive adjusts nothing. |S_w| = 2 MB, |I_w| = 30K; 1.5K bodies "
            "a process according to the caption, 8K according to the text.",
            "As `bench/run scale`, {counts}; storage and index are scaled from 1,500 bodies a "
            "rank with them. A dragonfly with Aries' latency and bandwidth in SimGrid, in virtual "
            "time. Adaptive may grow beyond the storage it begins with.",
            lambda rows: draw_scaling(rows, "force phase, us a body"),
            counts,
        ),
        Figure(
            "17",
            "fig17_lcc_scaling",
            "LCC: weak scaling",
            "Section IV.C.2: 2^15 vertices a process, |S_w| = 128 MB, |I_w| = 128K. Fixed falls "
            "behind adaptive above 32 processes; both come nearer to foMPI as processes are "
            "added. Adaptive grows to 256 MB with 1 adjustment, and to 512 MB with 6 (64, 128 "
            "processes).",
            "As `bench/run scale`, {counts}, unpermuted, with row pointers in a window; storage "
            "and index are scaled with them. The numbers count changes of a size, over all ranks "
            "and windows.",
            lambda rows: draw_scaling(rows, "us a vertex"),
            counts,
        ),
        Figure(
            "18",
            "fig18_lcc_scaling_types",
            "LCC: how the gets were answered, by number of processes",
            "Section IV.C.2: with adaptive, there are more direct accesses as processes are "
            "added, and all other misses stay below 8% of the gets; fixed has more capacity and "
            "failing ones.",
            "The runs of Fig. 17.",
            draw_types,
        ),
    ),
    measure,
    (100, 450),
)
