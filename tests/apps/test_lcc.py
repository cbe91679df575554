"""lcc computes the right coefficients from every input format on any number of ranks, and every bad input ends
it on all ranks with one message."""

import json
import random
import struct
from itertools import combinations

import pytest
from support import launch

pytestmark = pytest.mark.few_mpis

DATA = launch.ROOT.parent / "shared" / "data"


def lcc(mpi, ranks, *args):
    """Runs without the preload object: this is about the program alone."""
    if not mpi.binary("lcc").exists():
        pytest.skip("lcc is not built for this MPI")
    return launch.run(mpi, ranks, "lcc", *args, preload=False, timeout=90)


def summary(mpi, ranks, path, *args):
    lcc(mpi, ranks, *args, "--json", path).check()
    return json.loads(path.read_text())


def rows_of(path):
    """{vertex: (degree, triangles, coefficient)} of a text output."""
    lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    return {
        int(v): (int(degree), int(triangles), float(value)) for v, degree, triangles, value in lines
    }


def write_edges(path, edges):
    path.write_text("# an edge list\n" + "".join(f"{u} {v}\n" for u, v in edges))
    return path


def reference(edges):
    """The same by brute force, straight from the definition."""
    neighbours = {}
    for u, v in edges:
        neighbours.setdefault(u, set())
        neighbours.setdefault(v, set())
        if u != v:
            neighbours[u].add(v)
            neighbours[v].add(u)
    rows = {}
    for v, around in neighbours.items():
        triangles = sum(1 for a, b in combinations(sorted(around), 2) if b in neighbours[a])
        pairs = len(around) * (len(around) - 1) / 2
        rows[v] = (len(around), triangles, triangles / pairs if pairs else 0.0)
    return rows


def assert_same_rows(found, expected):
    assert found.keys() == expected.keys()
    for v, (degree, triangles, value) in expected.items():
        assert found[v][:2] == (degree, triangles), f"vertex {v}"
        assert found[v][2] == pytest.approx(value, abs=1e-8), f"vertex {v}"


def random_edges(seed, vertices, count):
    rng = random.Random(seed)
    return [(rng.randrange(vertices), rng.randrange(vertices)) for _ in range(count)]


PETERSEN = (
    [(i, (i + 1) % 5) for i in range(5)]
    + [(i, i + 5) for i in range(5)]
    + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
)
KNOWN = {  # edges, triangles, average coefficient
    "complete": (list(combinations(range(9), 2)), 84, 1.0),
    "ring": ([(i, (i + 1) % 12) for i in range(12)], 0, 0.0),
    "star": ([(0, i) for i in range(1, 10)], 0, 0.0),
    "petersen": (PETERSEN, 0, 0.0),
    "triangle_with_tail": ([(0, 1), (1, 2), (2, 0), (2, 3)], 1, (1 + 1 + 1 / 3 + 0) / 4),
}


@pytest.mark.parametrize("name", KNOWN)
def test_graphs_with_known_coefficients(mpi, tmp_path, name):
    edges, triangles, average = KNOWN[name]
    found = summary(mpi, 2, tmp_path / "s.json", write_edges(tmp_path / "g.txt", edges))
    assert found["triangles"] == triangles
    assert found["average_coefficient"] == pytest.approx(average, abs=1e-8)
    assert found["edges"] == len(edges)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_graphs_agree_with_brute_force_on_any_number_of_ranks(mpi, tmp_path, seed):
    # Self loops and duplicates are among these edges.
    edges = random_edges(seed, 60, 700)
    graph = write_edges(tmp_path / "g.txt", edges)
    expected = reference(edges)
    checksums = set()
    for ranks in (1, 2, 3, 4):
        out = tmp_path / f"{ranks}.tsv"
        found = summary(mpi, ranks, tmp_path / "s.json", graph, "--output", out)
        assert_same_rows(rows_of(out), expected)
        assert found["ranks"] == ranks
        checksums.add(found["checksum"])
    assert len(checksums) == 1


def test_ids_are_arbitrary_64_bit_numbers(mpi, tmp_path):
    big = [0, 2**63, 2**64 - 1, 12345678901234567]
    signed = [-(2**63), -1, 2**63 - 1, 7]
    for ids in (big, signed):
        edges = list(combinations(ids, 2))
        out = tmp_path / "o.tsv"
        lcc(mpi, 2, write_edges(tmp_path / "g.txt", edges), "--output", out).check()
        assert_same_rows(rows_of(out), reference(edges))


@pytest.mark.one_mpi
def test_comments_blank_lines_windows_ends_and_further_columns_are_read(mpi, tmp_path):
    graph = tmp_path / "g.txt"
    graph.write_bytes(b"# c\r\n% c\n\n1\t2 0.5\r\n  2,3,17 x\n3 1")
    assert summary(mpi, 3, tmp_path / "s.json", graph)["triangles"] == 1


def matrix_market(path, edges, vertices, field, symmetry):
    value = {"pattern": "", "real": " -1.5e0", "integer": " 3"}[field]
    edges = [(max(e), min(e)) if symmetry == "symmetric" else e for e in edges]
    path.write_text(
        f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% comment\n"
        f"{vertices} {vertices} {len(edges)}\n"
        + "".join(f"{u + 1} {v + 1}{value}\n" for u, v in edges)
    )
    return path


@pytest.mark.one_mpi
def test_all_formats_give_the_same_checksum(mpi, tmp_path):
    edges = random_edges(3, 50, 600)
    assert len(reference(edges)) == 50  # no vertex without an edge: an edge list cannot hold one
    csr = tmp_path / "g.csr"
    found = summary(
        mpi, 3, tmp_path / "s.json", write_edges(tmp_path / "g.txt", edges), "--write-csr", csr
    )
    graphs = [csr] + [
        matrix_market(tmp_path / f"{field}-{symmetry}.mtx", edges, 50, field, symmetry)
        for field, symmetry in (
            ("pattern", "general"),
            ("pattern", "symmetric"),
            ("real", "symmetric"),
            ("integer", "general"),
        )
    ]
    for graph in graphs:
        again = summary(mpi, 2, tmp_path / "s.json", graph)
        assert again["checksum"] == found["checksum"], graph.name
        assert again["triangles"] == found["triangles"], graph.name


@pytest.mark.one_mpi
def test_csr_keeps_the_names_of_vertices(mpi, tmp_path):
    edges = list(combinations([-5, 900, 10**15], 2))
    csr, out = tmp_path / "g.csr", tmp_path / "o.tsv"
    lcc(mpi, 2, write_edges(tmp_path / "g.txt", edges), "--write-csr", csr).check()
    lcc(mpi, 3, csr, "--output", out).check()
    assert_same_rows(rows_of(out), reference(edges))


@pytest.mark.one_mpi
def test_matrix_market_names_vertices_from_1_and_keeps_isolated_ones(mpi, tmp_path):
    graph = matrix_market(tmp_path / "g.mtx", [(0, 1), (1, 2), (2, 0)], 5, "pattern", "general")
    out = tmp_path / "o.tsv"
    found = summary(mpi, 2, tmp_path / "s.json", graph, "--output", out)
    assert list(rows_of(out)) == [1, 2, 3, 4, 5]
    assert found["average_coefficient"] == pytest.approx(3 / 5)


@pytest.mark.one_mpi
def test_binary_output_holds_the_same_values_as_text(mpi, tmp_path):
    edges = random_edges(4, 30, 150)
    graph = write_edges(tmp_path / "g.txt", edges)
    lcc(mpi, 3, graph, "--output", tmp_path / "o.bin", "--format", "binary").check()
    content = (tmp_path / "o.bin").read_bytes()
    magic, version, flags, records, _ = struct.unpack_from("<8sIIQQ", content)
    assert (magic, version, flags) == (b"LCC-OUT\n", 1, 0)
    assert len(content) == 32 + 32 * records
    rows = {r[0]: r[1:] for r in struct.iter_unpack("<QQQd", content[32:])}
    assert_same_rows(rows, reference(edges))


def test_rmat_depends_on_the_seed_and_not_on_the_ranks(mpi, tmp_path):
    def checksum(ranks, seed):
        return summary(
            mpi, ranks, tmp_path / "s.json", "--rmat", 8, "--edge-factor", 8, "--seed", seed
        )["checksum"]

    assert checksum(1, 5) == checksum(2, 5) == checksum(3, 5)
    assert checksum(2, 6) != checksum(2, 5)


@pytest.mark.one_mpi
def test_rmat_agrees_with_brute_force(mpi, tmp_path):
    out, csr = tmp_path / "o.tsv", tmp_path / "g.csr"
    found = summary(
        mpi,
        2,
        tmp_path / "s.json",
        "--rmat",
        7,
        "--edge-factor",
        4,
        "--output",
        out,
        "--write-csr",
        csr,
    )
    content = csr.read_bytes()
    n, m = struct.unpack_from("<QQ", content, 16)
    offsets = struct.unpack_from(f"<{n + 1}Q", content, 64)
    lists = struct.unpack_from(f"<{m}I", content, 64 + 8 * (n + 1))
    assert (n, m) == (128, 2 * found["edges"])
    edges = [(v, u) for v in range(n) for u in lists[offsets[v] : offsets[v + 1]]]
    expected = {v: (0, 0, 0.0) for v in range(n)} | reference(edges)
    assert_same_rows(rows_of(out), expected)


@pytest.mark.one_mpi
def test_repeat_and_a_sample_of_vertices(mpi, tmp_path):
    path = tmp_path / "s.json"
    found = summary(mpi, 2, path, "--rmat", 7, "--repeat", 3, "--limit-vertices", 10)
    assert len(found["seconds_lcc_runs"]) == 3
    assert found["vertices_processed"] == 20
    assert found["triangles"] is None


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_row_pointers_from_their_owners_give_the_same_coefficients(mpi, tmp_path, ranks):
    graph = write_edges(tmp_path / "g.txt", random_edges(5, 60, 500))
    local = summary(mpi, ranks, tmp_path / "s.json", graph, "--output", tmp_path / "local.tsv")
    remote = summary(
        mpi, ranks, tmp_path / "s.json", graph, "--row-window", "--output", tmp_path / "remote.tsv"
    )
    assert (tmp_path / "local.tsv").read_text() == (tmp_path / "remote.tsv").read_text()
    assert (local["row_window"], remote["row_window"]) == (False, True)
    assert remote["checksum"] == local["checksum"]
    # Two gets per list: every vertex here has at least two neighbours.
    assert remote["gets"] == 2 * local["gets"]
    assert remote["bytes"] == local["bytes"] + 16 * local["gets"]


@pytest.mark.one_mpi
def test_unpermuted_rmat_is_the_same_graph_with_other_names(mpi, tmp_path):
    degrees = {}
    for order in ([], ["--unpermuted"]):
        out = tmp_path / "o.tsv"
        found = summary(mpi, 2, tmp_path / "s.json", "--rmat", 8, *order, "--output", out)
        rows = rows_of(out)
        degrees[bool(order)] = (
            found["edges"],
            found["triangles"],
            sorted(row[:2] for row in rows.values()),
        )
        hubs = sum(degree for v, (degree, _, _) in rows.items() if v < 64) / (2 * found["edges"])
        assert (hubs > 0.4) == bool(order)
    assert degrees[True] == degrees[False]


@pytest.mark.one_mpi
def test_progress_is_a_plain_line_where_there_is_no_terminal(mpi):
    result = lcc(mpi, 2, "--rmat", 7, "--progress").check()
    assert "counting triangles 100%\n" in result.output
    assert "\r" not in result.output


@pytest.mark.parametrize(
    "name, triangles, average",
    [("facebook_combined.txt", 1612010, 0.6055), ("oregon1_010331.txt", 17144, 0.2970)],
)
def test_published_values_of_real_graphs(mpi, tmp_path, name, triangles, average):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not in ../shared/data")
    found = summary(mpi, 2, tmp_path / "s.json", DATA / name)
    assert found["triangles"] == triangles
    assert found["average_coefficient"] == pytest.approx(average, abs=5e-5)


MM = "%%MatrixMarket matrix coordinate pattern general\n"
BAD_INPUT = {  # content of the file, what the message says
    "word": ("0 1\n1 2\n2 three\n0 2\n", "g:3: not an edge"),
    "one_id": ("# c\n0 1\n5\n1 2\n1 3\n", "g:3: not an edge"),
    "too_large_id": ("0 1\n0 18446744073709551616\n", "g:2: not an edge"),
    "mixed_signs": ("-1 18446744073709551615\n", "some ids are negative"),
    "last_line": ("".join(f"{i} {i + 1}\n" for i in range(500)) + "x", "g:501: not an edge"),
    "empty": ("# nothing\n", "no edge in this file"),
    "mm_array": ("%%MatrixMarket matrix array real general\n2 2\n", 'only "matrix coordinate"'),
    "mm_complex": ("%%MatrixMarket matrix coordinate complex general\n2 2 0\n", 'field "complex"'),
    "mm_sizes": (MM + "% c\n3 x 1\n", "g:3: not a line of sizes"),
    "mm_not_square": (MM + "3 4 1\n1 2\n", "3 x 4"),
    "mm_cut_header": (MM + "% c\n", "before the line of sizes"),
    "mm_outside": (MM + "3 3 2\n1 2\n4 1\n", "g:4: entry (4, 1) lies outside"),
    "mm_missing_entry": (MM + "3 3 3\n1 2\n2 3\n", "has 2 entries, its header says 3"),
    "mm_malformed": (MM + "3 3 2\n1 2\n1 b\n", "g:4: not an entry"),
    "csr_cut": ("LCC-CSR\n\1\0\0\0", "not a CSR file"),
}


def assert_one_message(result, message):
    assert not result.timed_out
    assert result.code not in (0, None)
    told = [line for line in result.output.splitlines() if line.startswith("lcc: ")]
    assert len(told) == 1, result.output
    assert message in told[0]


@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_gives_one_message(mpi, tmp_path, name, ranks):
    content, message = BAD_INPUT[name]
    graph = tmp_path / "g"
    graph.write_text(content)
    assert_one_message(lcc(mpi, ranks, graph), message)


@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "args, message",
    [
        (["missing"], "cannot read missing: No such file"),
        (["/"], "/: not a regular file"),
        (["--rmat", "30", "--edge-factor", "1000000"], "out of memory"),
        (["--rmat", "40"], "at most 2147483647"),
        (["--rmat", "0"], "--rmat"),
        (["--rmat", "5", "--no-such-option"], "--no-such-option"),
        (["--rmat", "5", "--repeat", "0"], "--repeat"),
        (["--rmat", "5", "--seed", "x"], "--seed"),
        (["--seed", "3"], "--rmat"),
        ([], "A graph file or --rmat SCALE is required"),
        (["--rmat", "5", "--output", "no/such/folder/o"], "cannot write no/such/folder/o"),
        (["--rmat", "5", "--json", "no/such/folder/o"], "cannot write no/such/folder/o"),
        (["--rmat", "5", "--write-csr", "/"], "cannot write /"),
    ],
    ids=lambda value: "_".join(value).replace("/", "-") if isinstance(value, list) else None,
)
def test_bad_options_give_one_message(mpi, ranks, args, message):
    assert_one_message(lcc(mpi, ranks, *args), message)


def test_more_ranks_than_vertices(mpi, tmp_path):
    assert_one_message(lcc(mpi, 3, write_edges(tmp_path / "g", [(1, 2)])), "3 ranks for 2 vertices")


@pytest.mark.one_mpi
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_damaged_csr_file_is_refused(mpi, tmp_path, ranks):
    csr = tmp_path / "g.csr"
    lcc(
        mpi, 1, write_edges(tmp_path / "g.txt", list(combinations(range(5), 2))), "--write-csr", csr
    ).check()
    good = csr.read_bytes()
    offsets, lists = 64, len(good) - 4 * 20
    damages = {
        "does not fit": good[:-1],
        "version 7": good[:8] + struct.pack("<I", 7) + good[12:],
        "do not ascend": good[: offsets + 8] + struct.pack("<Q", 99) + good[offsets + 16 :],
        "ascending vertices": good[:lists] + struct.pack("<I", 77) + good[lists + 4 :],
    }
    for message, content in damages.items():
        csr.write_bytes(content)
        assert_one_message(lcc(mpi, ranks, csr), message)


@pytest.mark.one_mpi
def test_a_directed_csr_file_is_refused(mpi, tmp_path):
    csr = tmp_path / "g.csr"  # 0 -> 1 and 2 -> 0 only
    csr.write_bytes(
        struct.pack("<8sIIQQQ24x", b"LCC-CSR\n", 1, 0, 3, 2, 0)
        + struct.pack("<4Q", 0, 1, 1, 2)
        + struct.pack("<2I", 1, 0)
    )
    assert_one_message(lcc(mpi, 2, csr), "in one direction only")


@pytest.mark.one_mpi
def test_help_and_version_are_printed_once(mpi):
    result = lcc(mpi, 3, "--help").check()
    assert result.output.count("Usage:") == 1
    assert lcc(mpi, 3, "--version").check().output.startswith("lcc ")
