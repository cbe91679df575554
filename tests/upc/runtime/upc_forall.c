/* upc_forall: affinity of all integer types, nesting, and leaving early. */
#include "check.h"

static int runs_of(long long from, long long to) {
  int runs = 0;
  NCUPC_FORALL(k);
  for (long long i = from; i < to; ++i) {
    if (NCUPC_MINE_INT(k, i)) {
      ++runs;
      CHECK(!k || ((i % THREADS) + THREADS) % THREADS == MYTHREAD, "%lld", i);
    }
  }
  return runs;
}

static void check_types(void) {
  const unsigned char byte = 200;
  const unsigned long long large = ~0ULL - 4;
  int mine = 0;
  {
    NCUPC_FORALL(k);
    CHECK((NCUPC_MINE_INT(k, byte) != 0) == (200 % THREADS == MYTHREAD));
    CHECK((NCUPC_MINE_INT(k, (signed char)-1) != 0) == (THREADS - 1 == MYTHREAD));
    CHECK((NCUPC_MINE_INT(k, large) != 0) == (large % (unsigned)THREADS == (unsigned)MYTHREAD));
    CHECK((NCUPC_MINE_INT(k, 1 == 1) != 0) == (1 % THREADS == MYTHREAD));
    for (unsigned i = 0; i < (unsigned)THREADS; ++i) mine += NCUPC_MINE_INT(k, i) != 0;
    for (short i = 0; i < THREADS; ++i)
      mine += NCUPC_MINE_PTR(k, ncupc_make(16, (size_t)i, 0)) != 0;
  }
  CHECK(mine == 2);
}

static int leaves_early(void) {
  NCUPC_FORALL(k);
  for (int i = 0; i < 10; ++i) {
    if (NCUPC_MINE_INT(k, i)) return i;
  }
  return -1;
}

int ncupc_main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  check_types();
  CHECK(leaves_early() == MYTHREAD);
  CHECK(ncupc_forall_depth == 0);
  for (int i = 0; i < 3; ++i) {
    NCUPC_FORALL(k);
    if (i == 1) break;
  }
  CHECK(ncupc_forall_depth == 0);
  const int alone = runs_of(-5 * THREADS, 5 * THREADS);
  CHECK(alone == 10, "%d", alone);
  {
    NCUPC_FORALL(k);
    for (int i = 0; i < 2 * THREADS; ++i) {
      if (NCUPC_MINE_INT(k, i)) CHECK(runs_of(0, 3 * THREADS) == 3 * THREADS);
    }
  }
  return verdict();
}
