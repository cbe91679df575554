# SPDX-License-Identifier: BSD-3-Clause
"""Runs the self-test of an object, and judges what it says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import ended, preload, shmem
from .finding import Finding
from .launchers import ROOT_VARIABLES, ROOT_VARIABLES_5, launch_words

if TYPE_CHECKING:
    from ..home import PreloadObject
    from ..mpi import Mpi

SINGLE_RANK = "it needs two ranks, but was started with 1"  # see selftest.c
SELFTEST_CODES = (0, 1, 2)  # exit codes of a self-test that ran to completion
# Values of option rma_fabric, and how each is described.
FABRICS = {"socket": "over TCP", "ofi": "by libfabric", "node": "by shared memory"}


def run(words: Sequence[str], timeout: float, **variables: str) -> tuple[int | None, str]:
    """Run a command in its own session, so that all of its processes can be ended.

    Returns (exit code, or None after a timeout; output).
    """
    environment = {
        **os.environ,
        **{name: "1" for name in ROOT_VARIABLES + ROOT_VARIABLES_5},
        **variables,
    }

    def end(process: subprocess.Popen[str]) -> None:
        ended.kill_group(process, signal.SIGKILL)

    def use(process: subprocess.Popen[str]) -> tuple[int | None, str]:
        try:
            output, _ = process.communicate(timeout=timeout)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            end(process)
            return None, process.communicate()[0]

    return ended.run(
        words,
        use,
        end,  # the terminal's interrupt does not reach that session
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )


def judge(code: int | None, output: str, timeout: float) -> Finding:
    """Return the finding of a self-test with the object preloaded."""
    ok = re.search(r"selftest: ok hits=(\d+)", output)
    if code is None:
        return Finding("wrong", f"self-test: did not finish within {timeout:g} s")
    if code == 0 and ok and int(ok[1]) > 0:
        return Finding("ok", f"self-test on 2 ranks: {ok[1]} hits")
    if "selftest: nearcache is not loaded" in output:
        return Finding(
            "wrong",
            "self-test: ran, but without the object: preloading has no effect here (a launcher or "
            "container that drops LD_PRELOAD, or secure execution)",
        )
    if SINGLE_RANK in output:
        return Finding(
            "wrong",
            "self-test: this launcher starts each rank as a job of its own, as it and the MPI library have "
            "no process management interface in common (Ubuntu 24.04's MPICH 4.2.0: only launchers with "
            "PMIx start it, such as Open MPI's; or use another MPICH, such as that of `pip install mpich`)",
        )
    if code == 0 and ok:
        return Finding(
            "wrong",
            "self-test: ran, but nothing was served from the cache; NEARCACHE_VERBOSE=2 says why",
        )
    # Launchers add their own lines after the self-test's verdict.
    lines = [line for line in output.strip().splitlines() if line.strip()]
    last = [line for line in lines if line.startswith("selftest: FAILED")] or lines[-4:]
    return Finding(
        "wrong", f"self-test: exit code {code}\n" + "\n".join("    " + line for line in last)
    )


def memory_hook_findings(
    item: PreloadObject, words: Sequence[str], timeout: float
) -> list[Finding]:
    """Check whether this Open MPI's shmem_finalize crashes with the shell's settings, by running
    the self-test without Nearcache."""
    text = (
        shmem.memory_hook_pitfall(os.environ)
        if shmem.has_memory_hook(item.family, item.version)
        else ""
    )
    if (
        not text
        or run([*words, "env", "-u", "LD_PRELOAD", str(item.selftest)], timeout)[0]
        in SELFTEST_CODES
    ):
        return []
    return [Finding("wrong", f"{text} (set for this self-test)")]


def selftest(
    item: PreloadObject, launcher: str, owner: Mpi | PreloadObject, timeout: float
) -> list[Finding]:
    """Run the self-test of an object. If it fails, run it without the object too, to tell trouble
    of the MPI from ours."""
    words = launch_words(launcher, owner)
    shmem.fix_addresses(item.family, item.version)
    findings = memory_hook_findings(item, words, timeout)
    surroundings = (
        {"OMPI_MCA_memory": "^patcher"} if shmem.has_memory_hook(item.family, item.version) else {}
    )
    value = preload.preload_value([item.path], os.environ.get("LD_PRELOAD"))
    variables = [f"LD_PRELOAD={value}", "NEARCACHE_SKIP_CHEAP=false", "NEARCACHE_MODE=always"]
    finding = judge(
        *run([*words, "env", *variables, str(item.selftest)], timeout, **surroundings), timeout
    )
    findings.append(finding)
    if finding.level == "wrong":
        code, output = run(
            [*words, "env", "-u", "LD_PRELOAD", str(item.selftest)], timeout, **surroundings
        )
        if code != 0 and "selftest:" not in output:
            findings.append(
                Finding(
                    "wrong",
                    f"without Nearcache it fails as well: this {item.kind} does not work here ({' '.join(words)})",
                )
            )
    return findings


def judge_engine(way: str, code: int | None, output: str, timeout: float) -> Finding:
    """Return the finding of a self-test on the RMA engine: whether it works, or why windows stay
    with the host MPI."""
    finding = judge(code, output, timeout)
    if finding.level == "wrong":
        return Finding("wrong", f"RMA engine {way}: {finding.text}")
    left = re.search(r"a window does not use the RMA engine: (.*)", output)
    if left or "a window uses the RMA engine" not in output:
        why = f": {left[1]}" if left else ""
        return Finding("note", f"RMA engine {way}: windows are left to the MPI{why}")
    return Finding("ok", f"RMA engine {way} (option rma)")


def engine_findings(
    item: PreloadObject, launcher: str, owner: Mpi | PreloadObject, timeout: float
) -> list[Finding]:
    """Test each fabric of the RMA engine between two ranks of this node."""
    words = launch_words(launcher, owner)
    value = preload.preload_value([item.path], os.environ.get("LD_PRELOAD"))
    findings = []
    for fabric, way in FABRICS.items():
        variables = {
            "LD_PRELOAD": value,
            "NEARCACHE_RMA": "on",
            "NEARCACHE_RMA_FABRIC": fabric,
            # the one provider that needs no special hardware
            "NEARCACHE_RMA_PROVIDER": os.environ.get("NEARCACHE_RMA_PROVIDER") or "tcp",
            "NEARCACHE_VERBOSE": "2",
            "NEARCACHE_SKIP_CHEAP": "false",
            "NEARCACHE_MODE": "always",
        }
        settings = [f"{name}={text}" for name, text in variables.items()]
        code, output = run([*words, "env", *settings, str(item.selftest)], timeout)
        findings.append(judge_engine(way, code, output, timeout))
    return findings
