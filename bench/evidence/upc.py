# SPDX-License-Identifier: BSD-3-Clause
"""The thesis on a UPC runtime (Lewis, MTSU 2020): put and get by size (Fig. 13, 14), cpi, STREAM,
RandomAccess (19 to 21, 23, 24)."""

import os

from driver import upc
from driver.numbers import summarise
from driver.openshmem import PLAIN, ShmemLaunch
from driver.upc_build import UpcLaunch

from . import style
from .figure import Figure, Study
from .table import values, where

TRANSFERS = ("upc_memget", "upc_memput, upc_fence")
THREADS = (1, 2, 4)
# The thesis's own sizes: 4,000,000 elements, a table of 2^21 words; --quick uses a quarter, and
# 2^18.
ELEMENTS, LOG2_WORDS = 4_000_000, 21
HEAP = "160M"  # per thread: three arrays of ELEMENTS
GUPS = "gups"  # the same updates by OpenSHMEM in C


def transfers(laboratory):
    laboratory.say("put and get by size")
    rows, _, _ = upc.transfers(UpcLaunch(laboratory.launch.build), laboratory.quick)
    return {"transfers": [row for row in rows if row["call"] in TRANSFERS]}


def kernels(laboratory):
    upcc = UpcLaunch(laboratory.launch.build)
    compiled = {}
    for name in ("cpi", "stream-triad", "random-access"):
        laboratory.say(f"compiling {name}")
        compiled[name] = upcc.folder / name
        source = f"apps/upc/{name}/{name}.upc"
        upcc.upcc(["-O3", source, "-o", compiled[name], "-lm"], f"compiling {name}")
    rounds = 2 if laboratory.quick else 3
    found = {}
    for number in range(rounds):
        for threads in THREADS:
            laboratory.say(
                f"{threads} threads, round {number + 1} of {rounds}",
                (number + THREADS.index(threads) / len(THREADS)) / rounds,
            )
            for key, value in one_round(laboratory, upcc.of(threads), compiled):
                found.setdefault((*key, threads), []).append(value)
    return {
        "kernels": [
            {"program": program, "case": case, "threads": threads, column: summarise(measured)}
            for (program, case, column, threads), measured in found.items()
        ]
    }


def one_round(laboratory, launch, compiled):
    """Yield ((program, case, column), value) of all programs on the launch's number of threads."""

    def run(name, words, cache="off"):
        options = {"shmem": "off"} if cache == "off" else {}
        options["upc_shared_heap"] = HEAP
        return launch.said(str(compiled[name]), words, network="tcp", options=options)

    done = run("cpi", ["--intervals", 10_000_000])
    yield ("cpi", "UPC", "seconds"), done["seconds"]
    yield ("cpi", "C, one thread's share", "seconds"), done["serial_seconds"] / launch.ranks
    # The bandwidth of threads that share a core means nothing.
    if launch.ranks <= len(os.sched_getaffinity(0)):
        elements = ELEMENTS // 4 if laboratory.quick else ELEMENTS
        done = run("stream-triad", ["--size", elements, "--remote-size", 8, "--iterations", 5])
        yield ("stream-triad", "pointers to shared", "mb_per_s"), sum(done["shared_mb_s"])
        yield ("stream-triad", "private pointers, as C", "mb_per_s"), sum(done["private_mb_s"])
    log2_words = LOG2_WORDS - 3 if laboratory.quick else LOG2_WORDS
    updates = 40_000 if laboratory.quick else 100_000
    words = ["--log2-words", log2_words, "--updates", updates]
    for case, more, cache in (
        ("UPC", [], "off"),
        ("UPC, cache", [], "on"),
        ("UPC, upc_atomic", ["--atomic"], "off"),
    ):
        done = run("random-access", [*words, *more], cache)
        yield ("random-access", case, "updates_per_s"), 1e9 * done["gups"]
        yield ("random-access", f"{case}: wrong", "wrong_percent"), done["wrong_percent"]
    words = ["--xor", "--words", 2**log2_words, "--updates", updates]
    done = ShmemLaunch(launch.build, ranks=launch.ranks).side(PLAIN, "tcp", GUPS, words)
    yield ("random-access", "OpenSHMEM in C", "updates_per_s"), 1e9 * done["gups"]


# --- plots ---------------------------------------------------------------------------------------------------------------------


def draw_transfers(rows):
    figure, panels = style.panels(len(TRANSFERS), rows=2, width=6)
    for column, call in enumerate(TRANSFERS):
        of_call = where(rows, call=call)
        plain = where(of_call, cache="off")
        times, ratios = panels[column], panels[column + len(TRANSFERS)]
        for place, (name, label) in enumerate({"upc": "UPC", "shmem": "OpenSHMEM"}.items()):
            style.line(times, scaled(plain, f"{name}_ns", 1e-3), "bytes", "scaled", label, place)
        for place, cache in enumerate(values(of_call, "cache")):
            shown = where(of_call, cache=cache)
            style.line(ratios, shown, "bytes", "ratio", f"cache {cache}", place + 2)
        style.log_scale(times)
        times.set_ylabel("us")
        times.set_title(f"{call}, tcp")
        ratios.axhline(1, color=style.BLACK, linewidth=1)
        ratios.set_ylim(0.8, 1.2)
        ratios.set_ylabel("UPC over OpenSHMEM")
        for axes in (times, ratios):
            style.sizes_axis(axes, values(of_call, "bytes")[::2], "bytes of a transfer")
            axes.legend()
    return figure


def scaled(rows, column, factor):
    """Return the rows with a column and its interval in another unit."""
    return [
        {
            **row,
            **{
                f"scaled{part}": factor * row[f"{column}{part}"]
                for part in ("", "_low", "_high")
                if row[f"{column}{part}"] is not None
            },
        }
        for row in rows
    ]


def draw_kernels(rows):
    figure, panels = style.panels(2, rows=2, width=6)
    shown = {
        "cpi": ("seconds", 1e3, "ms"),
        "stream-triad": ("mb_per_s", 1e-3, "GB/s of all threads"),
        "random-access": ("updates_per_s", 1e-6, "million updates a second"),
        "random-access, wrong words": ("wrong_percent", 1, "% of the words"),
    }
    for axes, (title, (column, factor, label)) in zip(panels, shown.items()):
        of_panel = [
            row for row in rows if row["program"] == title.split(",")[0] and row[column] is not None
        ]
        for place, case in enumerate(values(of_panel, "case")):
            of_case = scaled(where(of_panel, case=case), column, factor)
            style.line(axes, of_case, "threads", "scaled", case.split(":")[0], place)
        axes.set_xscale("log", base=2)
        threads = values(of_panel, "threads")
        axes.set_xticks(threads, [str(each) for each in threads])
        axes.minorticks_off()
        axes.set_xlabel("threads, on two cores")
        axes.set_ylabel(label)
        axes.set_title(title)
        if column == "updates_per_s":
            style.log_scale(axes, subs=(1,))
        else:
            axes.set_ylim(bottom=0)
        axes.legend(loc="best")
    return figure


TRANSFER_STUDY = Study(
    "upc transfers",
    (
        Figure(
            "transfers",
            "upc_transfers",
            "UPC: put and get by size, beside plain OpenSHMEM",
            "Thesis on a UPC runtime (Lewis, MTSU 2020), Fig. 13 and 14, chapter VI: beside Berkeley UPC, a put of "
            "1 B takes 3.2% (MVAPICH2-X) and 3.8% (Open MPI) less, a get of 1 B 0.5% less; over all "
            "sizes a get takes 0.03% (Open MPI) and 1.7% (MVAPICH2-X) more.",
            "`bench/run upc`: `upc_memget` and `upc_memput` with `upc_fence`, beside `shmem_getmem` and "
            "`shmem_putmem` with `shmem_quiet` of the same bytes, call by call in turn, two threads over "
            "tcp. Berkeley UPC is not here: what UPC adds to the library below it is shown.",
            draw_transfers,
        ),
    ),
    transfers,
    (60, 240),
    openshmem=True,
)

KERNEL_STUDY = Study(
    "upc kernels",
    (
        Figure(
            "kernels",
            "upc_kernels",
            "UPC: cpi, STREAM's triad and RandomAccess, by threads",
            "Thesis, Fig. 19 to 24, chapter VI, 2 to 128 threads on 4 nodes: cpi differs by less than 2.64% from "
            "Berkeley UPC; at 64 threads the triad has up to 63% more bandwidth, at 128 threads "
            "4.6% to 36% less; RandomAccess keeps up while all threads are near the network card.",
            "`apps/upc` (our programs, not Berkeley's), 1, 2 and 4 threads over tcp, on two cores, which 4 threads "
            "share. cpi beside the same sum in C, divided by the threads. The triad beside the same loop over private pointers; "
            "RandomAccess beside `gups --xor` of `apps/shmem`, which "
            "updates by get and put likewise, but no word from two PEs.",
            draw_kernels,
        ),
    ),
    kernels,
    (25, 80),
    openshmem=True,
)
