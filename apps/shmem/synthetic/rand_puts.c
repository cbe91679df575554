/* SPDX-License-Identifier: BSD-3-Clause */
// rand_puts: 30,000 puts to random locations in a large array on another PE. With --each, every put
// completes before the next one starts.
//
// A language with assignments in program order turns each assignment into a put and a quiet if it
// has no cache. With write-behind, the puts overlap, and the order that the program can observe is
// still preserved. With --beside, the same puts are also made to a second array that is not cached,
// with a quiet after every block of them (common/beside.h).
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "common/beside.h"
#include "common/program.h"

typedef struct {
  long *part, n;
  int target;
} array;

static long place(long i, long n) { return (long)(mixed((unsigned long)i) % (unsigned long)n); }

// depends only on the location: the order of two puts to one location does not matter
static long value_of(long at) { return 5 * at + 7; }

static void put(void* data, long first, long end) {
  array* a = data;
  for (long i = first; i < end; i++) {
    long at = place(i, a->n);
    shmem_long_p(&a->part[at], value_of(at), a->target);
  }
}

static void put_and_quiet(void* data, long first, long end) {
  for (long i = first; i < end; i++) {
    put(data, i, i + 1);
    shmem_quiet();
  }
}

static array array_of(long n, int target) {
  array a = {.part = shmem_malloc((size_t)n * sizeof(long)), .n = n, .target = target};
  if (shmem_my_pe() == target) memset(a.part, 0, (size_t)n * sizeof(long));
  return a;
}

static bool written(const long* a, long n, long operations) {
  char* hit = calloc((size_t)n, 1);
  for (long i = 0; i < operations; i++) hit[place(i, n)] = 1;
  bool right = true;
  for (long at = 0; at < n; at++) right = right && a[at] == (hit[at] ? value_of(at) : 0);
  free(hit);
  return right;
}

int main(int argc, char** argv) {
  long n = 10000000, operations = 30000, each = 0, both = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"n", &n, false, "elements of the array"},
                   {"operations", &operations, false, "puts"},
                   {"each", &each, true, "a quiet after each put, not only one at the end"},
                   {"beside", &both, true, "in turn with an array that is not cached"},
                   {0},
               });
  shmem_init();
  int me = shmem_my_pe(), target = 1 % shmem_n_pes();
  array a = array_of(n, target), beside = a;
  if (both) {
    beside = array_of(n, target);
    nearcache_shmem_uncached(beside.part, (size_t)n * sizeof(long));
  }
  shmem_barrier_all();

  operate_function operate = each ? put_and_quiet : put;
  both_seconds seconds = {0};
  double begin = seconds_now();
  if (me == 0 && both)
    seconds = side_by_side(operate, &a, &beside, operations);
  else if (me == 0)
    operate(&a, 0, operations);
  shmem_quiet();
  if (!both) seconds.cached = seconds_now() - begin;
  shmem_barrier_all();

  bool correct =
      correct_everywhere(me != target || (written(a.part, n, operations) &&
                                          (!both || written(beside.part, n, operations))));
  json_begin("rand_puts");
  json_long("n", n);
  json_long("operations", operations);
  json_text("quiet", each ? "each" : "end");
  json_double("seconds", seconds.cached);
  if (both) json_double("uncached_seconds", seconds.uncached);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
