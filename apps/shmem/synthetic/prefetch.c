/* SPDX-License-Identifier: BSD-3-Clause */
// prefetch: sum += A[f(i)] for 30,000 computed indices into a large array on another PE, each
// prefetched k accesses ahead (Ferguson and Buettner, Caching Puts and Gets in a PGAS Language
// Runtime, Listing 7).
//
// As in a PGAS language, an array on another PE is accessed through its descriptor, which is also
// on that PE: an access reads the bounds, checks the index, reads the address of the data and then
// reads the element. A cache without prefetch saves the gets of the descriptor; prefetch hides the
// latency of those of the elements.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/program.h"
#include "nearcache/shmem.h"

typedef struct {
  long lower, upper;  // index bounds, inclusive
  long* data;  // address of the element at `lower`; symmetric, so it also denotes the object here
} descriptor;

typedef struct {
  const descriptor* header;
  int home;
  bool checked;
} remote_array;

static const long* element(remote_array array, long i) {
  long lower = shmem_long_g(&array.header->lower, array.home);
  if (array.checked && (i < lower || i > shmem_long_g(&array.header->upper, array.home))) {
    fprintf(stderr, "prefetch: index %ld is out of bounds\n", i);
    shmem_global_exit(1);
  }
  return (const long*)shmem_long_g((const long*)&array.header->data, array.home) + (i - lower);
}

static long value_at(remote_array array, long i) {
  return shmem_long_g(element(array, i), array.home);
}

static void prefetch_at(remote_array array, long i) {
  nearcache_shmem_prefetch(element(array, i), sizeof(long), array.home);
}

static long f(long i, long n) { return 1 + (long)(mixed((unsigned long)i) % (unsigned long)n); }

// `distance` < 0: the library chooses how far ahead to prefetch, and may change that over time.
static long sum_of_computed(remote_array a, long n, long operations, long distance) {
  long sum = 0, ahead = 0;  // accesses before `ahead` have been read or prefetched
  bool hints = nearcache_shmem_caching() && distance != 0;
  for (long i = 0; i < operations; i++) {
    if (hints) {
      long k = distance > 0 ? distance : (long)nearcache_shmem_prefetch_distance();
      if (ahead <= i) ahead = i + 1;
      while (ahead <= i + k && ahead < operations) prefetch_at(a, f(ahead++, n));
    }
    sum += value_at(a, f(i, n));
  }
  return sum;
}

int main(int argc, char** argv) {
  long n = 10000000, operations = 30000, distance = -1, unchecked = 0;
  options_read(
      argc, argv,
      (struct option[]){
          {"n", &n, false, "elements of the array"},
          {"operations", &operations, false, "accesses"},
          {"distance", &distance, false, "accesses ahead; 0: no prefetch; -1: as the library says"},
          {"unchecked", &unchecked, true, "without the check of the upper bound"},
          {0},
      });
  shmem_init();
  int me = shmem_my_pe(), target = 1 % shmem_n_pes();
  descriptor* header = shmem_malloc(sizeof(descriptor));
  long* data = shmem_malloc((size_t)n * sizeof(long));
  *header = (descriptor){1, n, data};
  if (me == target)
    for (long i = 0; i < n; i++) data[i] = 3 * i + 1;
  shmem_barrier_all();

  double begin = seconds_now();
  long sum =
      me == 0 ? sum_of_computed((remote_array){header, target, !unchecked}, n, operations, distance)
              : 0;
  double seconds = seconds_now() - begin;
  shmem_barrier_all();

  long expected = 0;
  for (long i = 0; i < operations; i++) expected += 3 * (f(i, n) - 1) + 1;
  bool correct = correct_everywhere(me != 0 || sum == expected);
  json_begin("prefetch");
  json_long("n", n);
  json_long("operations", operations);
  json_long("distance", distance);
  json_long("hints", nearcache_shmem_caching());
  json_long("distance_at_end", (long)nearcache_shmem_prefetch_distance());
  json_double("seconds", seconds);
  json_long("checksum", sum);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
