# SPDX-License-Identifier: BSD-3-Clause
"""Generates a UPC source of a given length that resembles applications: many headers, structures,
shared arrays, helpers, loops over them."""

HEADERS = """\
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <upc.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
#include <upc_tick.h>
"""

# About fifty lines; @ becomes a different number in each copy.
MODULE = """
/* --- cells of group @ --- */

#define WIDTH_@ (16 + @ % 7)

typedef struct cell_@ {
  double value[4];
  int owner, flags;
  shared [] struct cell_@ *next;
} cell_@;

static shared [WIDTH_@] double field_@[WIDTH_@ * THREADS];
static shared cell_@ cells_@[THREADS];
static strict shared int ready_@[THREADS];
static shared [] cell_@ *shared head_@;
static double private_@[WIDTH_@];

static inline double weight_@(int i, double x) {
  return (i & 1) ? x / (1.0 + i) : x * (2.0 - 0x1p-4 * i);
}

static void fill_@(double seed) {
  int i;
  upc_forall (i = 0; i < WIDTH_@ * THREADS; i++; &field_@[i]) {
    field_@[i] = weight_@(i % WIDTH_@, seed);
    if (field_@[i] > 10.0 && i > 0)
      field_@[i] -= floor(field_@[i]);
    else
      field_@[i] += 0.5;
  }
  cells_@[MYTHREAD].owner = MYTHREAD;
  cells_@[MYTHREAD].flags |= 1 << (@ % 8);
  for (i = 0; i < 4; i++) cells_@[MYTHREAD].value[i] = seed * i;
  ready_@[MYTHREAD] = 1;
}

static double neighbours_@(int steps) {
  double sum = 0;
  int left = (MYTHREAD + THREADS - 1) % THREADS, right = (MYTHREAD + 1) % THREADS;
  while (!ready_@[left] || !ready_@[right]) ;
  for (int step = 0; step < steps; step++) {
    shared [WIDTH_@] double *p = &field_@[left * WIDTH_@];
    for (int i = 0; i < WIDTH_@; i++, p++) sum += *p * cells_@[right].value[i & 3];
    switch ((int)sum % 3) {
      case 0: cells_@[MYTHREAD].value[0] += sum; break;
      case 1: cells_@[MYTHREAD].value[1]--; break;
      default: private_@[step % WIDTH_@] = sum;
    }
  }
  upc_memget(private_@, &field_@[right * WIDTH_@], sizeof private_@);
  return sum + private_@[0];
}

static long chain_@(int length) {
  shared [] cell_@ *begin = NULL;
  for (int i = 0; i < length; i++) {
    shared [] cell_@ *made = upc_alloc(sizeof(cell_@));
    if (made == NULL) upc_global_exit(1);
    made->next = begin;
    made->owner = upc_threadof(made) == (size_t)MYTHREAD ? i : -1;
    begin = made;
  }
  if (MYTHREAD == 0) head_@ = begin;
  upc_barrier @;
  long found = 0;
  for (shared [] cell_@ *at = head_@; at != NULL; at = at->next) found += at->owner;
  return found;
}
"""


def text(lines):
    """Return at least `lines` lines; main calls every module."""
    modules = -(-(lines - HEADERS.count("\n") - 10) // (MODULE.count("\n") + 1))
    calls = [
        f"  fill_{k}({k} * 0.25), total += neighbours_{k}({k % 5 + 1}) + (double)chain_{k}(8);"
        for k in range(modules)
    ]
    main = [
        "",
        "int main(int argc, char **argv) {",
        "  double total = argc;",
        *calls,
        '  printf("%d of %d: %g\\n", MYTHREAD, THREADS, total);',
        "  return 0;",
        "}",
    ]
    return (
        HEADERS
        + "".join(MODULE.replace("@", str(k)) for k in range(modules))
        + "\n".join(main)
        + "\n"
    )


def write_source(path, lines):
    path.write_text(text(lines), encoding="utf-8")
    return path
