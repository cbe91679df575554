# SPDX-License-Identifier: BSD-3-Clause
"""Runs simulations in parallel, one per core: virtual time is independent of other load on the
machine."""

import concurrent.futures
import json
import os
from dataclasses import dataclass, field

from driver.scale import access_types
from scale import simgrid

from . import shares

LONGEST = 1800  # time limit of one simulation in seconds of real time


@dataclass
class Job:
    """A simulation. `app` is a description from driver/scale.py; `label` are the columns that
    distinguish its row."""

    app: object
    ranks: int
    label: dict
    options: dict = None  # Nearcache's; None: without it
    words: list = field(default_factory=list)


class Simulations:
    def __init__(self, laboratory):
        self.laboratory, self.programs = laboratory, laboratory.simulator()

    def rows(self, jobs):
        """Return a row for every job, in their order.

        One that fails is left out and reported. The longest run starts first, so that none is left
        for the end.
        """
        done = 0
        with (
            self.laboratory.folder() as folder,
            concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
        ):
            order = sorted(enumerate(jobs), key=lambda each: -each[1].ranks)
            futures = {pool.submit(self.attempt, job, folder / str(at)): at for at, job in order}
            found = {}
            try:
                for future in concurrent.futures.as_completed(futures):
                    found[futures[future]] = future.result()  # one row or none
                    done += 1
                    self.laboratory.say(f"SimGrid: {done} of {len(jobs)} runs", done / len(jobs))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [row for at in range(len(jobs)) for row in found[at]]

    def attempt(self, job, folder):
        name = " ".join(
            str(value)
            for value in (job.app.name, job.ranks, *job.label.values())
            if value is not None
        )
        return self.laboratory.attempt(name, lambda: [self.one(job, folder)])

    def one(self, job, folder):
        folder.mkdir()
        out, report = folder / "out.json", folder / "report.json"
        cached = job.options is not None
        program = self.programs / (f"{job.app.program}_cached" if cached else job.app.program)
        options = {**job.options, "report": report} if cached else {}
        simgrid.run(
            program,
            [*job.app.arguments(job.ranks), *job.words, "--json", out],
            job.ranks,
            folder,
            options,
            timeout=LONGEST,
        )
        row = job.app.row(json.loads(out.read_text(encoding="utf-8")))
        types = access_types(report if cached else None, row["gets"])
        return {
            **job.label,
            "ranks": job.ranks,
            **row,
            "adaptations": types["adaptations"],
            **shares.of_counts(types),
        }
