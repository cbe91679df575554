// gups: random updates of a distributed table (after HPCC RandomAccess).
//
// By default an update is an atomic add, and addition commutes, so the table at the end is exact. With --xor it is a get, an
// exclusive or and a put, as in HPCC; there each PE updates only words whose number it is congruent to, so that no other PE undoes its
// updates, while neighbouring words belong to different PEs: two PEs write next to each other all the time. OpenSHMEM may still let
// a get overtake the PE's own put before it; HPCC accepts a wrong word for every hundred updates, and so does this.
#include <shmem.h>

#include "common/distributed.h"
#include "common/program.h"

typedef struct {
  long at, value;
} update;

// The k-th update of `pe`: every PE can compute it, to update as well as to check.
static update update_of(long k, int pe, long words, bool own_words) {
  unsigned long random = mixed((unsigned long)k * 4096 + (unsigned long)pe);
  long at = (long)(random % (unsigned long)words), pes = shmem_n_pes();
  if (own_words) {
    at = at - at % pes + pe;
    if (at >= words) at -= pes;
  }
  return (update){at, (long)(mixed(random) >> 8)};
}

static void add_all(longs table, long updates) {
  for (long k = 0; k < updates; k++) {
    update u = update_of(k, shmem_my_pe(), table.size, false);
    shmem_long_atomic_add(&table.part[u.at % table.block], u.value, (int)(u.at / table.block));
  }
}

static void xor_all(longs table, long updates) {
  for (long k = 0; k < updates; k++) {
    update u = update_of(k, shmem_my_pe(), table.size, true);
    set_long(table, u.at, long_at(table, u.at) ^ u.value);
  }
}

// Undoes all updates of all PEs in this PE's part: then word i is i again. Returns how many are not.
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
  long words = 1 << 20, updates = 200000, by_xor = 0, quick = 0;
  options_read(argc, argv, (struct option[]){
    {"words", &words, false, "of the table"},
    {"updates", &updates, false, "of all PEs together"},
    {"xor", &by_xor, true, "get, exclusive or, put"},
    {"quick", &quick, true, "4,000 updates of 4,096 words"},
    {0},
  });
  if (quick) words = 4096, updates = 4000;
  shmem_init();
  long here = updates / shmem_n_pes();
  longs table = longs_new(words);
  for (long i = first_here(words); i < end_here(words); i++) table.part[i - first_here(words)] = i;
  shmem_barrier_all();

  double begin = seconds_now();
  if (by_xor)
    xor_all(table, here);
  else
    add_all(table, here);
  shmem_barrier_all();
  double seconds = seconds_now() - begin;

  long wrong = (long)sum_of_all((double)wrong_words(table, here, by_xor));
  bool correct = by_xor ? 100 * wrong <= updates : wrong == 0;
  json_begin("gups");
  json_text("update", by_xor ? "xor" : "add");
  json_long("words", words);
  json_long("updates", here * shmem_n_pes());
  json_long("wrong_words", wrong);
  json_double("seconds", seconds);
  json_double("gups", 1e-9 * (double)(here * shmem_n_pes()) / seconds);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
