# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program on the simulated dragonfly of dragonfly.py, in virtual time that is the same in
every run."""

import json
import os
import shutil
import subprocess

from driver.launch import launched

from . import dragonfly

# The network is as in dragonfly.py: no factors fitted to Ethernet and TCP, no windows.
NETWORK = {
    "network/model": "SMPI",
    "smpi/lat-factor": "0:1",
    "smpi/bw-factor": "0:1",
    "network/weight-S": "0",
    "network/TCP-gamma": "0",
    "network/crosstraffic": "0",
    # The network's hardware does one-sided transfers, without a rendezvous with the target.
    "smpi/send-is-detached-thresh": "100000000",
}
# Programs charge their computation (apps/common/virtual_time.h); this machine's own time does not
# count.
COMPUTATION = {
    "smpi/simulate-computation": "no",
    "smpi/wtime": "0",
    "smpi/init": "0",
    "smpi/grow-injected-times": "no",
}
# The default all-to-all algorithms take the simulator minutes at 128 ranks.
COLLECTIVES = {"smpi/coll-selector": "mpich"}

# Such hardware needs no calls for progress. Nearcache would otherwise count real time for them,
# which differs from run to run. Their cost on a machine that needs them is still included in the
# cost of a hit.
NEARCACHE = {"progress_calls": 1000000000, "progress_time": "1000s", "max_storage": "128M"}


def available():
    return shutil.which("smpirun") is not None


def run(program, arguments, ranks, folder, options=None, timeout=900, hosts=None, network=None):
    """Return the program's standard output. `options` are Nearcache's, by name.

    Each rank has a host of its own unless `hosts` lists the host of each; `network`: further
    settings.
    """
    names = hosts or dragonfly.hosts(ranks)
    xml, places = os.path.join(folder, "dragonfly.xml"), os.path.join(folder, f"hosts-{ranks}")
    with open(xml, "w", encoding="utf-8") as file:
        file.write(dragonfly.xml())
    with open(places, "w", encoding="utf-8") as file:
        file.write("\n".join(names) + "\n")
    settings = [
        f"--cfg={key}:{value}"
        for part in (NETWORK, COMPUTATION, COLLECTIVES, network or {})
        for key, value in part.items()
    ]
    words = [
        "smpirun",
        "-platform",
        xml,
        "-hostfile",
        places,
        "-np",
        ranks,
        *settings,
        f"--cfg=smpi/tmpdir:{folder}",
        "--log=root.thres:warning",
        program,
        *arguments,
    ]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NEARCACHE_")}
    environment.update(
        {f"NEARCACHE_{k.upper()}": str(v) for k, v in {**NEARCACHE, **(options or {})}.items()}
    )
    return launched(program, words, timeout, cwd=folder, env=environment, stdin=subprocess.DEVNULL)


def ping(program, ranks, folder):
    """Return {bytes: ns} of a get and its flush on an otherwise idle network."""
    return {
        int(size): ns for size, ns in json.loads(run(program, [], ranks, folder))["get_ns"].items()
    }
