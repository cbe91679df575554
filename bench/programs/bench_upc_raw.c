/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_upc_raw.h"

#include <shmem.h>

#include "nearcache/shmem.h"

int raw_caching(void) { return nearcache_shmem_caching(); }

void raw_forget(void) { nearcache_shmem_acquire(); }

void raw_get(void* to, const void* from, size_t bytes, int pe) {
  shmem_getmem(to, from, bytes, pe);
}

void raw_put(void* to, const void* from, size_t bytes, int pe) {
  shmem_putmem(to, from, bytes, pe);
}

// Like upc_fence: completes all writes, and drops all data that was read before.
void raw_quiet(void) {
  shmem_quiet();
  nearcache_shmem_acquire();
}

void raw_triad(double* a, const double* b, const double* c, double alpha, long elements) {
  for (long i = 0; i < elements; i++) a[i] = b[i] + alpha * c[i];
}
