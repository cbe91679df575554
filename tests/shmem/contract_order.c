// What a PE reads after it, or another PE, has written.
#include "contract.h"

// The ways in which a writer notifies a reader. 0: the writer's side, after its writes; 1: the
// reader's side, before its reads.
static long turn;

static void tell(int reader) { shmem_long_p(&flags[me], turn, reader); }
static void await(int writer) { shmem_long_wait_until(&flags[writer], SHMEM_CMP_GE, turn); }

static void by_flag(int side, int other) {
  if (side == 0)
    shmem_quiet(), tell(other);
  else
    await(other);
}
static void by_test(int side, int other) {
  if (side == 0)
    shmem_quiet(), tell(other);
  else
    while (!shmem_long_test(&flags[other], SHMEM_CMP_GE, turn)) progress();
}
static void by_atomic(int side, int other) {
  if (side == 0)
    shmem_quiet(), shmem_long_atomic_set(&flags[me], turn, me);
  else
    while (shmem_long_atomic_fetch(&flags[other], other) < turn) progress();
}
static void by_swap(int side, int other) {
  if (side == 0)
    shmem_quiet(), shmem_long_atomic_swap(&flags[me], turn, other);
  else
    await(other);
}

// The writer writes the owner's `data`, then the reader reads it; old bytes are failures.
static void pass(int writer, int owner, int reader, void (*way)(int, int), unsigned char* memory) {
  enum { bytes = 300 };
  unsigned char values[bytes];
  const int seed = (int)++turn;
  shmem_barrier_all();
  // what is read now must not be served later; nothing here is an acquire by the reader
  if (me == reader) {
    shmem_getmem(values, memory + 5, bytes, owner);
    shmem_long_p(&flags[most_pes - 1], turn, writer);
    shmem_quiet();
  }
  if (me == writer) {
    shmem_long_wait_until(&flags[most_pes - 1], SHMEM_CMP_GE, turn);
    fill(values, bytes, seed);
    shmem_putmem(memory + 5, values, 100, owner);
    for (int i = 100; i < bytes; ++i) shmem_char_p((char*)memory + 5 + i, (char)values[i], owner);
    way(0, reader);
  } else if (me == reader) {
    way(1, writer);
    shmem_getmem(values, memory + 5, bytes, owner);
    CHECK_BYTES(values, bytes, seed);
  }
  shmem_barrier_all();
}

static void ping_pong_in_all_placements(void) {
  static void (*const ways[])(int, int) = {by_flag, by_test, by_atomic, by_swap};
  clean();
  turn = 0;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w)
    for (int writer = 0; writer < pes; ++writer)
      for (int reader = 0; reader < pes; ++reader)
        for (int owner = 0; owner < pes; ++owner)
          if (writer != reader) pass(writer, owner, reader, ways[w], owner % 2 ? heap : data);
}

// Put, fence, flag, without a quiet: the owner may overwrite what it has seen in order, and the
// writer must see the new value.
static void the_owner_answers_in_place(void) {
  clean();
  long* words = (long*)heap;
  for (long round = 1; round <= 50; ++round) {
    const int writer = (int)(round % pes), owner = (writer + 1) % pes;
    if (me == writer) {
      shmem_long_p(&words[3], round, owner);
      CHECK_EQUAL(shmem_long_g(&words[3], owner), round);
      shmem_fence();
      shmem_long_p(&flags[0], round, owner);
      shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, round);
      CHECK_EQUAL(shmem_long_g(&words[3], owner), -round);
      CHECK_EQUAL(shmem_long_g(&words[2], owner), 7 * round);
    } else if (me == owner) {
      shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
      CHECK_EQUAL(words[3], round);
      words[3] = -round;
      words[2] = 7 * round;
      shmem_long_p(&flags[1], round, writer);
    }
    shmem_barrier_all();
  }
}

// The flag's page is written first, so that write-back in the order of writing would put the flag
// before the data.
static void a_fence_orders_data_before_a_flag(void) {
  clean();
  for (long round = 1; round <= 40; ++round) {
    const int writer = (int)(round % pes), reader = (writer + 1) % pes;
    if (me == writer) {
      shmem_long_p(&flags[2], round, reader);
      // a thousand puts, to give the reader time to see it
      for (int i = 0; i < room; i += 16) shmem_long_p((long*)(heap + i), round, reader);
      shmem_fence();
      shmem_long_p(&flags[0], round, reader);
      shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, round);
    } else if (me == reader) {
      shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
      for (int i = room - 16; i >= 0; i -= 16) CHECK_EQUAL(load((long*)(heap + i)), round);
      shmem_long_p(&flags[1], round, writer);
    }
    shmem_barrier_all();
  }
}

// All PEs write to the same lines of each other, in adjacent bytes.
static void neighbouring_bytes_of_many_writers(void) {
  clean();
  unsigned char seen[1000];
  for (int round = 1; round <= 20; ++round) {
    for (int owner = 0; owner < pes; ++owner) {
      shmem_getmem(seen, heap, sizeof seen, owner);
      for (int i = me; i < (int)sizeof seen; i += pes) {
        shmem_uchar_p(heap + i, (unsigned char)(round + i), owner);
        if (i % 5 == 0) CHECK_EQUAL(shmem_uchar_g(heap + i, owner), (unsigned char)(round + i));
      }
    }
    shmem_barrier_all();
    for (int i = 0; i < (int)sizeof seen; ++i) CHECK_EQUAL(heap[i], (unsigned char)(round + i));
    shmem_getmem(seen, heap, sizeof seen, (me + 1) % pes);
    for (int i = 0; i < (int)sizeof seen; ++i) CHECK_EQUAL(seen[i], (unsigned char)(round + i));
    shmem_barrier_all();
  }
}

static void a_put_after_a_get_of_its_line(void) {
  clean();
  const int other = (me + 1) % pes;
  long* words = (long*)data;
  for (long round = 1; round <= 30; ++round) {
    const long before = shmem_long_g(&words[me * 64], other);
    CHECK_EQUAL(before, round == 1 ? 0 : 3 * (round - 1));
    shmem_long_p(&words[me * 64], 3 * round, other);
    CHECK_EQUAL(shmem_long_g(&words[me * 64], other), 3 * round);
    CHECK_EQUAL(shmem_long_g(&words[me * 64 + 1], other), 0);
    if (round % 3 == 0) shmem_quiet();
    if (round % 7 == 0) shmem_barrier_all();
  }
  shmem_barrier_all();
  CHECK_EQUAL(words[(me + pes - 1) % pes * 64], 90);
}

static void strided_over_cached(void) {
  clean();
  const int other = (me + 1) % pes;
  int *ints = (int*)heap + 200 * me, values[100];
  for (int round = 1; round <= 10; ++round) {
    shmem_int_get(values, ints, 100, other);
    for (int i = 0; i < 100; ++i) values[i] = round * 1000 + i;
    shmem_int_put(ints, values, 100, other);
    for (int i = 0; i < 20; ++i) values[i] = -round * 1000 - i;
    shmem_int_iput(ints + 1, values, 4, 2, 10, other);  // ints[1], [5], ... get values[0], [2], ...
    shmem_int_p(ints + 9, 77, other);
    memset(values, 0, sizeof values);
    shmem_int_iget(values, ints + 1, 1, 4, 10, other);
    for (int i = 0; i < 10; ++i) CHECK_EQUAL(values[i], i == 2 ? 77 : -round * 1000 - 2 * i);
    for (int i = 0; i < 100; ++i) {
      const int expected = i % 4 != 1 || i > 37 ? round * 1000 + i
                           : i == 9             ? 77
                                                : -round * 1000 - (i - 1) / 2;
      CHECK_EQUAL(shmem_int_g(ints + i, other), expected);
    }
  }
}

/* A stride may be negative: the access then lies before the address. */
static void strided_backwards_over_cached(void) {
  clean();
  const int other = (me + 1) % pes;
  int *ints = (int*)heap + 200 * me, values[100];
  for (int round = 1; round <= 10; ++round) {
    for (int i = 0; i < 100; ++i) values[i] = round * 1000 + i;
    shmem_int_put(ints, values, 100, other);
    shmem_int_iget(values, ints + 99, 1, -3, 30, other);
    for (int i = 0; i < 30; ++i) CHECK_EQUAL(values[i], round * 1000 + 99 - 3 * i);
    shmem_int_get(values, ints, 100, other);
    for (int i = 0; i < 10; ++i) values[i] = -round * 1000 - i;
    shmem_int_iput(ints + 60, values + 9, -5, -1, 10, other);  // ints[60], [55], ..., [15]
    for (int i = 0; i < 100; ++i)
      CHECK_EQUAL(shmem_int_g(ints + i, other), i % 5 == 0 && i >= 15 && i <= 60
                                                    ? -round * 1000 - (i / 5 - 3)
                                                    : round * 1000 + i);
  }
}

static void atomics_against_cached_pages(void) {
  clean();
  const int other = (me + 1) % pes;
  long *words = (long*)heap + 64 * me, all[8];
  for (long round = 1; round <= 20; ++round) {
    shmem_long_get(all, words, 8, other);
    shmem_long_p(&words[0], round, other);
    CHECK_EQUAL(shmem_long_atomic_fetch_add(&words[0], 10, other), round);
    CHECK_EQUAL(shmem_long_g(&words[0], other), round + 10);
    shmem_long_atomic_inc(&words[0], other);
    CHECK_EQUAL(shmem_long_g(&words[0], other), round + 11);
    shmem_long_p(&words[1], round, other);
    shmem_long_atomic_add(&words[1], 5, other);
    shmem_long_p(&words[2], 3 * round, other);
    CHECK_EQUAL(shmem_long_atomic_fetch(&words[1], other), round + 5);
    CHECK_EQUAL(shmem_long_atomic_compare_swap(&words[2], 3 * round, -1, other), 3 * round);
    CHECK_EQUAL(shmem_long_atomic_compare_swap(&words[2], 3 * round, -2, other), -1);
    CHECK_EQUAL(shmem_long_g(&words[2], other), -1);
    shmem_long_atomic_set(&words[3], round, other);
    CHECK_EQUAL(shmem_long_g(&words[3], other), round);
    CHECK_EQUAL(shmem_long_atomic_swap(&words[3], 9, other), round);
    shmem_long_get(all, words, 8, other);
    CHECK_EQUAL(all[0], round + 11);
    CHECK_EQUAL(all[1], round + 5);
    CHECK_EQUAL(all[2], -1);
    CHECK_EQUAL(all[3], 9);
  }
}

static void atomics_of_all_on_one_word(void) {
  clean();
  long* word = (long*)data;
  for (int i = 0; i < 50; ++i) {
    CHECK(shmem_long_g(word, 0) <= 3L * 50 * pes);
    shmem_long_atomic_inc(word, 0);
    shmem_long_atomic_fetch_add(word, 2, 0);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(word, 0), 3L * 50 * pes);
}

static void bulk_over_small_and_small_over_bulk(void) {
  clean();
  enum { bytes = 9000 };
  static unsigned char values[bytes], seen[bytes];
  const int other = (me + 1) % pes;
  for (int round = 1; round <= 8; ++round) {
    shmem_getmem(seen, heap + 100, 300, other);
    shmem_putmem(heap + 150, "small", 5, other);
    fill(values, bytes, round);
    shmem_putmem(heap, values, bytes, other);
    shmem_getmem(seen, heap + 100, 300, other);
    CHECK(memcmp(seen, values + 100, 300) == 0);
    shmem_putmem(heap + 4000, "small", 5, other);
    memcpy(values + 4000, "small", 5);
    shmem_getmem(seen, heap, bytes, other);
    CHECK(memcmp(seen, values, bytes) == 0);
    shmem_putmem_nbi(heap, values, bytes, other);
    shmem_quiet();
    shmem_getmem_nbi(seen, heap, bytes, other);
    shmem_getmem_nbi(seen + 10, heap + 10, 20, other);
    shmem_quiet();
    CHECK(memcmp(seen, values, bytes) == 0);
    shmem_barrier_all();
    fill(seen, bytes, round);
    memcpy(seen + 4000, "small", 5);
    CHECK(memcmp(seen, heap, bytes) == 0);
    shmem_barrier_all();
  }
}

static void what_is_prefetched_is_dropped_by_an_acquire(void) {
  clean();
  const int other = (me + 1) % pes;
  unsigned char seen[500];
  for (int round = 1; round <= 10; ++round) {
    nearcache_shmem_prefetch(heap, 500, other);
    shmem_barrier_all();
    fill(heap, 500, round);
    shmem_barrier_all();
    shmem_getmem(seen, heap, 500, other);
    CHECK_BYTES(seen, 500, round);
    nearcache_shmem_prefetch(heap + 1000, 500, other);
    shmem_getmem(seen, heap + 1000, 500, other);
    CHECK_EQUAL(seen[77], 0);
    shmem_barrier_all();
  }
}

static void own_memory_is_never_stale(void) {
  clean();
  long* words = (long*)heap;
  for (long i = 1; i <= 50; ++i) {
    shmem_long_p(&words[5], i, me);
    CHECK_EQUAL(load(&words[5]), i);
    words[5] = -i;
    CHECK_EQUAL(shmem_long_g(&words[5], me), -i);
  }
}

// Two PEs put a flag to each other and then poll their own by loads; no further call of theirs
// sends the flags.
static void a_flag_before_no_call(void (*order)(void)) {
  clean();
  const int partner = me ^ 1;
  for (long round = 1; round <= 40; ++round) {
    if (me < 2) {
      shmem_putmem(heap + 100, &round, sizeof round, partner);
      order();
      shmem_long_p((long*)(heap + 200), round, partner);
      while (load((long*)(heap + 200)) != round)
        if (over_tcp()) progress();
      CHECK(memcmp(heap + 100, &round, sizeof round) == 0);
    }
    shmem_barrier_all();
  }
}
static void a_fence_and_a_flag_before_no_call(void) { a_flag_before_no_call(shmem_fence); }
static void a_quiet_and_a_flag_before_no_call(void) { a_flag_before_no_call(shmem_quiet); }

const struct test_case order_cases[] = {
    {"ping_pong_in_all_placements", ping_pong_in_all_placements},
    {"the_owner_answers_in_place", the_owner_answers_in_place},
    {"a_fence_orders_data_before_a_flag", a_fence_orders_data_before_a_flag},
    {"a_fence_and_a_flag_before_no_call", a_fence_and_a_flag_before_no_call},
    {"a_quiet_and_a_flag_before_no_call", a_quiet_and_a_flag_before_no_call},
    {"neighbouring_bytes_of_many_writers", neighbouring_bytes_of_many_writers},
    {"a_put_after_a_get_of_its_line", a_put_after_a_get_of_its_line},
    {"strided_over_cached", strided_over_cached},
    {"strided_backwards_over_cached", strided_backwards_over_cached},
    {"atomics_against_cached_pages", atomics_against_cached_pages},
    {"atomics_of_all_on_one_word", atomics_of_all_on_one_word},
    {"bulk_over_small_and_small_over_bulk", bulk_over_small_and_small_over_bulk},
    {"what_is_prefetched_is_dropped_by_an_acquire", what_is_prefetched_is_dropped_by_an_acquire},
    {"own_memory_is_never_stale", own_memory_is_never_stale},
};
const size_t order_case_count = sizeof order_cases / sizeof *order_cases;
