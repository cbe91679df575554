/* Over shared memory: the heap is near at every PE, static data is not. As long as nothing has been
 * cached, calls do little more than count; from the first access to static data on, they must do
 * all that the cache needs. For two PEs. */
#include "check.h"

static long kept; /* symmetric; cached */
static long *words, *flags;

enum { count = 200 };

/* Every kind of access to the heap and every kind of order, each with its value and its count. */
static void accesses_to_the_heap_are_counted(void) {
  const int other = 1 - me;
  const nearcache_stats before = stats_now();
  long seen[2 * count];
  for (long i = 0; i < count; ++i) {
    shmem_long_p(&words[i], 10 * i + me, other);
    shmem_putmem(&words[count + i], &i, sizeof i, other);
    shmem_fence();
  }
  shmem_quiet();
  for (long i = 0; i < count; ++i) CHECK_EQUAL(shmem_long_g(&words[i], other), 10 * i + me);
  shmem_getmem(seen, words, sizeof seen, other);
  CHECK_EQUAL(seen[count - 1], 10 * (count - 1) + me);
  CHECK_EQUAL(seen[2 * count - 1], count - 1);
  for (long i = 0; i < count; ++i) {
    CHECK_EQUAL(shmem_long_atomic_fetch_add(&words[i], 5, other), 10 * i + me);
    shmem_long_atomic_inc(&words[i], other);
  }
  shmem_long_put_nbi(words, seen, count, other);
  shmem_quiet();
  shmem_long_get_nbi(seen, words, count, other);
  shmem_quiet();
  CHECK_EQUAL(seen[7], 70 + me);
  shmem_long_iput(words, seen, 2, 1, 10, other);
  shmem_quiet();
  shmem_long_iget(seen, words, 1, 2, 10, other);
  CHECK_EQUAL(seen[3], 30 + me);
  const nearcache_stats after = stats_now();
  if (after.size == 0 || after.version == 0) return; /* Nearcache is not loaded */
  CHECK_EQUAL(after.puts - before.puts, 2 * count + 1);
  CHECK_EQUAL(after.bytes_put - before.bytes_put, 3 * count * (long)sizeof(long));
  CHECK_EQUAL(after.gets - before.gets, count + 3);
  CHECK_EQUAL(after.bypassed - before.bypassed, count + 3);
  CHECK_EQUAL(after.accumulates - before.accumulates, 2 * count + 1);
  CHECK_EQUAL(after.syncs_passed - before.syncs_passed, count + 4);
  CHECK_EQUAL(after.hits_full, 0);
}

/* What is stored must not overtake what the library has been given to write before a fence
 * (late_updates.c), nor be overtaken by it. */
static void stores_keep_the_order_of_fences(void) {
  static const long old[3] = {-1, -2, -3};
  const int other = 1 - me;
  for (long turn = 1; turn <= 30; ++turn) {
    const long value = 1000 * turn + me;
    long* const at = &words[turn];
    if (turn % 3 == 0) shmem_quiet();
    turn % 2 == 0 ? shmem_long_iput(at, old, 50, 1, 3, other)
                  : shmem_long_atomic_set(at, -7, other);
    shmem_fence();
    switch (turn % 5) {
      case 0:
        shmem_long_p(at, value, other);
        break;
      case 1:
        shmem_long_put(at, &value, 1, other);
        break;
      case 2:
        shmem_long_put_nbi(at, &value, 1, other);
        break;
      case 3:
        shmem_putmem(at, &value, sizeof value, other);
        break;
      default:
        shmem_long_iput(at, &value, 1, 1, 1, other);
    }
    shmem_quiet();
    CHECK_EQUAL(shmem_long_g(at, other), value);
    shmem_barrier_all();
    CHECK_EQUAL(*at, 1000 * turn + other);
    shmem_barrier_all();
  }
}

/* The heap grows and shrinks; what lies beyond it, or belongs to no PE, is the library's affair. */
static void blocks_come_and_go(void) {
  const int other = 1 - me;
  for (long turn = 1; turn <= 8; ++turn) {
    const size_t size = (size_t)1000 << turn;
    char* const block = shmem_malloc(size);
    char got[100];
    memset(block, (int)turn + 10 * me, size);
    shmem_barrier_all();
    for (int pe = 0; pe < 2; ++pe) {
      memset(got, 0, sizeof got);
      shmem_getmem(got, block + size - sizeof got, sizeof got, pe);
      CHECK_EQUAL(got[0], turn + 10 * pe);
      CHECK_EQUAL(got[99], turn + 10 * pe);
      CHECK_EQUAL(shmem_char_g(block + size - 1, pe), turn + 10 * pe);
    }
    shmem_barrier_all();
    shmem_char_p(block + size - 1, (char)(90 + me), other);
    shmem_barrier_all();
    CHECK_EQUAL(block[size - 1], 90 + other);
    CHECK_EQUAL(block[size - 2], turn + 10 * me);
    shmem_free(block);
  }
}

/* Ways of PE 0 to wait until its flag has a value, each of which is an acquire. */
static void by_fetch(long value) {
  while (shmem_long_atomic_fetch(&flags[0], 0) != value) {
  }
}
static void by_wait(long value) { shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, value); }
static void by_test(long value) {
  while (!shmem_long_test(&flags[0], SHMEM_CMP_EQ, value)) {
  }
}
static void by_swap(long value) {
  while (shmem_long_atomic_compare_swap(&flags[0], value, value, 0) != value) {
  }
}
static void by_nothing(long value) {
  while (*(volatile long*)&flags[0] != value) {
  }
  shmem_barrier_all();
}

/* PE 0 reads a word of PE 1's static data twice, so that it is cached; PE 1 changes it and says so
 * through the heap; PE 0 reads it again. Meanwhile PE 1 waits in calls, for libraries that need its
 * progress. */
static void what_was_cached_is_dropped(void) {
  void (*const ways[])(long) = {by_fetch, by_wait, by_test, by_swap, by_nothing};
  enum { ways_count = sizeof ways / sizeof *ways };
  for (long turn = 0; turn < 4 * ways_count; ++turn) {
    const int way = (int)(turn % ways_count);
    if (me == 0) {
      CHECK_EQUAL(shmem_long_g(&kept, 1), turn);
      CHECK_EQUAL(shmem_long_g(&kept, 1), turn);
      shmem_long_p(&flags[1], 2 * turn + 1, 1);
      shmem_quiet();
      ways[way](turn + 1);
      CHECK_EQUAL(shmem_long_g(&kept, 1), turn + 1);
      shmem_long_p(&flags[1], 2 * turn + 2, 1);
      shmem_quiet();
    } else {
      shmem_long_wait_until(&flags[1], SHMEM_CMP_GE, 2 * turn + 1);
      kept = turn + 1;
      shmem_long_p(&flags[0], turn + 1, 0);
      shmem_quiet();
      if (ways[way] == by_nothing) shmem_barrier_all();
      shmem_long_wait_until(&flags[1], SHMEM_CMP_GE, 2 * turn + 2);
    }
  }
}

/* PE 0 puts to static data, which stays dirty, and spins on a word of the heap until PE 1, which
 * waits for the data, answers. */
static void what_is_dirty_is_written_back(void) {
  const long first = shmem_long_g(&flags[2], 0);
  for (long turn = first + 1; turn <= first + 20; ++turn) {
    if (me == 0) {
      shmem_long_p(&kept, 1000 + turn, 1);
      while (shmem_long_g(&flags[2], 0) != turn) {
      }
    } else {
      shmem_long_wait_until(&kept, SHMEM_CMP_EQ, 1000 + turn);
      shmem_long_p(&flags[2], turn, 0);
      shmem_quiet();
    }
  }
}

int main(void) {
  static const struct test_case cases[] = {
      {"accesses_to_the_heap_are_counted", accesses_to_the_heap_are_counted},
      {"stores_keep_the_order_of_fences", stores_keep_the_order_of_fences},
      {"blocks_come_and_go", blocks_come_and_go},
      {"what_was_cached_is_dropped", what_was_cached_is_dropped},
      {"what_is_dirty_is_written_back", what_is_dirty_is_written_back},
  };
  check_start();
  words = shmem_calloc(2 * count, sizeof *words);
  flags = shmem_calloc(3, sizeof *flags);
  run_cases(cases, sizeof cases / sizeof *cases, NULL);
  return check_end();
}
