"""lcc gives the same answer with Nearcache preloaded into the very same binary, and nearly all its gets are hits."""

import json

import pytest
from support import launch


def run_lcc(mpi, path, preload, rows=(), **options):
    launch.run(
        mpi,
        2,
        "lcc",
        "--rmat",
        "8",
        "--seed",
        "3",
        *rows,
        "--json",
        path / "lcc.json",
        preload=preload,
        timeout=90,
        env={"NEARCACHE_REPORT": str(path / "report.json"), **options},
    ).check()
    return json.loads((path / "lcc.json").read_text())


def check_cached_and_uncached_agree(mpi, path, policy, rows=()):
    plain = run_lcc(mpi, path, preload=False, rows=rows)
    # Storage too small for the graph, so that entries are evicted.
    cached = run_lcc(
        mpi,
        path,
        preload=True,
        rows=rows,
        NEARCACHE_POLICY=policy,
        NEARCACHE_STORAGE="8k",
        NEARCACHE_ADAPTIVE="0",
    )
    report = json.loads((path / "report.json").read_text())
    for key in ("triangles", "average_coefficient", "checksum", "gets", "bytes"):
        assert cached[key] == plain[key]
    assert report["totals"]["hits_full"] > 0
    assert report["totals"]["evictions"] > 0
    assert report["totals"]["gets"] == plain["gets"]


def test_cached_and_uncached_agree_under_every_mpi(mpi, preload, tmp_path):
    check_cached_and_uncached_agree(mpi, tmp_path, "rate")


@pytest.mark.few_mpis
@pytest.mark.parametrize("policy, rows", [("clampi", ()), ("lru", ()), ("rate", ["--row-window"])])
def test_cached_and_uncached_agree_whatever_is_evicted(mpi, preload, tmp_path, policy, rows):
    check_cached_and_uncached_agree(mpi, tmp_path, policy, rows)
