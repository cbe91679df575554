"""bench/figures: plots and page from tables, the committed evidence, and one real figure from end to end."""

import csv
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

import pytest
from support import launch

pytest.importorskip("matplotlib")
sys.path.insert(0, str(launch.ROOT / "bench"))
from evidence import answer, page, studies, style, table  # noqa: E402

EVIDENCE = launch.ROOT / "docs" / "evidence"
WANTED = (
    "2",
    "3",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "peers",
    "sharing",
    "synthetics",
    "prefetch",
    "programs",
    "latency",
    "overlapped",
    "rate",
    "atomics",
    "synchronisation",
    "counted",
    "hashtable",
    "dsde",
    "fft3d",
    "milc_cg",
    "transfers",
    "kernels",
)
FIGURES = {figure.number: figure for figure, _ in studies.figures()}
LARGEST = 200_000  # bytes; the figure of the policies has a panel for each of 14 traces


def figures_command(*words, timeout=300):
    return subprocess.run(
        [sys.executable, launch.ROOT / "bench" / "figures", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def drawing(path):
    """The texts of an SVG; it must be one, and have lines or bars."""
    root = xml.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    assert len(root.findall(f".//{name}path")) > 5
    return [node.text for node in root.iter(f"{name}text")]


def test_all_figures_of_the_study_are_there():
    assert tuple(FIGURES) == WANTED


def test_list_names_every_figure():
    done = figures_command("--list")
    assert done.returncode == 0, done.stderr
    for figure in FIGURES.values():
        assert figure.file in done.stdout


def test_a_figure_that_there_is_not_is_refused():
    done = figures_command("--only", "9,99")
    assert done.returncode == 2
    assert "99: there are 2, 3, 7" in " ".join(done.stderr.split())


@pytest.mark.parametrize("number", WANTED)
def test_committed_figures_are_well_formed(number):
    path = EVIDENCE / f"{FIGURES[number].file}.csv"
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert len(set(header)) == len(header)
    assert rows and all(len(row) == len(header) for row in rows)
    assert drawing(path.with_suffix(".svg"))
    assert max(path.stat().st_size, path.with_suffix(".svg").stat().st_size) < LARGEST


@pytest.mark.parametrize("number", WANTED)
def test_committed_plots_are_those_of_the_committed_tables(number, tmp_path):
    figure = FIGURES[number]
    style.save(figure.draw(table.read(EVIDENCE / f"{figure.file}.csv")), tmp_path / "figure.svg")
    # Not the bytes: another version of matplotlib places things otherwise.
    assert drawing(tmp_path / "figure.svg") == drawing(EVIDENCE / f"{figure.file}.svg")


def test_the_page_says_what_the_tables_say():
    assert page.text(EVIDENCE) == (launch.ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")


def test_the_page_tells_first_where_we_are_worse():
    text = page.text(EVIDENCE)
    assert (
        0
        < text.index("## Where we are worse")
        < text.index("## Where we are as good or better")
        < text.index("## Fig. 2")
    )


def test_a_table_reads_back_what_was_written(tmp_path):
    rows = [
        {"name": "a, b", "count": 3, "share": 0.25, "good": True, "none": None},
        {"name": "c", "time": {"median": 1.5, "ci95": [1, 2], "repetitions": 9}},
    ]
    table.write(tmp_path / "t.csv", rows)
    first, second = table.read(tmp_path / "t.csv")
    assert (first["name"], first["count"], first["share"], first["good"], first["none"]) == (
        "a, b",
        3,
        0.25,
        True,
        None,
    )
    assert (second["time"], second["time_low"], second["time_high"]) == (1.5, 1, 2)


def write_overlap(folder, direct):
    """A table of Fig. 8, with the overlap of a direct get of 64 KiB."""
    row = {"network": "tcp", "size": 65536, "latency_us": 50.0, "of_this_type": 1.0}
    rows = [
        {**row, "network": network, "access": access, "overlap": overlap}
        for network in ("tcp", "model")
        for access, overlap in (
            ("plain", 0.8),
            ("direct", direct),
            ("capacity", 0.78),
            ("failing", 0.8),
        )
    ]
    table.write(folder / "fig08_overlap.csv", rows)


@pytest.mark.parametrize("direct, verdict", [(0.79, answer.GOOD), (0.5, answer.WORSE)])
def test_a_claim_is_judged_by_the_table(tmp_path, direct, verdict):
    write_overlap(tmp_path, direct)
    found, unanswered = page.answered(page.read(tmp_path))
    judged = [each for claim, each in found if "95% of the plain get" in claim.text]
    assert [each.verdict for each in judged] == [verdict]
    assert f"direct {100 * direct / 0.8:.0f}%" in judged[0].text
    assert {claim.figure for claim in unanswered} >= {"7", "12", "peers"}


def write_remote_data(folder, copy, adaptive):
    """Tables of the cache for remote data: how much faster copy is, and prefetch at the adaptive distance; 12 times at the best one."""
    table.write(
        folder / "shmem_synthetics.csv", [{"network": "tcp", "program": "copy", "speedup": copy}]
    )
    table.write(
        folder / "shmem_prefetch.csv",
        [
            {
                "mode": mode,
                "network": "tcp",
                "program": "prefetch",
                "distance": distance,
                "speedup": speedup,
            }
            for mode, distance, speedup in (
                ("fixed", 0, 3.5),
                ("fixed", 16, 12.0),
                ("adaptive", "adaptive", adaptive),
            )
        ],
    )


@pytest.mark.parametrize(
    "copy, adaptive, verdict", [(500, 11.5, answer.GOOD), (400, 10, answer.WORSE)]
)
def test_claims_of_the_cache_for_remote_data_are_judged_by_its_tables(
    tmp_path, copy, adaptive, verdict
):
    write_remote_data(tmp_path, copy, adaptive)
    found, _ = page.answered(page.read(tmp_path))
    judged = {claim.text.split()[0]: each for claim, each in found}
    assert judged["copy"].verdict == judged["An"].verdict == verdict  # "An adaptive distance ..."
    assert judged["Both"].text == "tcp: 12x" and judged["The"].verdict == answer.GIVEN
    assert f"| copy | 350 | 480 | 98 | - | 26 | {copy}x | - | - |" in page.text(tmp_path)


def sides(engine, **hosts):
    """A row's share for each side: {side: value}."""
    return {"engine": engine, **{f"{name}-1": value for name, value in hosts.items()}}


def write_one_sided(folder, get_us):
    """Tables of foMPI's figures: a get of the engine over tcp, beside hosts of 20 and 30 us; two sizes, for the models."""
    rows = [
        {"network": network, "side": side, "call": call, "size": size, "us": us + size / 1000}
        for network in ("tcp", "node")
        for call in ("get", "put")
        for size in (8, 1000)
        for side, us in sides(get_us, a=20, b=30).items()
    ]
    # No bar over tcp: it is not in memory when the flush returns.
    early = {"network": "tcp", "side": "mpich-5.0.2", "call": "put", "size": 8, "us": 1}
    table.write(folder / "rma_latency.csv", [*rows, early])
    table.write(
        folder / "rma_dsde.csv",
        [
            {"network": network, "way": way, "side": side, "us": us}
            for network in ("tcp", "node")
            for way, found in {
                "accumulate": sides(get_us, a=40),
                "alltoall": sides(60, a=16),
                "nbx": sides(60, a=50),
            }.items()
            for side, us in found.items()
        ],
    )
    table.write(
        folder / "rma_counted.csv",
        [
            {
                "call": "fence",
                "ranks": ranks,
                "batches_of_a_rank": rounds,
                "us": 5 * rounds,
                "paper_us": 2.9 * rounds,
            }
            for ranks, rounds in ((2, 1), (1024, 10))
        ],
    )


@pytest.mark.parametrize("get_us, verdict", [(8, answer.GOOD), (17, answer.WORSE)])
def test_claims_of_fompi_are_judged_beside_the_best_host(tmp_path, get_us, verdict):
    write_one_sided(tmp_path, get_us)
    found, _ = page.answered(page.read(tmp_path))
    judged = {(claim.figure, claim.text.split()[0]): each for claim, each in found}
    small = judged["latency", "Put"]
    assert small.verdict == judged["dsde", "Accumulate"].verdict == verdict
    assert f"put, tcp: {(get_us + 0.008) / 20.008:.2f}x" in small.text
    assert (
        f"best other protocol {16 / get_us:.2f}x, non-blocking barrier"
        in judged["dsde", "Accumulate"].text
    )
    fence = judged["counted", "The"]
    assert fence.verdict == answer.GIVEN
    assert fence.text.startswith("1,024 ranks, 10 messages a rank: 50 us by counts times cost")


def test_performance_models_are_fitted_to_the_tables(tmp_path):
    write_one_sided(tmp_path, 8)
    assert "| get, flush | 1.9 us + 0.17 ns s | 8 us + 1 ns s | 8 us + 1 ns s |" in page.text(
        tmp_path
    )
    assert "log2 p" not in page.text(tmp_path).split("| call | foMPI")[1]  # no fence, no row of it


def write_upc(folder, ratio, seconds):
    """Tables of the thesis's figures: UPC over OpenSHMEM, and cpi in UPC, which takes C 0.1 s."""
    table.write(
        folder / "upc_transfers.csv",
        [
            {"call": call, "cache": cache, "bytes": size, "ratio": ratio}
            for call in ("upc_memget", "upc_memput, upc_fence")
            for cache in ("off", "on")
            for size in (1, 4096)
        ],
    )
    table.write(
        folder / "upc_kernels.csv",
        [
            {"program": "cpi", "case": case, "threads": 2, "seconds": each, "wrong_percent": None}
            for case, each in {"UPC": seconds, "C, one thread's share": 0.1}.items()
        ],
    )


@pytest.mark.parametrize(
    "ratio, seconds, verdict", [(1.02, 0.102, answer.GOOD), (1.04, 0.15, answer.WORSE)]
)
def test_claims_of_the_upc_thesis_are_judged_beside_openshmem_and_c(
    tmp_path, ratio, seconds, verdict
):
    write_upc(tmp_path, ratio, seconds)
    found, unanswered = page.answered(page.read(tmp_path))
    judged = [each for claim, each in found if claim.section.startswith("UPC")]
    assert [each.verdict for each in judged] == [verdict] * 3
    assert f"1 B +{100 * (ratio - 1):.1f}%" in judged[0].text
    assert {claim.text.split()[0] for claim in unanswered} >= {"RandomAccess", "STREAM's"}


def test_a_page_of_one_figure_leaves_the_others_out(tmp_path):
    write_overlap(tmp_path, 0.6)
    study = {
        "date": "2026-01-02T03:04:05",
        "processor": "a processor",
        "cpus": 2,
        "memory_bytes": 2**33,
        "mpi_version": "MPI 1",
        "nearcache": "0.1.0",
        "load": [0.5, 1, 1],
        "quick": True,
    }
    (tmp_path / "context.json").write_text(json.dumps({"overlap": study, "access": study}))
    text = page.text(tmp_path)
    assert "bench/figures --quick --only 8" in text
    assert "2026-01-02, a processor, 2 cores, 8 GiB" in text
    assert "](evidence/fig08_overlap.svg)" in text and "fig07" not in text


def test_render_draws_all_it_can_and_fails_for_what_it_cannot(tmp_path):
    (tmp_path / "evidence").mkdir()
    write_overlap(tmp_path / "evidence", 0.6)
    done = figures_command("--render", "--only", "7,8", "--out", tmp_path)
    assert done.returncode == 1
    assert "failed: 7" in done.stderr
    assert drawing(tmp_path / "evidence" / "fig08_overlap.svg")
    assert (tmp_path / "evidence.md").exists()


def built_program():
    """bench_victims of one MPI; it needs nothing of the others."""
    found = sorted((launch.BUILD / "bin").glob("*/bench_victims"))
    if not found:
        pytest.skip("bench_victims is not built")
    return found[-1]


def test_what_fails_leaves_the_other_figures_alone(tmp_path):
    program = built_program()
    folder = tmp_path / "build" / "bin" / program.parent.name  # and no simulator, no applications
    folder.mkdir(parents=True)
    (folder / "bench_victims").symlink_to(program)
    (tmp_path / "build" / "bench").mkdir()
    shutil.copy(launch.BUILD / "bench" / "mpis.json", tmp_path / "build" / "bench")
    done = figures_command(
        "--built",
        "--quick",
        "--build",
        tmp_path / "build",
        "--mpi",
        folder.name,
        "--only",
        "18,10",
        "--out",
        tmp_path,
    )
    assert done.returncode == 1
    assert "SimGrid is not installed" in done.stderr and "failed: 14, 17, 18" in done.stderr
    assert {path.stem for path in (tmp_path / "evidence").glob("*.csv")} == {
        "fig10_occupancy",
        "fig11_victims",
    }
    assert "(evidence/fig10_occupancy.svg)" in (tmp_path / "evidence.md").read_text(
        encoding="utf-8"
    )


def test_figures_10_and_11_from_the_engine_to_the_page(tmp_path):
    tag = built_program().parent.name
    done = figures_command(
        "--quick",
        "--built",
        "--build",
        launch.BUILD,
        "--mpi",
        tag,
        "--only",
        "10",
        "--out",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "evidence"
    rows = table.read(folder / "fig10_occupancy.csv")
    assert table.values(rows, "scheme") == ["Full", "Temporal", "Positional", "Nearcache (rate)"]
    assert all(0.3 < row["occupied"] <= 1 for row in rows)
    sparse = {
        row["index"]: row
        for row in table.where(table.read(folder / "fig11_victims.csv"), scheme="Full")
    }
    # the sample, and more where slots are empty
    assert sparse[8000]["visited"] > sparse[1500]["visited"] >= 16
    assert sparse[8000]["visited_entries"] < sparse[1500]["visited_entries"]
    drawing(folder / "fig11_victims.svg")
    assert "Fig. 10" in (tmp_path / "evidence.md").read_text(encoding="utf-8")
    context = json.loads((folder / "context.json").read_text())
    assert context["victims"]["quick"] is True and context["victims"]["processor"]


def test_goals_are_the_same_wherever_they_are_stated():
    """bench/run has them; the evidence's claims and docs/performance.md repeat them."""
    from driver.report import GOALS
    from evidence import engine_claims

    text = (launch.ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    stated = re.findall(r"`(\w+)` (<=|>=|<) ([\d.]+)(?:[^`;|]*, `(_\w+)` (<=|>=) ([\d.]+))?", text)
    goals = {name: (sign, float(bound)) for name, sign, bound, *_ in stated}
    goals |= {
        f"{name.rpartition('_')[0]}{tail}": (sign, float(bound))
        for name, _, _, tail, sign, bound in stated
        if tail
    }
    shared = {name: goals[name] for name in goals if name in GOALS}
    assert "share_of_reference_mean" in shared and len(shared) > 20
    assert {name: GOALS[name] for name in shared} == shared
    peers = [{"share": 0.86, "behind_peers": 1.0, "trace": "t", "storage": "10%"}]
    assert engine_claims.peers_share({"peers": peers}).verdict == answer.WORSE, "0.86 in the mean"
    peers[0].update(share=0.96, behind_peers=3.0)
    assert engine_claims.peers_share({"peers": peers}).verdict == answer.GOOD
    assert engine_claims.peers_behind({"peers": peers}).verdict == answer.WORSE
