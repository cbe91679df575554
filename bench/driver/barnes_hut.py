# SPDX-License-Identifier: BSD-3-Clause
"""apps/barnes_hut over tcp: plain gets, the hand-made (native) cache and Nearcache in turn, and the
rows of the CLaMPI paper's Fig. 12 (parameters) and Fig. 13 (access types)."""

import filecmp
import json
import os
import tempfile

from .access_types import TYPES
from .build import Failure
from .numbers import median, summarise

THETA, SEED = 0.5, 1
# with |S_w| = 1, 2 and 4 MB and |I_w| = 1K .. 20K; all are scaled to our number of bodies
PAPER_BODIES = 20000
MAIN_MB = 1  # the paper's size at which plain, native and Nearcache are compared
# Equal memory includes Nearcache's metadata. An entry takes some 64 bytes of storage here, and 61
# bytes (large cache) to 74 bytes (small cache) of metadata.
ENTRY_BYTES, METADATA_BYTES, METADATA_FIXED = 144, 74, 4096


def measure(launch, arguments):
    bench = Bench(
        launch, bodies=2000 if arguments.quick else 4000, steps=0 if arguments.quick else 1
    )
    with tempfile.TemporaryDirectory(prefix="nearcache-bench-") as folder:
        bench.folder = folder
        main = bench.equal_memory(repetitions=1 if arguments.quick else 3)
        results = list(main.values()) + bench.parameters(quick=arguments.quick)
        equal = all(
            filecmp.cmp(bench.outputs[0], other, shallow=False) for other in bench.outputs[1:]
        )
    seconds = {fetch: row["force_us_per_body"]["median"] for fetch, row in main.items()}
    summary = {"speedup_tcp": None, "speedup_over_native": None, "results_equal": equal}
    details = {
        "bodies": bench.bodies,
        "theta": THETA,
        "memory_bytes": bench.memory(MAIN_MB),
        "checksum": bench.checksum,
        "energy_drift": bench.energy_drift,
    }
    if bench.loaded:
        summary.update(
            {
                "speedup_tcp": seconds["plain"] / seconds["nearcache"],
                "speedup_over_native": seconds["native"] / seconds["nearcache"],
            }
        )
        # On two ranks this mapping has no conflicts at all if the other rank's window fits into the
        # memory.
        details["speedup_over_native_linear"] = seconds["native_linear"] / seconds["nearcache"]
        details["memory_is_equal"] = main["nearcache"]["memory_bytes"] <= bench.memory(MAIN_MB)
    return results, summary, details


class Bench:
    def __init__(self, launch, bodies, steps):
        self.launch, self.bodies, self.steps = launch, bodies, steps
        self.loaded = launch.build.preload().exists()
        self.folder, self.outputs = None, []
        self.checksum = self.energy_drift = None

    def memory(self, megabytes):
        return int(megabytes * 2**20) * self.bodies // PAPER_BODIES

    def equal_memory(self, repetitions):
        """Return {name: row}. Cases run in turn, so that other load on the machine affects all of
        them."""
        memory = self.memory(MAIN_MB)
        index = memory // ENTRY_BYTES
        cases = {
            "plain": {},
            "native": native(memory, "hash"),
            "native_linear": native(memory, "linear"),
        }
        if self.loaded:
            cases["nearcache"] = cached(
                memory - METADATA_BYTES * index - METADATA_FIXED, index, adaptive=False
            )
        runs = {name: [] for name in cases}
        for _ in range(repetitions):
            for name, case in cases.items():
                runs[name].append(self.run(**case))
        return {
            name: self.row("equal_memory", name, cases[name], each) for name, each in runs.items()
        }

    def parameters(self, quick):
        """Return the rows of the paper's Fig. 12, one run each. As there, native's memory is |S_w|
        alone."""
        rows = []
        for megabytes in (1, 4) if quick else (0.5, 1, 2, 4):
            storage = self.memory(megabytes)
            cases = [
                ("native", native(storage, "hash")),
                ("native_linear", native(storage, "linear")),
            ]
            if self.loaded:
                for entries in (1000, 20000) if quick else (1000, 5000, 20000):
                    index = max(64, entries * self.bodies // PAPER_BODIES)
                    cases += [
                        ("fixed", cached(storage, index, adaptive=False)),
                        ("adaptive", cached(storage, index, adaptive=True)),
                    ]
            rows += [self.row("parameters", name, case, [self.run(**case)]) for name, case in cases]
        return rows

    def run(self, words=(), options=None):
        paths = {
            kind: os.path.join(self.folder, f"{len(self.outputs)}.{kind}")
            for kind in ("json", "tsv")
        }
        self.launch.run(
            "barnes_hut",
            [
                "--bodies",
                self.bodies,
                "--theta",
                THETA,
                "--seed",
                SEED,
                "--steps",
                self.steps,
                "--json",
                paths["json"],
                "--output",
                paths["tsv"],
                *words,
            ],
            cached=options is not None,
            options=options,
        )
        self.outputs.append(paths["tsv"])
        with open(paths["json"], encoding="utf-8") as file:
            found = json.load(file)
        if self.checksum not in (None, found["checksum"]):
            raise Failure(
                f"barnes_hut: checksum {found['checksum']} instead of {self.checksum}: {words} {options}"
            )
        self.checksum, self.energy_drift = found["checksum"], found["energy"]["drift"]
        return found

    def row(self, study, name, case, runs):
        options, last = case.get("options") or {}, runs[-1]
        cache, native_ = last["nearcache"] or {}, last["native"] or {}
        memory = cache.get("memory_bytes_max") or native_.get("memory_bytes") or 0
        walks = last["bodies"] * last["force_phases"]
        fetched = (
            sum(cache[kind] for kind in TYPES if not kind.startswith("hits"))
            if cache
            else last["gets"]
        )
        shares = {kind: cache[kind] / max(1, cache["gets"]) if cache else None for kind in TYPES}
        return {
            "study": study,
            "fetch": name,
            "storage": options.get("storage"),
            "index": options.get("index"),
            "memory_bytes": memory,
            "force_us_per_body": summarise([r["force_us_per_body"] for r in runs]),
            "total_s": median([r["seconds"]["total"] for r in runs]),
            "remote_nodes_per_body": last["nodes_remote"] / walks,
            "network_gets_per_body": fetched / walks,
            "adaptations": cache.get("adaptations"),
            **shares,
        }


def native(memory, mapping):
    return {"words": ["--fetch", "native", "--native-memory", memory, "--native-mapping", mapping]}


def cached(storage, index, adaptive):
    return {"options": {"storage": storage, "index": index, "adaptive": int(adaptive)}}
