/* What the cache keeps: a relaxed atomic, or a non-blocking copy, leaves alone what was read and
 * what is dirty; strict ones do not. Where nothing is cached, only the values are checked. And what
 * of relaxed accesses to the same object stays in order. */
#include <nearcache/shmem.h>

#include "check.h"

enum { words = 2048 };
static ncupc_ptr values, counter, written;

static void place(void) {
  ncupc_place(&values, "values", sizeof(long), (size_t)THREADS * words, words, NCUPC_HERE);
  ncupc_place(&counter, "counter", sizeof(long), (size_t)THREADS * 64, 64, NCUPC_HERE);
  ncupc_place(&written, "written", sizeof(long), (size_t)THREADS * 64, 64, NCUPC_HERE);
}
NCUPC_MODULE("upc_kept.c", place, NULL);

static ncupc_ptr next_of(ncupc_ptr array) {
  return ncupc_make(ncupc_address(array), (size_t)(MYTHREAD + 1) % (size_t)THREADS, 0);
}

static nearcache_stats counted(void) {
  nearcache_stats stats = {.size = sizeof stats};
  if (nearcache_shmem_stats(&stats) != NEARCACHE_SHMEM_OK)
    stats = (nearcache_stats){.size = sizeof stats};
  return stats;
}

static long sum(void) {
  long total = 0;
  for (int i = 0; i < words; ++i)
    total += NCUPC_GET(long, ncupc_add_bytes(next_of(values), i * (ptrdiff_t)sizeof(long)));
  return total;
}

static uint64_t fetched_by_sum(void) {
  const nearcache_stats before = counted();
  CHECK(sum() == words);
  return counted().network_gets - before.network_gets;
}

int ncupc_main(int argc, char** argv) {
  (void)argc, (void)argv;
  const ncupc_ptr domain =
      upc_all_atomicdomain_alloc(UPC_LONG, UPC_ADD | UPC_GET | UPC_SET | UPC_XOR, 0);
  const long one = 1, five = 5;
  long old = 0, copied[8];
  for (int i = 0; i < words; ++i)
    NCUPC_PUT(long,
              ncupc_make(ncupc_address(values) + (uint64_t)i * sizeof(long), (size_t)MYTHREAD, 0),
              1);
  NCUPC_BARRIER();
  const int caching = nearcache_shmem_caching() && !ncupc_reach(next_of(values));
  const uint64_t first = fetched_by_sum();
  CHECK(!caching || first > 0);

  for (int i = 0; i < 5; ++i)
    upc_atomic_relaxed(domain, &old, UPC_ADD, next_of(counter), &one, NULL);
  CHECK(old == 4, "%ld", old);
  /* a loop of compare-and-swap */
  upc_atomic_relaxed(domain, NULL, UPC_XOR, next_of(counter), &one, NULL);
  CHECK(fetched_by_sum() == 0, "relaxed atomics drop what was read");

  upc_sync(upc_memget_nb(copied, next_of(written), sizeof copied));
  CHECK(fetched_by_sum() == 0, "a copy that does not block drops what was read");

  NCUPC_PUT(long, next_of(written), 1); /* mostly a flag, and sent at once */
  NCUPC_PUT(long, ncupc_add_bytes(next_of(written), 64), 2);
  const nearcache_stats before = counted();
  upc_atomic_relaxed(domain, &old, UPC_GET, next_of(counter), NULL, NULL);
  CHECK(old == 4, "%ld", old);
  CHECK(counted().network_puts == before.network_puts, "a relaxed atomic writes back");

  /* The object of an atomic that was read or written before: relaxed accesses to the same object
   * stay in order. */
  const ncupc_ptr other = ncupc_add_bytes(next_of(counter), 128);
  CHECK(NCUPC_GET(long, other) == 0);
  NCUPC_PUT(long, other, 7);
  upc_atomic_relaxed(domain, &old, UPC_ADD, other, &one, NULL);
  CHECK(old == 7 && NCUPC_GET(long, other) == 8, "%ld", old);
  const ncupc_ptr own = ncupc_make(ncupc_address(counter) + 256, (size_t)MYTHREAD, 0);
  upc_atomic_relaxed(domain, NULL, UPC_SET, own, &five, NULL);
  CHECK(NCUPC_GET(long, own) == 5, "a load overtakes an atomic set");
  upc_atomic_relaxed(domain, NULL, UPC_SET, own, &one, NULL);
  NCUPC_PUT(long, own, 9);

  upc_atomic_strict(domain, &old, UPC_GET, next_of(counter), NULL, NULL);
  const uint64_t again = fetched_by_sum();
  CHECK(again >= first, "a strict atomic keeps what was read");
  NCUPC_BARRIER();
  CHECK(NCUPC_GET(long, ncupc_make(ncupc_address(written) + 64, (size_t)MYTHREAD, 0)) == 2);
  CHECK(NCUPC_GET(long, own) == 9, "a store overtakes an atomic set");
  return verdict();
}
