/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM: reads a table in scattered order and prefetches some accesses ahead, so that the reads
 * find their data in the cache. Without Nearcache the hints do nothing.
 *   oshcc -O2 -I../include prefetch.c -o prefetch
 *   nearcache run --report - -- oshrun -n 2 ./prefetch */
#include <nearcache/shmem.h>
#include <shmem.h>
#include <stdio.h>

enum { ENTRIES = 1 << 16, READS = 20000 };
static long table[ENTRIES];

static long at(long i) { return (i * 7919) % ENTRIES; }

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), owner = (me + 1) % shmem_n_pes();
  for (long i = 0; i < ENTRIES; i++) table[i] = me * ENTRIES + i;
  shmem_barrier_all(); /* all tables are filled */

  long sum = 0, ahead = 0;
  for (long i = 0; i < READS; i++) {
    if (i % 16 == 0) ahead = (long)nearcache_shmem_prefetch_distance(); /* may change */
    nearcache_shmem_prefetch(&table[at(i + ahead)], sizeof(long), owner);
    sum += shmem_long_g(&table[at(i)], owner);
  }
  printf("mean of PE %d: %.1f\n", owner, (double)sum / READS);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
