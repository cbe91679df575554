// SPDX-License-Identifier: BSD-3-Clause

// Runs the same operations on two sets of data in one run, alternating in blocks; the second set is
// kept out of the cache. When the cache cannot help a program, its cost is smaller than the
// difference between two runs, so both must be timed within one run.
#pragma once

#include <shmem.h>

#include "common/program.h"
#include "nearcache/shmem.h"

enum { operations_a_block = 256 };

// Performs operations [first, end) on `data`.
typedef void (*operate_function)(void* data, long first, long end);

typedef struct {
  double cached, uncached;
} both_seconds;

static inline double seconds_of_block(operate_function operate, void* data, long first, long end) {
  double begin = seconds_now();
  operate(data, first, end);
  shmem_quiet();
  return seconds_now() - begin;
}

// Performs operations [0, count) on both sets; blocks alternate in which set comes first.
static inline both_seconds side_by_side(operate_function operate, void* cached, void* uncached,
                                        long count) {
  both_seconds seconds = {0};
  for (long first = 0, block = 0; first < count; first += operations_a_block, block++) {
    long end = first + operations_a_block < count ? first + operations_a_block : count;
    if (block % 2 == 0) seconds.cached += seconds_of_block(operate, cached, first, end);
    seconds.uncached += seconds_of_block(operate, uncached, first, end);
    if (block % 2 != 0) seconds.cached += seconds_of_block(operate, cached, first, end);
  }
  return seconds;
}
