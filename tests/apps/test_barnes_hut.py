"""barnes_hut agrees with direct sums and with mechanics, bit for bit the same however cells are fetched and on any number
of ranks, and every bad input ends it on all ranks with one message."""

import json
import math

import pytest
from support import launch


def run(mpi, ranks, *args, preload=False, env=None):
    if not mpi.binary("barnes_hut").exists():
        pytest.skip("barnes_hut is not built for this MPI")
    return launch.run(mpi, ranks, "barnes_hut", *args, preload=preload, env=env, timeout=90)


def summary(mpi, ranks, path, *args, **how):
    run(mpi, ranks, *args, "--json", path / "s.json", **how).check()
    return json.loads((path / "s.json").read_text())


def bodies_of(path):
    """[(mass, position, velocity)] of an output file, which must be in the order of the ids."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    values = [[float(word) for word in row[1:]] for row in rows]
    return [(row[0], row[1:4], row[4:7]) for row in values]


def write_bodies(path, bodies):
    path.write_text(
        "# mass x y z vx vy vz\n" + "".join(" ".join(map(repr, body)) + "\n" for body in bodies)
    )
    return path


@pytest.mark.few_mpis
@pytest.mark.parametrize("model", ["plummer", "uniform"])
def test_forces_and_positions_agree_with_direct_sums(mpi, tmp_path, model):
    found = summary(mpi, 2, tmp_path, "--model", model, "--bodies", 200, "--steps", 2, "--check")
    assert 0 < found["check"]["acceleration_error"] < 0.02
    assert 0 < found["check"]["position_error"] < 1e-5
    assert found["energy"]["drift"] < 1e-3
    assert found["force_phases"] == 3


@pytest.mark.few_mpis
def test_a_smaller_theta_is_more_exact_and_visits_more(mpi, tmp_path):
    coarse, fine, exact = (
        summary(mpi, 2, tmp_path, "--bodies", 100, "--theta", theta, "--check")
        for theta in (1.0, 0.4, 0)
    )
    assert coarse["check"]["acceleration_error"] > 2 * fine["check"]["acceleration_error"]
    assert coarse["nodes_visited"] < fine["nodes_visited"] < exact["nodes_visited"]
    assert exact["check"]["acceleration_error"] < 1e-12
    assert exact["interactions"] == exact["force_phases"] * 100 * 99


@pytest.mark.few_mpis
def test_any_number_of_ranks_gives_the_same_bits(mpi, tmp_path):
    outputs, checksums = set(), set()
    for ranks in (1, 2, 3):
        out = tmp_path / f"{ranks}.tsv"
        found = summary(
            mpi, ranks, tmp_path, "--bodies", 60, "--steps", 1, "--theta", 0.8, "--output", out
        )
        assert (found["ranks"], found["bodies"]) == (ranks, 60)
        assert (found["nodes_remote"] > 0) == (ranks > 1)
        outputs.add(out.read_text())
        checksums.add(found["checksum"])
    assert len(outputs) == len(checksums) == 1


@pytest.mark.few_mpis
def test_plain_native_and_preloaded_give_the_same_bits(mpi, preload, tmp_path):
    # Few bodies: where there are more processes than cores, each of the plain gets may wait for the target's turn.
    case = ("--bodies", 100, "--theta", 0.9, "--steps", 1, "--output", tmp_path / "out.tsv")
    outputs = []

    def one(*args, **how):
        found = summary(mpi, 2, tmp_path, *case, *args, **how)
        outputs.append((tmp_path / "out.tsv").read_text())
        return found

    plain = one()
    assert plain["gets"] == plain["nodes_remote"]
    assert plain["nearcache"] is None and plain["native"] is None
    # Both caches too small for the tree, so that what is read was often evicted before.
    for mapping in ("hash", "linear"):
        native = one("--fetch", "native", "--native-memory", 2200, "--native-mapping", mapping)
        assert native["nodes_remote"] == plain["nodes_remote"]
        assert native["native"]["hits"] + native["gets"] == plain["gets"]
        assert 0 < native["gets"] < plain["gets"]
    cached = one(preload=True, env={"NEARCACHE_STORAGE": "2k", "NEARCACHE_ADAPTIVE": "0"})
    assert cached["gets"] == plain["gets"] == cached["nearcache"]["gets"]
    assert cached["nearcache"]["hits_full"] > plain["gets"] / 2
    assert cached["nearcache"]["evictions"] > 0
    assert cached["nearcache"]["ranks"] == 2
    # The last phase ends after the counters are read.
    assert cached["nearcache"]["invalidations"] >= 2 * (plain["force_phases"] - 1)
    assert len(set(outputs)) == 1


@pytest.mark.one_mpi
def test_two_bodies_are_back_after_one_revolution(mpi, tmp_path):
    steps = 50
    pair = write_bodies(
        tmp_path / "pair.txt", [(0.5, 0.5, 0, 0, 0, 0.5, 0), (0.5, -0.5, 0, 0, 0, -0.5, 0)]
    )
    out = tmp_path / "out.tsv"
    found = summary(
        mpi,
        2,
        tmp_path,
        "--input",
        pair,
        "--softening",
        1e-4,
        "--steps",
        steps,
        "--time-step",
        2 * math.pi / steps,
        "--output",
        out,
    )
    (mass, position, _), (_, opposite, _) = bodies_of(out)
    assert mass == 0.5
    assert position == pytest.approx([0.5, 0, 0], abs=0.02)  # this leapfrog lags 0.033 of a radian
    assert opposite == pytest.approx([-0.5, 0, 0], abs=0.02)
    assert found["energy"]["start"] == pytest.approx(-0.125, rel=1e-6)
    assert found["energy"]["drift"] < 1e-3


@pytest.mark.few_mpis
@pytest.mark.parametrize("ranks", [1, 3])
def test_bodies_at_one_place_and_ranks_without_bodies(mpi, tmp_path, ranks):
    heap = [(1.0, 0.25, 0.25, 0.25, 0, 0, 0)] * 20
    cases = {"heap": heap, "heap_and_one": heap + [(3.0, 1, 1, 1, 0, 0, 0)], "single": heap[:1]}
    for name, bodies in cases.items():
        found = summary(
            mpi,
            ranks,
            tmp_path,
            "--input",
            write_bodies(tmp_path / name, bodies),
            "--check",
            "--theta",
            0.5,
        )
        assert found["bodies"] == len(bodies)
        assert found["check"]["acceleration_error"] < 0.01, name


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "text, message",
    [
        ("1 0 0 0 0 0 0\n1 0 0\n", ":2: '1 0 0' is not a body"),
        ("1 0 0 0 0 0 0\n\n0 1 1 1 0 0 0\n", ":3: '0 1 1 1 0 0 0': the mass is not above 0"),
        ("1 0 0 0 0 0 0 7\n", ":1: '1 0 0 0 0 0 0 7' has more than"),
        ("1 nan 0 0 0 0 0\n", ":1: '1 nan 0 0 0 0 0' is not a body"),
        ("# nothing\n", "there is no body in it"),
        ("1 1.7e308 0 0 1.7e308 0 0\n", "a body left all bounds: the time step is too long"),
        ("1 1.7e308 0 0 0 0 0\n1 -1.7e308 0 0 0 0 0\n", "the bodies are too far apart"),
        (None, "No such file"),
    ],
)
def test_a_bad_input_ends_all_ranks_with_one_message(mpi, tmp_path, text, message):
    path = tmp_path / "bodies.txt"
    if text is not None:
        path.write_text(text)
    result = run(mpi, 2, "--input", path, "--time-step", 0.1)
    assert not result.timed_out and result.code != 0
    assert message in result.output
    assert result.output.count("barnes_hut: ") == 1


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "args, message",
    [
        (["--bodies", 0], "--bodies"),
        (["--theta", -1], "--theta"),
        (["--steps", "x"], "--steps"),
        (["--softening", 0], "--softening"),
        (["--fetch", "magic"], "--fetch"),
        (["--block", 500], "500 is not a power of two"),
        (["--fetch", "native", "--native-memory", 100], "100 holds no block"),
        (["--input", "x", "--bodies", 5], "--bodies"),
        (["--check", "--bodies", 30000], "at most 20000 bodies"),
        (["--output", "/no/such/folder/file", "--bodies", 10], "cannot write /no/such/folder/file"),
    ],
)
def test_what_cannot_be_done_is_refused_with_one_message(mpi, args, message):
    result = run(mpi, 2, *args)
    assert not result.timed_out and result.code != 0
    assert message in result.output
    assert result.output.count("barnes_hut: ") == 1
