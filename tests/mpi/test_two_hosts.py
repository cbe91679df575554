"""Two hosts: network namespaces joined by a veth pair, with one rank in each or two, started by Hydra through a stand-in for ssh."""

import json
import os
import shutil
import subprocess

import pytest
from support import host_defects, launch

NETWORK = "10.213.77"
HOSTS = {f"{NETWORK}.1": "nearcache-a", f"{NETWORK}.2": "nearcache-b"}


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def remove():
    for name in HOSTS.values():
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


@pytest.fixture
def hosts(tmp_path):
    """The two namespaces, and a launcher that enters the one whose address it is given."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("two hosts need root and iproute2")
    remove()
    try:
        for name in HOSTS.values():
            ip("netns", "add", name)
        ends = ["nearcache-va", "nearcache-vb"]
        ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for end, (address, name) in zip(ends, HOSTS.items()):
            ip("link", "set", end, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError as error:
        remove()
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    script = tmp_path / "enter"
    # Hydra calls: script [options] ADDRESS COMMAND...
    script.write_text(
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\naddress=$1\nshift\ncase $address in\n'
        + "".join(f"{address}) name={name} ;;\n" for address, name in HOSTS.items())
        + "esac\nexport name\n"  # each has its own name, too
        'exec ip netns exec $name unshare --uts sh -c "echo $name >/proc/sys/kernel/hostname; $*"\n'
    )
    script.chmod(0o755)
    yield script
    remove()


def run(mpi, script, program, *arguments, preload, a_host=1, **env):
    # The launcher itself must be reachable from both, so it runs in the first host.
    command = [
        "ip",
        "netns",
        "exec",
        HOSTS[f"{NETWORK}.1"],
        mpi.mpiexec,
        "-launcher",
        "ssh",
        "-launcher-exec",
        script,
        "-hosts",
        ",".join(HOSTS),
        "-localhost",
        f"{NETWORK}.1",
        "-n",
        2 * a_host,
        "-ppn",
        a_host,
        "env",
        "MPIR_CVAR_CH4_NETMOD=ofi",
        "FI_PROVIDER=tcp",
    ]
    command += [f"{name}={value}" for name, value in env.items()]
    objects = [*([mpi.preload] if preload else []), *launch.giving_way()]
    command += [f"LD_PRELOAD={' '.join(map(str, objects))}"]
    return launch.execute(
        [*map(str, command), str(mpi.binary(program)), *map(str, arguments)], 120, dict(os.environ)
    )


def test_two_hosts_agree_with_and_without_the_cache(mpi, preload, hosts):
    if mpi.tag != "mpich-5.0.2":
        pytest.skip("one MPI is enough: the one the demo uses")
    except_ = host_defects.excepted(mpi, "known_failures")
    cases = ["--only", "2000_gets_before_one_flush_always,put_then_get_always,flush_all_completes"]
    uncached = run(mpi, hosts, "known_failures", *cases, *except_, preload=False).check()
    cached = run(mpi, hosts, "known_failures", *cases, *except_, preload=True).check()
    assert cached.lines("ok") == uncached.lines("ok") and len(cached.lines("ok")) == 3


def same_lcc(mpi, hosts, tmp_path, **more):
    """LCC gives the same with Nearcache as without."""
    if mpi.tag != "mpich-5.0.2":
        pytest.skip("one MPI is enough: the one the demo uses")
    if not mpi.binary("lcc").exists():
        pytest.skip("lcc is not built")
    results = []
    for cached in (False, True):
        output = tmp_path / f"{cached}.tsv"
        words = ["lcc", "--rmat", 9, "--output", output]
        run(mpi, hosts, *words, preload=cached, **more).check()
        results.append(output.read_bytes())
    assert results[0] == results[1]


def test_lcc_on_two_hosts(mpi, preload, hosts, tmp_path):
    same_lcc(mpi, hosts, tmp_path)


def test_ranks_of_a_host_share_what_lcc_reads_from_the_other(mpi, preload, hosts, tmp_path):
    report = tmp_path / "report.json"
    same_lcc(mpi, hosts, tmp_path, a_host=2, NEARCACHE_REPORT=report)
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["totals"]["hits_shared"] > 0
    assert {"ranks": 4, "caches": 2} in [window["sharing"] for window in found["windows"]]
