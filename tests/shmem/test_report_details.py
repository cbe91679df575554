"""The details of an OpenSHMEM program's JSON report: gets over time and by what they are of, acquires by the calls that they were."""

import json

import pytest
from support import launch, launch_shmem
from support.programs import compiled
from support.shmem_runs import over_model, over_tcp

# Each PE reads the next one's static table many times between two barriers, then its block once, past a context of its own.
PROGRAM = r"""
#include <shmem.h>
#include <stdio.h>
#include <string.h>
static long table[500];
int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  long *block = shmem_malloc(1000 * sizeof *block), sum = 0;
  long copy[1000];
  memset(block, 0, 1000 * sizeof *block);
  shmem_barrier_all();
  for (int phase = 0; phase < 3; ++phase) {
    for (int i = 0; i < 20000; ++i) sum += shmem_long_g(&table[i % 500], next);
    shmem_barrier_all();
  }
  shmem_getmem(copy, block, sizeof copy, next);
  for (int i = 0; i < 1000; i += 100) shmem_long_put(block + i, copy + i, 100, next);
  shmem_fence();
  shmem_long_atomic_fetch_add(&table[0], 1, next);
  shmem_long_iget(copy, block, 1, 2, 10, next);
  shmem_barrier_all();
  printf("sum %ld\n", sum);
  shmem_free(block);
  shmem_finalize();
  return 0;
}
"""
PHASES, TABLE, BLOCK = 3, 500 * 8, 1000 * 8


@pytest.fixture
def program(shmem, tmp_path):
    return compiled(tmp_path, "program", PROGRAM, shmem.wrapper, "-O1", "-std=gnu11")


def report_of(launched, shmem, program, tmp_path, **env):
    path = tmp_path / "report.json"
    launched(shmem, 2, program, env={"NEARCACHE_REPORT": str(path), **env}).check()
    return json.loads(path.read_text())


def sums(rows, name):
    return sum(row[name] for row in rows)


@pytest.mark.parametrize("launched", [over_tcp, over_model], ids=["tcp", "modelled"])
def test_details_add_up_to_the_totals(shmem, preload_shmem, program, tmp_path, launched):
    report = report_of(launched, shmem, program, tmp_path)
    totals, details = report["totals"], report["details"]
    last = details["timeline"]["points"][-1]
    assert totals["gets"] > 2 * PHASES * 20000
    for name in ("gets", "hits_full", "direct", "bypassed"):
        assert last[name] == totals[name], name
    assert last["storage_bytes"] == totals["storage_bytes"]
    for part in ("sizes", "targets", "objects"):
        assert sums(details[part], "gets") == totals["gets"], part
        assert sums(details[part], "hits") == totals["hits_full"], part
    for name in ("bytes_from_network", "bytes_to_network", "bypassed"):
        assert sums(details["objects"], name) == totals[name], name


def test_objects_have_their_names_and_what_was_asked_of_them(
    shmem, preload_shmem, program, tmp_path
):
    objects = report_of(over_tcp, shmem, program, tmp_path)["details"]["objects"]
    rows = {row["name"]: row for row in objects}
    table, block = rows["table"], rows["block 1 of the symmetric heap (8000 B)"]
    assert table["bytes"] == TABLE and block["bytes"] == BLOCK
    assert table["hits"] > 0.99 * table["gets"] > 0.98 * 2 * PHASES * 20000
    assert table["bytes_from_network"] >= 0.9 * 2 * PHASES * TABLE
    assert block["bypassed"] >= 2  # the strided ones
    assert block["bytes_to_network"] == 2 * BLOCK and table["bytes_to_network"] == 0


def test_acquires_say_which_calls_they_were_and_what_they_dropped(
    shmem, preload_shmem, program, tmp_path
):
    acquires = report_of(over_tcp, shmem, program, tmp_path)["details"]["acquires"]
    calls = {row["call"]: row for row in acquires}
    assert calls["shmem_barrier_all"]["calls"] == 2 * (PHASES + 2)
    assert calls["shmem_barrier_all"]["bytes_dropped"] >= 0.9 * 2 * PHASES * TABLE
    assert calls["shmem_long_atomic_fetch_add"]["calls"] == 2
    assert "shmem_fence" not in calls and "shmem_long_iget" not in calls


NAMES = r"""
#include <nearcache/shmem.h>
#include <stdio.h>
static char table[256];
#define EXPECT(a, b) ((a) == (b) ? (void)0 : (void)printf("FAILED line %d\n", __LINE__))
int main(void) {
  shmem_init();
  const int next = (shmem_my_pe() + 1) % shmem_n_pes();
  long *first = shmem_calloc(256, sizeof *first), *second = shmem_calloc(256, sizeof *second), sum = 0;
  EXPECT(nearcache_shmem_name(first, 1024, "lower"), NEARCACHE_SHMEM_OK);
  EXPECT(nearcache_shmem_name(first + 128, 1024, "middle"), NEARCACHE_SHMEM_OK);
  EXPECT(nearcache_shmem_name(first + 128, 1024, "upper"), NEARCACHE_SHMEM_OK);
  EXPECT(nearcache_shmem_name(second, 2048, "freed"), NEARCACHE_SHMEM_OK);
  EXPECT(nearcache_shmem_name(&sum, 8, "stack"), NEARCACHE_SHMEM_ARGUMENT);
  EXPECT(nearcache_shmem_name(table, 0, "empty"), NEARCACHE_SHMEM_ARGUMENT);
  EXPECT(nearcache_shmem_name(table, 8, ""), NEARCACHE_SHMEM_ARGUMENT);
  EXPECT(nearcache_shmem_name(table, 8, NULL), NEARCACHE_SHMEM_ARGUMENT);
  shmem_free(second);
  second = shmem_calloc(256, sizeof *second);
  for (int i = 0; i < 256; ++i) sum += shmem_long_g(&first[i], next) + shmem_long_g(&second[i], next);
  for (int i = 0; i < 256; ++i) sum += shmem_char_g(&table[i], next);
  shmem_barrier_all();
  EXPECT(nearcache_shmem_name(table + 128, 128, "half of it"), NEARCACHE_SHMEM_OK);
  for (int i = 0; i < 256; ++i) sum += shmem_char_g(&table[i], next);
  nearcache_shmem_acquire_by("an acquire of the test");
  nearcache_shmem_acquire();
  shmem_barrier_all();
  printf("sum %ld\n", sum);
  shmem_finalize();
  EXPECT(nearcache_shmem_name(first, 8, "late"), NEARCACHE_SHMEM_ABSENT);
  return 0;
}
"""


def test_a_program_names_its_objects_and_its_acquires(shmem, preload_shmem, tmp_path):
    include = f"-I{launch.ROOT / 'include'}"
    program = compiled(tmp_path, "names", NAMES, shmem.wrapper, "-O1", "-std=gnu11", include)
    details = report_of(over_tcp, shmem, program, tmp_path)["details"]
    rows = {row["name"]: row for row in details["objects"]}
    assert {"lower", "upper", "block 3 of the symmetric heap (2048 B)"} <= set(rows)
    assert "middle" not in rows and "freed" not in rows
    assert rows["lower"]["bytes"] == rows["upper"]["bytes"] == 1024
    assert rows["half of it"]["bytes"] == 128, "static data, named after it was read"
    assert rows["half of it"]["gets"] > 0 and rows["table"]["gets"] > 0
    calls = {row["call"]: row["calls"] for row in details["acquires"]}
    assert calls["an acquire of the test"] == calls["nearcache_shmem_acquire"] == 2


def test_text_and_page_show_them(shmem, preload_shmem, program, tmp_path):
    import io

    from nearcache import html
    from nearcache.report_text import render
    from rich.console import Console

    report = report_of(over_tcp, shmem, program, tmp_path)
    out = io.StringIO()
    render(report, Console(file=out, width=140))
    page = html.page(report)
    for shown in (out.getvalue(), page):
        for word in ("table", "block 1 of the symmetric heap", "shmem_barrier_all"):
            assert word in shown, word
    assert "Not in this report" not in page and "By PE." in page


def test_text_alone_needs_no_details(shmem, preload_shmem, program):
    """The short report on standard error: nothing is collected for it."""
    result = over_tcp(shmem, 2, program, env={"NEARCACHE_REPORT": "-"}).check()
    assert "hits (min" in result.output and "symmetric heap" not in result.output


def test_without_symmetric_memory_left_there_is_a_report_without_details(
    shmem, preload_shmem, tmp_path
):
    full = PROGRAM.replace(
        "shmem_free(block);", "for (size_t n = 1 << 22; n >= 64; n /= 2) while (shmem_malloc(n));"
    )
    program = compiled(tmp_path, "full", full, shmem.wrapper, "-O1", "-std=gnu11")
    path = tmp_path / "report.json"
    result = launch_shmem.run(
        shmem,
        2,
        program,
        env={"NEARCACHE_REPORT": str(path), "SMA_SYMMETRIC_SIZE": "4M"},
    ).check()
    report = json.loads(path.read_text())
    assert report["details"] is None and "no symmetric memory for its details" in result.output
