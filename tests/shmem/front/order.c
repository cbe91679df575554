/* Calls that order, complete, wait or synchronise. */
#include <stdlib.h>

#include "front.h"

static long data[1024];
static long flag, answer;
static long lock_word;
static long sync_[SHMEM_BCAST_SYNC_SIZE];

/* Each side waits for a put of the other: without write-back before the wait, both would wait
 * forever. */
static void waiter_and_writer(void) {
  for (long round = 1; round <= 100; ++round) {
    shmem_long_p(&flag, round, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
  }
}

static void ping_pong_by_test(void) {
  for (long round = 1; round <= 100; ++round) {
    shmem_long_p(&flag, round, right);
    /* tests alone make no progress in Open MPI */
    while (!shmem_long_test(&flag, SHMEM_CMP_GE, round)) (void)shmem_long_g(data, right);
  }
}

/* Once the flag has arrived, so has everything put before the fence; and previously read data are
 * fetched again. */
static void fence_orders_data_before_flag(void) {
  for (long round = 1; round <= 100; ++round) {
    for (int i = 0; i < 32; ++i) shmem_long_p(&data[i * 17], round * 1000 + i, right);
    shmem_fence();
    shmem_long_p(&flag, round, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
    for (int i = 0; i < 32; ++i) EXPECT(data[i * 17], round * 1000 + i);
    shmem_barrier_all();
  }
}

/* PE 0 repeatedly reads what PE 1 wrote to PE 2; each time it learns of the write by another call.
 * */
static void what_was_read_is_read_anew(void) {
  static long source, target;
  const int keeper = pes - 1;
  for (long round = 1; round <= 10; ++round) {
    if (me == 0) (void)shmem_long_g(&data[3], keeper);
    shmem_barrier_all();
    if (me == 1 % pes) shmem_long_p(&data[3], round, keeper);
    if (me == 1 % pes) shmem_quiet();
    if (round % 3 == 0) {
      shmem_barrier_all();
    } else if (round % 3 == 1) {
      shmem_sync_all();
    } else {
      for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) sync_[i] = SHMEM_SYNC_VALUE;
      shmem_barrier_all();
      source = round;
      shmem_broadcast64(&target, &source, 1, 0, 0, 0, pes, sync_);
    }
    EXPECT(shmem_long_g(&data[3], keeper), round);
    shmem_barrier_all();
  }
}

/* A counter that is read and written under a lock. */
static void a_counter_under_a_lock(void) {
  for (int i = 0; i < 30; ++i) {
    shmem_set_lock(&lock_word);
    shmem_long_p(&answer, shmem_long_g(&answer, 0) + 1, 0);
    shmem_clear_lock(&lock_word);
  }
  shmem_barrier_all();
  EXPECT(shmem_long_g(&answer, 0), 30 * pes);
}

/* The owner changes its memory by a store, of which no call notifies the reader. */
static void a_polling_loop_sees_the_change(void) {
  volatile long* mine = &flag;
  for (long round = 1; round <= 20; ++round) {
    if (me == 0) {
      while (shmem_long_g(&flag, right) != round) {
      }
      shmem_long_p(&answer, round, right);
      shmem_quiet();
    } else if (left == 0) {
      for (volatile int spin = 0; spin < 10000; ++spin) {
      }
      *mine = round;
      shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
    }
  }
}

/* The flag is cached, and its writer makes only calls that read until the answer has arrived. */
static void flag_then_spin(long (*read)(const long*, int)) {
  for (long round = 1; round <= 20; ++round) {
    if (me == 0) {
      shmem_long_p(&flag, round, right);
      while (read(&answer, right) != round) {
      }
    } else if (left == 0) {
      shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
      shmem_long_atomic_set(&answer, round, me);
    }
    shmem_barrier_all();
  }
}
static long by_get(const long* address, int pe) { return shmem_long_g(address, pe); }
static long by_atomic(const long* address, int pe) { return shmem_long_atomic_fetch(address, pe); }
static void flag_then_spin_by_get(void) { flag_then_spin(by_get); }
static void flag_then_spin_by_atomics(void) { flag_then_spin(by_atomic); }
static void flag_then_spin_by_relaxed_atomics(void) {
  nearcache_shmem_set_relaxed_atomics(1);
  flag_then_spin(by_atomic);
  nearcache_shmem_set_relaxed_atomics(0);
}

/* Non-blocking gets deliver their values at the quiet, so a loop of both must see changes, too. */
static void polling_by_non_blocking_gets(void) {
  volatile long* mine = &flag;
  long seen = 0;
  if (me == 0) {
    while (seen != 5) {
      shmem_long_get_nbi(&seen, &flag, 1, right);
      shmem_quiet();
    }
  } else if (left == 0) {
    *mine = 5;
    shmem_quiet();
  }
}

static void contexts_have_caches_of_their_own(void) {
  shmem_ctx_t first, second;
  EXPECT(shmem_ctx_create(0, &first), 0);
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE, &second), 0);
  for (long round = 1; round <= 30; ++round) {
    for (int i = 0; i < 64; ++i) {
      (void)shmem_long_g(&data[i], right); /* cached in all three contexts */
      (void)shmem_ctx_long_g(second, &data[i], right);
    }
    for (int i = 0; i < 64; ++i) shmem_ctx_long_p(first, &data[i], round * 100 + i, right);
    EXPECT(shmem_ctx_long_g(first, &data[9], right), round * 100 + 9);
    shmem_ctx_quiet(first);
    for (int i = 0; i < 64; ++i) EXPECT(shmem_long_g(&data[i], right), round * 100 + i);
    for (int i = 0; i < 64; ++i) EXPECT(shmem_ctx_long_g(second, &data[i], right), round * 100 + i);
    for (int i = 0; i < 64; ++i) shmem_ctx_long_p(second, &data[i], -round, right);
    shmem_ctx_quiet(second);
    EXPECT(shmem_ctx_long_g(first, &data[63], right), -round);
  }
  shmem_ctx_long_p(first, &answer, 11, right);
  shmem_ctx_long_p(second, &flag, 12, right);
  shmem_ctx_destroy(first); /* completes what was written through it */
  shmem_ctx_destroy(second);
  shmem_barrier_all();
  EXPECT(answer, 11);
  EXPECT(flag, 12);
}

static void many_contexts_come_and_go(void) {
  for (int i = 0; i < 80; ++i) {
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) != 0) continue;
    shmem_ctx_long_p(ctx, &data[i], i + 1, right);
    shmem_ctx_destroy(ctx);
    EXPECT(shmem_long_g(&data[i], right), i + 1);
  }
}

const struct front_case order_cases[] = {
    {"waiter_and_writer", waiter_and_writer},
    {"ping_pong_by_test", ping_pong_by_test},
    {"fence_orders_data_before_flag", fence_orders_data_before_flag},
    {"what_was_read_is_read_anew", what_was_read_is_read_anew},
    {"a_counter_under_a_lock", a_counter_under_a_lock},
    {"a_polling_loop_sees_the_change", a_polling_loop_sees_the_change},
    {"polling_by_non_blocking_gets", polling_by_non_blocking_gets},
    {"flag_then_spin_by_get", flag_then_spin_by_get},
    {"flag_then_spin_by_atomics", flag_then_spin_by_atomics},
    {"flag_then_spin_by_relaxed_atomics", flag_then_spin_by_relaxed_atomics},
    {"contexts_have_caches_of_their_own", contexts_have_caches_of_their_own},
    {"many_contexts_come_and_go", many_contexts_come_and_go},
    {NULL, NULL}};
