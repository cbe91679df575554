/* SPDX-License-Identifier: BSD-3-Clause */
// copy: B[i] = A[i] for every i, with both arrays on another PE: one get and one put per element,
// in order.
//
// The best case for a cache of remote data: gets are served from pages that are read ahead, and
// puts are written back a page at a time.
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "common/program.h"

static long value_of(long i) { return (long)mixed((unsigned long)i); }

static bool copied(const long* b, long n) {
  for (long i = 0; i < n; i++)
    if (b[i] != value_of(i)) return false;
  return true;
}

// Returns the seconds until all puts are complete.
static double copy(long* b, const long* a, long n, int pe) {
  double begin = seconds_now();
  for (long i = 0; i < n; i++) shmem_long_p(&b[i], shmem_long_g(&a[i], pe), pe);
  shmem_quiet();
  return seconds_now() - begin;
}

int main(int argc, char** argv) {
  long n = 10000, repetitions = 1;
  options_read(argc, argv,
               (struct option[]){
                   {"n", &n, false, "elements"},
                   {"repetitions", &repetitions, false, "times it is copied; the median counts"},
                   {0},
               });
  shmem_init();
  int me = shmem_my_pe(), other = (me + 1) % shmem_n_pes();
  long* a = shmem_malloc((size_t)n * sizeof(long));
  long* b = shmem_malloc((size_t)n * sizeof(long));
  for (long i = 0; i < n; i++) a[i] = value_of(i);
  memset(b, 0, (size_t)n * sizeof(long));
  shmem_barrier_all();

  double* seconds = malloc((size_t)repetitions * sizeof(double));
  for (long r = 0; r < repetitions; r++) {
    if (me == 0) seconds[r] = copy(b, a, n, other);
    shmem_barrier_all();  // the barrier is an acquire: no data read before it may be reused
  }

  int target = 1 % shmem_n_pes();
  bool correct = correct_everywhere(me != target || copied(b, n));
  json_begin("copy");
  json_long("n", n);
  json_double("seconds", me == 0 ? median(seconds, repetitions) : 0);
  json_end(correct);
  free(seconds);
  shmem_finalize();
  return !correct;
}
