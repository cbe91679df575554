"""sample draws the neighbours that a straightforward program draws, on any number of ranks, with and without a cache, and
checks every feature row that it fetched."""

import json
import struct

import pytest
from support import launch

MASK = 2**64 - 1
GRAPH = ["--rmat", 8, "--edge-factor", 4, "--seed", 3]


def sample(mpi, ranks, *args, preload=False, **options):
    if not mpi.binary("sample").exists():
        pytest.skip("sample is not built for this MPI")
    return launch.run(mpi, ranks, "sample", *args, preload=preload, timeout=90, **options)


def summary(mpi, ranks, path, *args, **options):
    sample(mpi, ranks, *args, "--json", path, **options).check()
    return json.loads(path.read_text())


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def lists_of(csr):
    content = csr.read_bytes()
    n, m = struct.unpack_from("<QQ", content, 16)
    offsets = struct.unpack_from(f"<{n + 1}Q", content, 64)
    entries = struct.unpack_from(f"<{m}I", content, 64 + 8 * (n + 1))
    return [entries[offsets[v] : offsets[v + 1]] for v in range(n)]


def draw(seed, minibatch, hop, v, degree, fan_out):
    """Floyd's algorithm, as in draws.h."""
    places = set()
    state = mix64(mix64(seed ^ hop << 48) ^ minibatch) ^ v
    for last in range(degree - min(degree, fan_out), degree):
        state = mix64(state)
        place = state % (last + 1)
        places.add(last if place in places else place)
    return sorted(places)


def row_digest(v, words):
    digest = 0
    for i in range(words):
        digest = mix64(digest ^ mix64((v << 32 | i) ^ 0x5EEDF00D5EEDF00D))
    return digest


def reference(lists, seed, fan_outs, batch, batches, epochs, words):
    """(neighbours drawn, rows fetched, checksum) of the whole job, one vertex after the other."""
    drawn = rows = checksum = 0
    for minibatch in range(epochs * batches):
        first = minibatch % batches * batch
        hop_vertices = {
            mix64(mix64(seed ^ 0x5A3B1E) ^ first + i) % len(lists) for i in range(batch)
        }
        met = set(hop_vertices)
        for hop, fan_out in enumerate(fan_outs):
            found = set()
            for v in hop_vertices:
                key = mix64(mix64(minibatch << 8 | hop) ^ v)
                for place in draw(seed, minibatch, hop, v, len(lists[v]), fan_out):
                    found.add(lists[v][place])
                    checksum += mix64(key ^ lists[v][place])
                    drawn += 1
            hop_vertices = found
            met |= found
        rows += len(met)
        checksum += sum(row_digest(v, words) for v in met)
    return drawn, rows, f"{checksum & MASK:016x}"


@pytest.mark.few_mpis
@pytest.mark.parametrize("fan_out, ranks", [("10,5", 1), ("10,5", 3), ("3", 2), ("4,3,2", 2)])
def test_sampling_agrees_with_a_serial_reference(mpi, tmp_path, fan_out, ranks):
    csr = tmp_path / "g.csr"
    launch.run(mpi, 1, "lcc", *GRAPH, "--write-csr", csr, preload=False).check()
    found = summary(
        mpi,
        ranks,
        tmp_path / "s.json",
        csr,
        "--fan-out",
        fan_out,
        "--batch",
        7,
        "--batches",
        5,
        "--epochs",
        2,
        "--feature-bytes",
        64,
        "--sample-seed",
        11,
    )
    fan_outs = [int(each) for each in fan_out.split(",")]
    assert (found["sampled"], found["rows"], found["checksum"]) == reference(
        lists_of(csr), 11, fan_outs, 7, 5, 2, 8
    )


@pytest.mark.few_mpis
def test_the_sample_depends_on_the_seed_and_not_on_ranks_or_the_way_of_fetching(mpi, tmp_path):
    def checksum(ranks, *args):
        return summary(
            mpi, ranks, tmp_path / "s.json", *GRAPH, "--batches", 6, "--batch", 8, *args
        )["checksum"]

    assert checksum(1) == checksum(2) == checksum(3) == checksum(2, "--whole-lists")
    assert checksum(2, "--sample-seed", 2) != checksum(2)


@pytest.mark.few_mpis
@pytest.mark.parametrize("way", [[], ["--whole-lists"]], ids=["entries", "lists"])
def test_cached_and_uncached_agree(mpi, preload, tmp_path, way):
    args = [*GRAPH, "--batches", 8, "--batch", 16, "--feature-bytes", 256, *way]
    report = tmp_path / "report.json"
    plain = summary(mpi, 2, tmp_path / "s.json", *args)
    # Storage too small for all rows, so that entries are evicted.
    cached = summary(
        mpi,
        2,
        tmp_path / "s.json",
        *args,
        preload=True,
        env={"NEARCACHE_REPORT": str(report), "NEARCACHE_STORAGE": "8k", "NEARCACHE_ADAPTIVE": "0"},
    )
    for key in ("checksum", "sampled", "rows", "gets", "bytes"):
        assert cached[key] == plain[key]
    totals = json.loads(report.read_text())["totals"]
    assert totals["hits_full"] > 0
    assert totals["evictions"] > 0
    assert totals["gets"] == plain["gets"]


@pytest.mark.few_mpis
def test_gets_and_bytes_are_counted_by_kind(mpi, tmp_path):
    found = summary(mpi, 2, tmp_path / "s.json", *GRAPH, "--feature-bytes", 128, "--batches", 4)
    assert found["features"]["bytes"] == 128 * found["features"]["gets"]
    assert found["row_pointers"]["bytes"] == 16 * found["row_pointers"]["gets"]
    assert found["neighbours"]["bytes"] == 4 * found["neighbours"]["gets"]
    assert found["gets"] == sum(
        found[kind]["gets"] for kind in ("features", "row_pointers", "neighbours")
    )
    assert 0 < found["features"]["gets"] < found["rows"]


@pytest.mark.one_mpi
@pytest.mark.parametrize(
    "args, message",
    [
        ([], "A graph file or --rmat SCALE is required"),
        (["--rmat", "5", "--feature-bytes", "12"], "not a multiple of 8"),
        (["--rmat", "5", "--fan-out", "0"], "--fan-out"),
        (["--rmat", "5", "--batch", "0"], "--batch"),
        (["missing"], "cannot read missing: No such file"),
        (["--rmat", "22", "--edge-factor", "1", "--feature-bytes", "1048576"], "out of memory"),
    ],
)
def test_bad_options_give_one_message(mpi, args, message):
    result = sample(mpi, 2, *args)
    assert not result.timed_out
    assert result.code not in (0, None)
    told = [line for line in result.output.splitlines() if line.startswith("sample: ")]
    assert len(told) == 1, result.output
    assert message in told[0]
