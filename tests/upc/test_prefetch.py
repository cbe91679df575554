"""<upc_prefetch.h>: what is asked for is fetched ahead, and nothing else changes."""

import json

import pytest
from support import launch_upc

pytestmark = launch_upc.needs_upc

PROGRAM = r"""
#include <upc_prefetch.h>
#include <upc_relaxed.h>
#include <stdio.h>
enum { block = 4096 };
shared [block] long a[block * THREADS];
int main(int argc, char **argv) {
  int other = (MYTHREAD + 1) % THREADS, right = 1;
  for (int i = 0; i < block; i++) a[block * MYTHREAD + i] = 100000 * MYTHREAD + i;
  upc_barrier;
  upc_prefetch(NULL, 8);
  upc_prefetch(&a[block * MYTHREAD], sizeof(long));
  upc_prefetch(&a[block * other], 0);
  if (argc > 1)
    for (int i = 0; i < block; i += 512) upc_prefetch(&a[block * other + i], 8 * sizeof(long));
  for (int i = 0; i < block; i += 512) right &= a[block * other + i] == 100000 * other + i;
  upc_prefetch(&a[block * other], sizeof(long));
  upc_barrier;
  a[block * MYTHREAD] = -1 - MYTHREAD;
  upc_barrier;
  right &= a[block * other] == -1 - other;
  printf("%s\n", right ? "ok" : "FAILED");
  upc_barrier;
  return !right;
}
"""


@pytest.mark.parametrize("words", [[], ["ahead"]], ids=["nothing", "ahead"])
def test_what_is_asked_for_is_fetched_ahead(words, tmp_path):
    program = launch_upc.upcc(PROGRAM)
    report = tmp_path / "report.json"
    env = {"NEARCACHE_REPORT": str(report)}
    result = launch_upc.run(program, 2, *words, tcp=True, env=env).check()
    assert result.stdout.count("ok") == 2
    ranks = json.loads(report.read_text())
    fetched = max(_counts(ranks, "prefetches"))
    assert fetched >= 16 if words else fetched <= 2  # of both threads


def _counts(node, name):
    """Every value of that name in a report."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == name and isinstance(value, int):
                yield value
            else:
                yield from _counts(value, name)
    elif isinstance(node, list):
        for each in node:
            yield from _counts(each, name)
