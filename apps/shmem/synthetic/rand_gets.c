/* SPDX-License-Identifier: BSD-3-Clause */
// rand_gets: 30,000 gets at random locations in a large array on another PE.
//
// Hardly any element is read twice, so a cache cannot help. This measures what the cache adds to a
// get, best with --beside, which makes the same gets from a second array that is not cached
// (common/beside.h).
#include <shmem.h>

#include "common/beside.h"
#include "common/program.h"

typedef struct {
  long *part, n, sum;
  int target;
} array;

static long place(long i, long n) { return (long)(mixed((unsigned long)i) % (unsigned long)n); }

static void get(void* data, long first, long end) {
  array* a = data;
  for (long i = first; i < end; i++) a->sum += shmem_long_g(&a->part[place(i, a->n)], a->target);
}

static array array_of(long n, int target) {
  array a = {.part = shmem_malloc((size_t)n * sizeof(long)), .n = n, .target = target};
  if (shmem_my_pe() == target)
    for (long i = 0; i < n; i++) a.part[i] = 3 * i + 1;
  return a;
}

int main(int argc, char** argv) {
  long n = 10000000, operations = 30000, both = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"n", &n, false, "elements of the array"},
                   {"operations", &operations, false, "gets"},
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

  both_seconds seconds = {0};
  double begin = seconds_now();
  if (me == 0 && both)
    seconds = side_by_side(get, &a, &beside, operations);
  else if (me == 0)
    get(&a, 0, operations);
  if (!both) seconds.cached = seconds_now() - begin;
  shmem_barrier_all();

  long expected = 0;
  for (long i = 0; i < operations; i++) expected += 3 * place(i, n) + 1;
  bool correct =
      correct_everywhere(me != 0 || (a.sum == expected && (!both || beside.sum == expected)));
  json_begin("rand_gets");
  json_long("n", n);
  json_long("operations", operations);
  json_double("seconds", seconds.cached);
  if (both) json_double("uncached_seconds", seconds.uncached);
  json_long("checksum", a.sum);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
