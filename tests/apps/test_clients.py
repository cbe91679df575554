"""apps/clients, programs in the shape of public codes: the same results with and without Nearcache, in every mode whose promise they keep."""

import json
import sys

import pytest
from support import host_defects, launch

sys.path.insert(0, str(launch.ROOT / "bench"))
from driver import clients  # noqa: E402
from driver.build import Build, Failure  # noqa: E402
from driver.launch import Launch  # noqa: E402

SIZES = {
    "cg": (3, 3),
    "hash_map": (64, 3),
    "spmv_lock": (8, 3),
    "spmv_dynamic": (8, 3),
    "samples_fence": (34, 3),
    "samples_lock": (34, 3),
    "lu": (5, 2),
}
# `always` asks nothing of a program that never writes. (`user`, without an invalidation, is transparent.)
MODES = {
    client: ["transparent", "always"] if client.startswith("samples") else ["transparent"]
    for client in SIZES
}
RUNS = [(client, mode) for client, modes in MODES.items() for mode in modes]


def run(mpi, ranks, client, preload=False, env=None):
    if not mpi.binary("clients").exists():
        pytest.skip("clients is not built for this MPI")
    reason = host_defects.broken(mpi, client)
    if reason:
        pytest.skip(reason)
    size, rounds = SIZES[client]
    result = launch.run(
        mpi,
        ranks,
        "clients",
        client,
        "--size",
        size,
        "--rounds",
        rounds,
        preload=preload,
        env=env,
        timeout=90,
    ).check()
    return json.loads(next(line for line in result.output.splitlines() if line.startswith("{")))


@pytest.mark.few_mpis
@pytest.mark.parametrize("client, mode", RUNS, ids=["-".join(each) for each in RUNS])
def test_cached_and_uncached_agree(mpi, preload, tmp_path, client, mode):
    report = tmp_path / "report.json"
    plain = run(mpi, 3, client)
    # Storage too small for all that is read, so that entries are evicted.
    cached = run(
        mpi,
        3,
        client,
        preload=True,
        env={
            "NEARCACHE_MODE": mode,
            "NEARCACHE_REPORT": str(report),
            "NEARCACHE_STORAGE": "64k",
            "NEARCACHE_ADAPTIVE": "0",
        },
    )
    assert cached["checksum"] == plain["checksum"]
    totals = json.loads(report.read_text())["totals"]
    # how often a hash map looks depends on who took which slot first
    assert totals["gets"] >= plain["gets"] / 2 > 0
    if mode != "transparent":
        assert totals["hits_full"] > 0


@pytest.mark.few_mpis
def test_results_do_not_depend_on_the_way_of_reading(mpi):
    assert run(mpi, 2, "spmv_lock")["checksum"] == run(mpi, 2, "spmv_dynamic")["checksum"]
    assert run(mpi, 2, "samples_fence")["checksum"] == run(mpi, 2, "samples_lock")["checksum"]
    assert (
        run(mpi, 1, "lu")["checksum"]
        == run(mpi, 2, "lu")["checksum"]
        == run(mpi, 3, "lu")["checksum"]
    )


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "args, message",
    [([], "name is required"), (["lcc"], "name"), (["cg", "--size", "0"], "--size")],
)
def test_bad_options_give_one_message(mpi, args, message):
    result = launch.run(mpi, 2, "clients", *args, preload=False)
    told = [line for line in result.output.splitlines() if line.startswith("clients: ")]
    assert result.code == 2 and len(told) == 1 and message in told[0], result.output


# bench/run clients


def row(network, client, ratio):
    return {"network": network, "client": client, "speedup": {"median": ratio}}


def test_figures_are_of_the_clients_that_repeat_and_the_worst_of_all():
    rows = [
        row(network, client, 4 if client in clients.REPEATING else 1)
        for network in clients.NETWORKS
        for client in clients.CLIENTS
    ]
    rows[0] = row("tcp", "cg", 2)
    rows[-1] = row("shared", "lu", 0.9)
    assert clients.figures(rows) == {
        "clients_speedup_geomean": pytest.approx(128**0.25),
        "clients_speedup_least": 2,
        "clients_worst": 0.9,
    }


def test_a_disturbed_round_does_not_change_a_speedup():
    found = clients.speedup([[4, 2], [4, 2], [4, 90]], [[2, 1], [50, 1], [2, 1]])
    assert found["median"] == 2 and found["repetitions"] == 3


class Scripted:
    """Runs that print what they are told to."""

    def __init__(self, *checksums):
        self.checksums, self.sides = list(checksums), []

    def run(self, program, words, network, cached, options):
        self.sides.append(cached)
        return (
            f'noise\n{{"gets": 2, "checksum": "{self.checksums.pop(0)}", "seconds": [1.0, 2.0]}}\n'
        )


def test_sides_take_turns_and_each_begins_as_often(monkeypatch):
    monkeypatch.setattr(clients, "hit_share", lambda *_: 0)
    scripted = Scripted(*"aaaa")
    clients.compared(scripted, "tcp", "cg", {}, 2)
    assert scripted.sides == [True, False, False, True]


def test_results_that_differ_are_no_figure():
    with pytest.raises(Failure, match="cg over tcp: checksums a, b"):
        clients.compared(Scripted("a", "b"), "tcp", "cg", {}, 1)


@pytest.mark.one_mpi
def test_both_sides_are_run_and_hits_are_counted(mpi, preload):
    if not mpi.binary("clients").exists():
        pytest.skip("clients is not built for this MPI")
    found = clients.compared(
        Launch(Build(launch.BUILD, mpi.tag), timeout=90),
        "tcp",
        "samples_lock",
        {"size": 40, "rounds": 2},
        1,
    )
    assert (
        found["gets"] > 0
        and found["plain_s"] > 0
        and found["cached_s"] > 0
        and 0 <= found["hit_share"] <= 1
    )
