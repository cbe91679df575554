/* SPDX-License-Identifier: BSD-3-Clause */
/* nearcache-shmem-selftest: two PEs that show whether a preloaded libnearcache_shmem.so serves
 * gets, and rightly. Prints one line: `selftest: ok hits=N`, `selftest: FAILED why` or `selftest:
 * nearcache is not loaded`; the exit code is 0, 1 or 2. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#include "nearcache/shmem.h"

enum { count = 64, repeats = 10 };

static long expected(int pe, int i) { return 1000L * pe + i; }

/* Every element of the neighbour, `repeats` times over; returns how many values were wrong. */
static long read_all(const long* memory, int pe) {
  long wrong = 0;
  for (int r = 0; r < repeats; r++)
    for (int i = 0; i < count; i++) wrong += shmem_long_g(&memory[i], pe) != expected(pe, i);
  return wrong;
}

/* Each writes all of the neighbour's elements, one by one; returns how many of its own have not
 * become what was written. */
static long write_all(long* memory, int me, int pe, int from) {
  long wrong = 0;
  for (int i = 0; i < count; i++) shmem_long_p(&memory[i], expected(me, i), pe);
  shmem_barrier_all();
  for (int i = 0; i < count; i++) wrong += memory[i] != expected(from, i);
  return wrong;
}

static unsigned long long hits(void) {
  nearcache_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.size = sizeof stats;
  if (nearcache_shmem_stats(&stats) != NEARCACHE_SHMEM_OK) return 0;
  return stats.hits_full + stats.hits_pending + stats.hits_partial;
}

/* PE 0 asks all others and says what was found; the same exit code everywhere. */
static int report(int me, int pes, long* found, int* code) {
  const int loaded = nearcache_shmem_impl_stats != NULL;
  long wrong = 0, fewest = found[1];
  for (int pe = 0; me == 0 && pe < pes; pe++) {
    const long its_hits = shmem_long_g(&found[1], pe);
    wrong += shmem_long_g(&found[0], pe);
    if (its_hits < fewest) fewest = its_hits;
  }
  if (me == 0) {
    const int outcome = pes < 2 || wrong ? 1 : !loaded ? 2 : fewest > 0 ? 0 : 1;
    for (int pe = 0; pe < pes; pe++) shmem_int_p(code, outcome, pe);
    if (pes < 2)
      printf("selftest: FAILED it needs two PEs, but was started with %d\n", pes);
    else if (wrong)
      printf("selftest: FAILED %ld wrong values\n", wrong);
    else if (!loaded)
      printf("selftest: nearcache is not loaded\n");
    else if (!fewest)
      printf("selftest: FAILED no get was served from the cache\n");
    else
      printf("selftest: ok hits=%ld\n", fewest);
    fflush(stdout);
  }
  shmem_barrier_all();
  return *code;
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  long* memory = shmem_malloc(count * sizeof *memory);
  long* found = shmem_malloc(2 * sizeof *found);
  int* code = shmem_malloc(sizeof *code);
  for (int i = 0; i < count; i++) memory[i] = expected(me, i);
  shmem_barrier_all();

  found[0] = read_all(memory, (me + 1) % pes);
  found[1] = (long)hits();
  shmem_barrier_all();
  found[0] += write_all(memory, me, (me + 1) % pes, (me + pes - 1) % pes);
  shmem_barrier_all();
  const int result = report(me, pes, found, code);
  shmem_free(code);
  shmem_free(found);
  shmem_free(memory);
  shmem_finalize();
  return result;
}
