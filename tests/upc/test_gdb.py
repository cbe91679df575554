"""gdb shows pointers to shared by thread, phase and address, and reads what they point to."""

import os
import shutil
import subprocess

import pytest
from support import launch_shmem, launch_upc

pytestmark = [
    launch_upc.needs_upc,
    pytest.mark.skipif(not shutil.which("gdb"), reason="there is no gdb"),
]

PROGRAM = r"""
#include <upc.h>
shared [4] int a[4 * THREADS];
shared double d;
shared [4] int *p = &a[2];
typedef shared double *to_double;
struct pair { int x, y; };
shared struct pair pairs[2 * THREADS];
void stop(shared struct pair *q, to_double at, shared void *none) { (void)q, (void)at, (void)none; }
int main(void) {
  for (int i = 0; i < 4; i++) a[i] = 10 * i;
  d = 2.5;
  pairs[1].y = 7;
  stop(&pairs[1], &d, NULL);
  return 0;
}
"""


@pytest.mark.parametrize("form", [[], ["--struct-pointers"]], ids=["packed", "struct"])
def test_gdb_reads_shared_objects(form):
    code, script, _ = launch_upc.call_upcc("--gdb-script")
    assert code == 0
    program = launch_upc.upcc(PROGRAM, "-g", "-fno-eliminate-unused-debug-types", *form)
    asked = {
        "p": "<thread 0, phase 2, address 0x",
        "at": "<thread 0, phase 0, address 0x",
        "none": "<NULL>",
        '$upc_at(p, "int")': "20",
        '$upc_at(at, "double")': "2.5",
        '$upc_element(a, 3, "int", 4)': "30",
        '$upc_at(q, "struct pair")': "{x = 0, y = 7}",
        '$upc_element(p, -1, "int", 4)': "10",
        '$upc_at(none, "int")': "there is no shared object",
        '$upc_at(3, "int")': "is not a pointer to shared",
    }
    words = [
        "gdb",
        "-batch",
        "-nx",
        "-ex",
        f"source {script.strip()}",
        "-ex",
        "break stop",
        "-ex",
        "run",
    ]
    for question in asked:
        words += ["-ex", f"print {question}"]
    done = subprocess.run(
        [*words, str(program)],
        env={**os.environ, **launch_shmem.surroundings(False), "DEBUGINFOD_URLS": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = done.stdout + done.stderr
    if "ptrace: Operation not permitted" in said:
        pytest.skip("processes may not be traced here")
    for answer in asked.values():
        assert answer in said, said


FAR = r"""
#include <upc_relaxed.h>
#include <stdio.h>
const void *ncupc_debug_read(shared void *from, size_t bytes);
shared [4] int a[4 * THREADS];
int main(void) {
  for (int i = 0; i < 4; i++) a[4 * MYTHREAD + i] = 10 * MYTHREAD + i;
  upc_barrier;
  int right = ncupc_debug_read(NULL, 4) == NULL && ncupc_debug_read(a, 1 << 20) == NULL;
  for (int i = 0; i < 4 * THREADS; i++) right &= *(const int *)ncupc_debug_read(&a[i], 4) == i / 4 * 10 + i % 4;
  printf("%s\n", right ? "ok" : "FAILED");
  upc_barrier;
  return !right;
}
"""


def test_what_gdb_calls_for_data_out_of_reach():
    result = launch_upc.run(launch_upc.upcc(FAR), 2, tcp=True).check()
    assert result.stdout.count("ok") == 2
