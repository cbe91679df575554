/* The shared heap under random use: local and global blocks of all sizes, filled with a pattern and
 * checked, freed by any thread. Overlapping blocks would overwrite each other's pattern. */
#include <string.h>

#include "check.h"

enum { slots = 40, steps = 3000, mailboxes = 16 };

struct block {
  ncupc_ptr p;
  uint64_t seed;
  size_t bytes;   /* on each thread that has a part */
  int everywhere; /* a global block */
};

static ncupc_ptr mail, locks;

static void place(void) {
  ncupc_place(&mail, "mail", sizeof(struct block), mailboxes, 1, NCUPC_HERE);
  ncupc_place(&locks, "locks", sizeof(ncupc_ptr), mailboxes, 1, NCUPC_HERE);
}
NCUPC_MODULE("upc_heap.c", place, NULL);

static ncupc_ptr on_thread(const struct block* b, int thread) {
  return b->everywhere ? ncupc_make(ncupc_address(b->p), (size_t)thread, 0) : b->p;
}

/* Writes or checks the first and last word of the part on each of two threads. */
static void mark(const struct block* b, int check) {
  const int threads[2] = {0, THREADS - 1};
  for (int k = 0; k < 2; ++k) {
    const ncupc_ptr part = on_thread(b, threads[k]);
    const uint64_t pattern = b->seed * 3 + (uint64_t)(b->everywhere ? threads[k] : 0);
    if (b->bytes < 16) continue;
    if (check) {
      CHECK(NCUPC_GET(uint64_t, part) == pattern &&
                NCUPC_GET(uint64_t, ncupc_field(part, b->bytes / 8 * 8 - 8)) == ~pattern,
            "%zu bytes at thread %zu address %llu", b->bytes, ncupc_thread(part),
            (unsigned long long)ncupc_address(part));
    } else {
      NCUPC_PUT(uint64_t, part, pattern);
      NCUPC_PUT(uint64_t, ncupc_field(part, b->bytes / 8 * 8 - 8), ~pattern);
    }
  }
}

static struct block allocate(uint64_t* random) {
  struct block b = {NCUPC_NULL, next_random(random), 0, below(random, 4) == 0};
  static const size_t ranges[] = {16, 64, 200, 1000, 5000, 40000};
  b.bytes = 1 + below(random, ranges[below(random, 6)]);
  b.p = b.everywhere ? upc_global_alloc((size_t)THREADS, b.bytes) : upc_alloc(b.bytes);
  CHECK(upc_phaseof(b.p) == 0 && ncupc_address(b.p) % 16 == 0);
  CHECK(upc_threadof(b.p) == (b.everywhere ? 0 : (size_t)MYTHREAD));
  mark(&b, 0);
  return b;
}

static void release(struct block* b) {
  if (ncupc_is_null(b->p)) return;
  mark(b, 1);
  upc_free(b->p);
  b->p = NCUPC_NULL;
}

/* Leaves a block in a mailbox, and takes the one that was there. */
static void swap_with_mailbox(uint64_t* random, struct block* b) {
  const ptrdiff_t box = (ptrdiff_t)below(random, mailboxes);
  const ncupc_ptr lock = NCUPC_GET(ncupc_ptr, ncupc_add(locks, box, sizeof(ncupc_ptr), 1));
  const ncupc_ptr at = ncupc_add(mail, box, sizeof(struct block), 1);
  upc_lock(lock);
  const struct block there = NCUPC_GET(struct block, at);
  NCUPC_PUT(struct block, at, *b);
  upc_unlock(lock);
  *b = there;
}

static void check_collective(void) {
  ncupc_ptr kept[20];
  for (int round = 0; round < 20; ++round) {
    kept[round] = upc_all_alloc((size_t)(THREADS * 3), 100);
    CHECK(upc_threadof(kept[round]) == 0);
    upc_memset(ncupc_add(kept[round], MYTHREAD + THREADS, 100, 1), round, 100);
    if (round % 3 == 2) upc_all_free(kept[round - 1]);
  }
  NCUPC_BARRIER();
  for (int round = 0; round < 20; ++round) {
    if (round % 3 == 1 && round < 19) continue;
    const int other = (MYTHREAD + 1) % THREADS;
    CHECK(
        NCUPC_GET(char, ncupc_field(ncupc_add(kept[round], other + THREADS, 100, 1), 99)) == round,
        "round %d", round);
  }
  NCUPC_BARRIER();
  for (int round = 0; round < 20; ++round) {
    if (round % 3 != 1 || round == 19) upc_all_free(kept[round]);
  }
  upc_all_free(NCUPC_NULL);
}

/* The whole heap can be allocated again after fragmentation: neighbours are coalesced. */
static void check_joining(void) {
  enum { pieces = 100, piece = 100000 };
  ncupc_ptr held[pieces];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < pieces; ++i) held[i] = upc_alloc(piece);
    for (int i = 0; i < pieces; i += 2) upc_free(held[i]);
    for (int i = 1; i < pieces; i += 2) upc_free(held[i]);
    const ncupc_ptr large = upc_alloc((size_t)pieces * piece);
    CHECK(!ncupc_is_null(large));
    upc_free(large);
  }
}

/* Most of the heap is used for local, then global, then local memory. */
static void check_both_ends(void) {
  const size_t most = (size_t)26 << 20;
  for (int round = 0; round < 3; ++round) {
    const ncupc_ptr here = upc_alloc(most);
    upc_free(here);
    NCUPC_BARRIER();
    const ncupc_ptr everywhere = upc_all_alloc((size_t)THREADS, most);
    upc_all_free(everywhere);
    NCUPC_BARRIER();
    if (MYTHREAD == 0) upc_free(upc_alloc(most));
    NCUPC_BARRIER();
  }
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : steps;
  CHECK(ncupc_is_null(upc_alloc(0)) && ncupc_is_null(upc_global_alloc(0, 5)) &&
        ncupc_is_null(upc_all_alloc(5, 0)));
  upc_free(NCUPC_NULL);
  for (int box = 0; box < mailboxes; ++box) {
    const ncupc_ptr lock = upc_all_lock_alloc();
    if (MYTHREAD == 0) NCUPC_PUT(ncupc_ptr, ncupc_add(locks, box, sizeof(ncupc_ptr), 1), lock);
  }
  NCUPC_BARRIER();
  uint64_t random = 77 + (uint64_t)MYTHREAD;
  struct block mine[slots];
  memset(mine, 0, sizeof mine);
  for (int step = 0; step < rounds; ++step) {
    struct block* b = &mine[below(&random, slots)];
    if (ncupc_is_null(b->p)) {
      *b = allocate(&random);
    } else if (below(&random, 4) == 0) {
      swap_with_mailbox(&random, b);
    } else {
      release(b);
    }
  }
  for (int i = 0; i < slots; ++i) release(&mine[i]);
  NCUPC_BARRIER();
  for (int box = MYTHREAD; box < mailboxes; box += THREADS) {
    struct block left = NCUPC_GET(struct block, ncupc_add(mail, box, sizeof(struct block), 1));
    release(&left);
  }
  NCUPC_BARRIER();
  check_collective();
  check_joining();
  NCUPC_BARRIER();
  check_both_ends();
  NCUPC_BARRIER();
  return verdict();
}
