// SPDX-License-Identifier: BSD-3-Clause

// Distributed arrays, accessed element by element: what a PGAS compiler generates for `A[i]` if A
// is distributed in blocks.
//
// Element i is part[i % block] of PE i / block. Each access is one shmem_*_g or shmem_*_p, no
// matter which PE owns the element: no aggregation, no copies of remote data. That such code is
// slow without help is the point of these programs.
#pragma once

#include <shmem.h>

typedef struct {
  double* part;  // this PE's elements, symmetric
  long block;    // elements per PE; the last PEs may have fewer
  long size;     // of the whole array
} doubles;

typedef struct {
  long* part;
  long block;
  long size;
} longs;

static inline long block_of(long size) { return (size + shmem_n_pes() - 1) / shmem_n_pes(); }

// Collective, like every shmem_malloc. All elements are 0.
static inline doubles doubles_new(long size) {
  long block = block_of(size);
  return (doubles){shmem_calloc((size_t)block + 1, sizeof(double)), block, size};
}

static inline longs longs_new(long size) {
  long block = block_of(size);
  return (longs){shmem_calloc((size_t)block + 1, sizeof(long)), block, size};
}

static inline double double_at(doubles a, long i) {
  return shmem_double_g(&a.part[i % a.block], (int)(i / a.block));
}

static inline long long_at(longs a, long i) {
  return shmem_long_g(&a.part[i % a.block], (int)(i / a.block));
}

static inline void set_double(doubles a, long i, double value) {
  shmem_double_p(&a.part[i % a.block], value, (int)(i / a.block));
}

static inline void set_long(longs a, long i, long value) {
  shmem_long_p(&a.part[i % a.block], value, (int)(i / a.block));
}

// This PE's elements are first_here(size) to end_here(size) - 1.
static inline long first_here(long size) {
  long first = shmem_my_pe() * block_of(size);
  return first < size ? first : size;
}

static inline long end_here(long size) {
  long end = (shmem_my_pe() + 1) * block_of(size);
  return end < size ? end : size;
}
