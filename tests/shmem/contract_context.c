// Contexts: each orders and completes its own accesses; the effect of a quiet is visible through
// all. Over shared memory only: over tcp, Open MPI 4.1.4 hangs in calls on created contexts.
#include "contract.h"

static void in_turn(void (*run)(int other)) {
  clean();
  for (int pe = 0; pe < pes; ++pe) {
    if (pe == me) run((me + 1) % pes);
    shmem_barrier_all();
  }
}

static long* word(int i) { return (long*)heap + 16 * me + i; }

static void quiet_of_one_run(int other) {
  shmem_ctx_t a, b;
  shmem_ctx_create(0, &a);
  shmem_ctx_create(SHMEM_CTX_PRIVATE, &b);
  for (long round = 1; round <= 20; ++round) {
    CHECK_EQUAL(shmem_ctx_long_g(a, word(0), other), 3 * (round - 1));
    CHECK_EQUAL(shmem_ctx_long_g(b, word(0), other), 3 * (round - 1));
    CHECK_EQUAL(shmem_long_g(word(0), other), 3 * (round - 1));
    // Written through each context in turn, and visible through the others after its quiet.
    shmem_ctx_long_p(a, word(0), 3 * round - 2, other);
    CHECK_EQUAL(shmem_ctx_long_g(a, word(0), other), 3 * round - 2);
    shmem_ctx_quiet(a);
    CHECK_EQUAL(shmem_ctx_long_g(b, word(0), other), 3 * round - 2);
    CHECK_EQUAL(shmem_long_g(word(0), other), 3 * round - 2);
    shmem_ctx_long_p(b, word(0), 3 * round - 1, other);
    shmem_ctx_quiet(b);
    CHECK_EQUAL(shmem_long_g(word(0), other), 3 * round - 1);
    CHECK_EQUAL(shmem_ctx_long_g(a, word(0), other), 3 * round - 1);
    shmem_long_p(word(0), 3 * round, other);
    shmem_quiet();
    CHECK_EQUAL(shmem_ctx_long_g(a, word(0), other), 3 * round);
  }
  retire_context(a, &scratch_word);
  retire_context(b, &scratch_word);
}
static void a_quiet_of_one_context_is_seen_through_the_others(void) { in_turn(quiet_of_one_run); }

// Bytes of one line, written through two contexts at the same time: neither overwrites the other's.
static void one_line_run(int other) {
  shmem_ctx_t a, b;
  shmem_ctx_create(0, &a);
  shmem_ctx_create(SHMEM_CTX_SERIALIZED, &b);
  unsigned char seen[64];
  for (int round = 1; round <= 10; ++round) {
    shmem_ctx_getmem(a, seen, data, sizeof seen, other);
    shmem_ctx_getmem(b, seen, data, sizeof seen, other);
    for (int i = 0; i < 64; ++i)
      shmem_ctx_uchar_p(i % 2 ? a : b, data + i, (unsigned char)(round + i), other);
    for (int i = 0; i < 64; ++i)
      CHECK_EQUAL(shmem_ctx_uchar_g(i % 2 ? a : b, data + i, other), (unsigned char)(round + i));
    shmem_ctx_quiet(b);
    shmem_ctx_quiet(a);
    shmem_getmem(seen, data, sizeof seen, other);
    for (int i = 0; i < 64; ++i) CHECK_EQUAL(seen[i], (unsigned char)(round + i));
  }
  retire_context(a, &scratch_word);
  retire_context(b, &scratch_word);
}
static void two_contexts_write_into_one_line(void) { in_turn(one_line_run); }

static void destroyed_run(int other) {
  for (long round = 1; round <= 5; ++round) {
    shmem_ctx_t ctx;
    shmem_ctx_create(0, &ctx);
    CHECK_EQUAL(shmem_long_g(word(1), other), round - 1);
    shmem_ctx_long_p(ctx, word(1), round, other);
    shmem_ctx_destroy(ctx);
    CHECK_EQUAL(shmem_long_g(word(1), other), round);
  }
}
static void a_destroyed_context_has_written_everything(void) {
  in_turn(destroyed_run);
  CHECK_EQUAL(((long*)heap)[16 * ((me + pes - 1) % pes) + 1], 5);
}

// A wait through the default context starts the writes of every context; otherwise both sides would
// wait forever.
static void a_wait_starts_the_writes_of_all_contexts(void) {
  clean();
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  for (long round = 1; round <= 20; ++round) {
    if (me == 0) {
      shmem_ctx_long_p(ctx, &flags[0], round, 1);
      shmem_long_wait_until(&flags[1], SHMEM_CMP_EQ, round);
    } else if (me == 1) {
      shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
      shmem_ctx_long_p(ctx, &flags[1], round, 0);
      shmem_ctx_quiet(ctx);
    }
    shmem_barrier_all();
  }
  retire_context(ctx, &scratch_word);
}

// An acquire by any call applies to all contexts.
static void an_acquire_is_one_for_all_contexts(void) {
  clean();
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  for (long round = 1; round <= 10; ++round) {
    if (me == 0) CHECK_EQUAL(shmem_ctx_long_g(ctx, (long*)data, pes - 1), round - 1);
    shmem_barrier_all();
    if (me == pes - 1) *(volatile long*)data = round;
    shmem_barrier_all();
    if (me == 0) CHECK_EQUAL(shmem_ctx_long_g(ctx, (long*)data, pes - 1), round);
  }
  if (me == 0) nearcache_shmem_ctx_uncached(ctx);
  shmem_barrier_all();
  if (me == pes - 1) *(volatile long*)data = 77;
  shmem_barrier_all();
  if (me == 0) CHECK_EQUAL(shmem_ctx_long_g(ctx, (long*)data, pes - 1), 77);
  retire_context(ctx, &scratch_word);
}

const struct test_case context_cases[] = {
    {"a_quiet_of_one_context_is_seen_through_the_others",
     a_quiet_of_one_context_is_seen_through_the_others},
    {"two_contexts_write_into_one_line", two_contexts_write_into_one_line},
    {"a_destroyed_context_has_written_everything", a_destroyed_context_has_written_everything},
    {"a_wait_starts_the_writes_of_all_contexts", a_wait_starts_the_writes_of_all_contexts},
    {"an_acquire_is_one_for_all_contexts", an_acquire_is_one_for_all_contexts},
};
const size_t context_case_count = sizeof context_cases / sizeof *context_cases;
