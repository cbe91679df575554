"""Programs simulated by SimGrid's SMPI: the same answers as anywhere, and the same virtual time in every run."""

import json
import sys

import pytest
from support import launch

sys.path.insert(0, str(launch.ROOT / "bench"))
from scale import dragonfly, simgrid  # noqa: E402

FOLDERS = sorted((launch.BUILD / "bin").glob("simgrid-*"))
pytestmark = pytest.mark.skipif(
    not simgrid.available() or not FOLDERS, reason="SimGrid is not installed"
)

PROGRAMS = {
    "lcc": ["--rmat", 9, "--row-window", "--unpermuted"],
    "sample": ["--rmat", 9, "--batches", 16, "--batch", 8],
    "barnes_hut": [
        "--bodies",
        200,
        "--steps",
        1,
        "--cost-per-interaction",
        13,
        "--cache-hit-cost",
        60,
        "--cache-miss-cost",
        190,
    ],
}


def simulate(name, folder, ranks=8, words=None, **options):
    program = FOLDERS[-1] / name
    if not program.exists():
        pytest.skip(f"{program} is not built")
    report = folder / "report.json"
    simgrid.run(
        program,
        [*(words or PROGRAMS[name.removesuffix("_cached")]), "--json", folder / "out.json"],
        ranks,
        folder,
        {**options, "report": report},
        timeout=240,
    )
    found = json.loads((folder / "out.json").read_text())
    return found, json.loads(report.read_text())["totals"] if report.exists() else None


@pytest.mark.parametrize("name", PROGRAMS)
def test_cached_and_uncached_agree_in_the_simulator(tmp_path, name):
    (tmp_path / "plain").mkdir()
    plain, nothing = simulate(name, tmp_path / "plain")
    cached, totals = simulate(f"{name}_cached", tmp_path, storage="4k", index="256")
    assert nothing is None
    assert cached["checksum"] == plain["checksum"]
    assert totals["hits_full"] > 0
    assert totals["gets"] >= plain["gets"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_virtual_time_is_the_same_in_every_run(tmp_path, name):
    first, first_totals = simulate(f"{name}_cached", tmp_path)
    second, second_totals = simulate(f"{name}_cached", tmp_path)
    assert first == second
    # Of the report only what was counted: it has real times of the whole process, too.
    assert first_totals == second_totals


def test_gets_from_the_next_node_are_no_loads(tmp_path):
    """Between 64 ranks some gets take 850 ns: as long as one from the own node may that is new to the processor, but worth a cache."""
    _, totals = simulate(
        "lcc_cached",
        tmp_path,
        64,
        ["--rmat", 12, "--row-window", "--unpermuted", "--no-promise"],
        mode="coherent",
    )
    assert totals["hits_full"] > 0
    assert totals["bypassed"] == 0


def test_the_network_is_the_one_it_is_said_to_be(tmp_path):
    program = FOLDERS[-1] / "bench_ping"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    times = simgrid.ping(program, 32, tmp_path)
    for size, ns in times.items():
        assert ns == pytest.approx(1900 + 0.17 * size, rel=0.05), f"{size} bytes"


@pytest.mark.parametrize("ranks", [1, 16, 48, 128])
def test_ranks_have_nodes_of_their_own(ranks):
    hosts = dragonfly.hosts(ranks)
    assert len(set(hosts)) == ranks
    assert all(0 <= int(host.removeprefix("node-")) < dragonfly.HOSTS for host in hosts)
    with pytest.raises(ValueError):
        dragonfly.hosts(dragonfly.HOSTS + 1)
