"""The JSON report of a UPC program: its shared objects and what acquired are called as the program calls them."""

import json

from support import launch_upc

pytestmark = launch_upc.needs_upc

PROGRAM = r"""
#include <upc_relaxed.h>
#include <stdio.h>
enum { block = 1024 };
shared [block] long table[block * THREADS];
strict shared int flag;
int main(void) {
  const int other = (MYTHREAD + 1) % THREADS;
  shared [] long *mine = upc_alloc(block * sizeof(long));
  upc_lock_t *lock = upc_all_lock_alloc();
  long sum = 0;
  upc_barrier;
  for (int i = 0; i < 20 * block; i++) sum += table[block * other + i % block];
  upc_barrier;
  upc_lock(lock);
  sum += flag;
  upc_unlock(lock);
  upc_fence;
  mine[0] = sum;
  printf("sum %ld\n", sum);
  return 0;
}
"""


def test_shared_objects_and_acquires_have_their_names_of_upc(tmp_path):
    program = launch_upc.upcc(PROGRAM)
    report = tmp_path / "report.json"
    env = {"NEARCACHE_REPORT": str(report)}
    launch_upc.run(program, 2, tcp=True, env=env).check()
    document = json.loads(report.read_text())
    details = document["details"]
    rows = {row["name"]: row for row in details["objects"]}
    assert rows["table"]["bytes"] == 1024 * 8
    assert rows["table"]["hits"] > 0.9 * rows["table"]["gets"] > 0.8 * 2 * 20 * 1024
    calls = {row["call"]: row for row in details["acquires"]}
    assert calls["upc_barrier"]["calls"] == 2 * 2
    assert calls["upc_barrier"]["bytes_dropped"] > 0.9 * 2 * 1024 * 8
    assert calls["upc_lock"]["calls"] == 2
    assert {"strict access", "strict access or upc_fence"} & set(calls)
    assert sum(row["hits"] for row in rows.values()) == document["totals"]["hits_full"]
