/* SPDX-License-Identifier: BSD-3-Clause */
// gups: random updates of a distributed table (after HPCC RandomAccess).
//
// By default an update is an atomic add. Addition commutes, so the final table is exact. With --xor
// an update is a get, an exclusive or and a put, as in HPCC. In that mode, each PE updates only the
// words whose index is congruent to its number, so no other PE overwrites its updates. Adjacent
// words belong to different PEs, so two PEs write next to each other all the time. OpenSHMEM may
// still let a get overtake the PE's own earlier put; like HPCC, this program accepts one wrong word
// per hundred updates.
//
// With --beside, the same updates are also made in a second table that is not cached
// (common/beside.h).
#include <shmem.h>

#include "common/beside.h"
#include "common/distributed.h"
#include "common/program.h"

typedef struct {
  long at, value;
} update;

// Returns the k-th update of `pe`. Every PE can compute it, both to perform the update and to check
// it.
static update update_of(long k, int pe, long words, bool own_words) {
  unsigned long random = mixed((unsigned long)k * 4096 + (unsigned long)pe);
  long at = (long)(random % (unsigned long)words), pes = shmem_n_pes();
  if (own_words) {
    at = at - at % pes + pe;
    if (at >= words) at -= pes;
  }
  return (update){at, (long)(mixed(random) >> 8)};
}

static void add(void* data, long first, long end) {
  longs table = *(longs*)data;
  for (long k = first; k < end; k++) {
    update u = update_of(k, shmem_my_pe(), table.size, false);
    shmem_long_atomic_add(&table.part[u.at % table.block], u.value, (int)(u.at / table.block));
  }
}

static void get_xor_put(void* data, long first, long end) {
  longs table = *(longs*)data;
  for (long k = first; k < end; k++) {
    update u = update_of(k, shmem_my_pe(), table.size, true);
    set_long(table, u.at, long_at(table, u.at) ^ u.value);
  }
}

static longs counted_table(long words) {
  longs table = longs_new(words);
  for (long i = first_here(words); i < end_here(words); i++) table.part[i - first_here(words)] = i;
  return table;
}

// Undoes all PEs' updates in this PE's part of the table, after which word i must be i again.
// Returns the number of words that are not.
static long wrong_words(longs table, long updates, bool by_xor) {
  long first = first_here(table.size), end = end_here(table.size);
  for (int pe = 0; pe < shmem_n_pes(); pe++)
    for (long k = 0; k < updates; k++) {
      update u = update_of(k, pe, table.size, by_xor);
      if (u.at < first || u.at >= end) continue;
      if (by_xor)
        table.part[u.at - first] ^= u.value;
      else
        table.part[u.at - first] -= u.value;
    }
  long wrong = 0;
  for (long i = first; i < end; i++) wrong += table.part[i - first] != i;
  return wrong;
}

int main(int argc, char** argv) {
  long words = 1 << 20, updates = 200000, by_xor = 0, quick = 0, both = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"words", &words, false, "of the table"},
                   {"updates", &updates, false, "of all PEs together"},
                   {"xor", &by_xor, true, "get, exclusive or, put"},
                   {"beside", &both, true, "in turn with a table that is not cached"},
                   {"quick", &quick, true, "4,000 updates of 4,096 words"},
                   {0},
               });
  if (quick) words = 4096, updates = 4000;
  shmem_init();
  long here = updates / shmem_n_pes();
  longs table = counted_table(words), beside = table;
  if (both) {
    beside = counted_table(words);
    nearcache_shmem_uncached(beside.part, ((size_t)beside.block + 1) * sizeof(long));
  }
  shmem_barrier_all();

  operate_function update = by_xor ? get_xor_put : add;
  both_seconds seconds = {0};
  double begin = seconds_now();
  if (both)
    seconds = side_by_side(update, &table, &beside, here);
  else
    update(&table, 0, here);
  shmem_barrier_all();
  if (!both) seconds.cached = seconds_now() - begin;

  long wrong = wrong_words(table, here, by_xor) + (both ? wrong_words(beside, here, by_xor) : 0);
  wrong = (long)sum_of_all((double)wrong);
  bool correct = by_xor ? 100 * wrong <= updates : wrong == 0;
  json_begin("gups");
  json_text("update", by_xor ? "xor" : "add");
  json_long("words", words);
  json_long("updates", here * shmem_n_pes());
  json_long("wrong_words", wrong);
  json_double("seconds", seconds.cached);
  if (both) json_double("uncached_seconds", seconds.uncached);
  json_double("gups", 1e-9 * (double)(here * shmem_n_pes()) / seconds.cached);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
