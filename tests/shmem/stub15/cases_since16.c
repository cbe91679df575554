/* Calls new in OpenSHMEM 1.6, and calls that no table names. */
#include "cases.h"

static long* near_word(void) { return word_at(16 << 10); }
static long* far_word(void) { return word_at(32 << 10); }

/* The range of a transfer of blocks ends with the last element of the last block. */
static void blocks_are_ordered_to_their_last_element(void) {
  enum { stride = 512, block = 200, blocks = 3 };
  static long own[stride * blocks];
  long* last = near_word() + (blocks - 1) * stride + block - 1;
  for (int gets = 0; gets < 2; gets++) {
    begin();
    shmem_long_p(last, 5, 1);
    shmem_long_p(far_word(), 6, 1);
    EXPECT(!put_arrived(last));
    gets ? shmem_long_ibget(own, near_word(), stride, stride, block, blocks, 1)
         : shmem_long_ibput(near_word(), own, stride, stride, block, blocks, 1);
    EXPECT(put_arrived(last) && !put_arrived(far_word()));
    shmem_quiet();
  }
}

static void no_blocks_touch_nothing(void) {
  long own = 0;
  begin();
  shmem_long_p(near_word(), 5, 1);
  shmem_long_ibput(near_word(), &own, 1, 1, 0, 5, 1);
  shmem_long_ibput(near_word(), &own, 1, 1, 5, 0, 1);
  EXPECT(stub_calls() == 2 && arrived("ibput") == 2);
}

/* Every finalize but the last is a barrier; caching continues. */
static void ends_within_others_are_barriers(void) {
  int provided = 0;
  shmem_init();
  EXPECT(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) == 0);
  for (int i = 0; i < 2; i++) {
    begin();
    shmem_long_p(near_word(), 7 + i, 1);
    (void)shmem_long_g(far_word(), 1);
    EXPECT(!put_arrived(near_word()));
    shmem_finalize();
    EXPECT(remote_value(near_word()) == 7 + i);
    *(long*)stub_remote(far_word()) = 3 + i;
    EXPECT(shmem_long_g(far_word(), 1) == 3 + i);
    stub_clear();
    EXPECT(shmem_long_g(far_word(), 1) == 3 + i);
    EXPECT(stub_calls() == 0 && nearcache_shmem_caching() == 1);
  }
  shmem_long_p(near_word(), 9, 1);
  shmem_init(); /* and one more, before the last */
  shmem_finalize();
  shmem_long_p(near_word() + 1, 10, 1);
  shmem_long_p(near_word() + 2, 11, 1);
  shmem_finalize();
  EXPECT(remote_value(near_word() + 2) == 11);
  EXPECT(nearcache_shmem_caching() == 0);
  shmem_init(); /* for the end of the program */
}

/* Run with shmem_check, whose message names the last acquire. */
static void old_data_after_an_inner_finalize(void) {
  long got[50];
  shmem_init();
  shmem_barrier_all();
  shmem_finalize();
  for (int i = 0; i < 2; i++) {
    shmem_getmem(got, near_word(), sizeof got, 1);
    *(long*)stub_remote(near_word()) = 5;
  }
}

/* An unknown call may do anything, also to other contexts. */
static void an_unknown_call_comes_after_what_was_written(void) {
  const shmem_ctx_t ctx = made_by(SHMEM_TEAM_WORLD);
  begin();
  shmem_ctx_long_p(ctx, near_word() + 64, 1, 1); /* may be sent at once */
  shmem_ctx_long_p(ctx, near_word(), 1, 1);
  shmem_long_p(far_word(), 1, 1);
  stub_clear();
  shmemx_stub_anything();
  EXPECT(put_arrived(near_word()) && put_arrived(far_word()));
  EXPECT(arrived("shmem_quiet") == 1 && arrived("shmem_ctx_quiet") == 1);
  EXPECT(stub_call(stub_calls() - 1)->count == 0 && arrived("shmemx_stub_anything") == 1);
}

/* The program may have learned by it what others wrote. */
static void an_unknown_call_acquires(void) {
  const shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, made_by(SHMEM_TEAM_WORLD)};
  for (int i = 0; i < 2; i++) {
    (void)shmem_ctx_long_g(contexts[i], near_word(), 1);
    *(long*)stub_remote(near_word()) = 30 + i;
    (void)shmem_teleport(far_word(), 1, 1);
    EXPECT(shmem_ctx_long_g(contexts[i], near_word(), 1) == 30 + i);
  }
}

/* A cache that comes later does not know what the call has put. */
static void what_an_unknown_call_put_is_complete_before_there_is_a_cache(void) {
  const shmem_ctx_t ctx = made_by(SHMEM_TEAM_WORLD);
  (void)shmem_teleport(near_word(), 1, 1);
  stub_clear();
  (void)shmem_ctx_long_g(ctx, near_word(), 1);
  EXPECT(arrived("shmem_ctx_quiet") == 1);
}

/* The operations that it started are complete at the next quiet. */
static void an_unknown_call_may_not_be_complete(void) {
  const shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, made_by(SHMEM_TEAM_WORLD)};
  for (int i = 0; i < 2; i++) {
    begin();
    (void)shmem_teleport(near_word(), 1, 1);
    (void)shmem_ctx_long_g(contexts[i], near_word(), 1);
    *(long*)stub_remote(near_word()) = 20 + i;
    shmem_ctx_quiet(contexts[i]);
    EXPECT(shmem_ctx_long_g(contexts[i], near_word(), 1) == 20 + i);
  }
}

/* Run with a network model, in which no PE is reachable by loads and stores. */
static void pointers_into_other_pes_are_null_in_a_model(void) {
  EXPECT(shmem_team_ptr(stub_team_reversed, near_word(), 0) == NULL);
  stub_result = 1; /* the PE's number in the team; the stub only records this call */
  EXPECT(shmem_team_ptr(stub_team_reversed, near_word(), 1) == near_word());
  EXPECT(shmem_ptr(near_word(), 1) == NULL && shmem_ptr(near_word(), 0) == near_word());
}

const struct stub_case since16_cases[] = {
    {"blocks_are_ordered_to_their_last_element", blocks_are_ordered_to_their_last_element},
    {"no_blocks_touch_nothing", no_blocks_touch_nothing},
    {"ends_within_others_are_barriers", ends_within_others_are_barriers},
    {"old_data_after_an_inner_finalize", old_data_after_an_inner_finalize},
    {"an_unknown_call_comes_after_what_was_written", an_unknown_call_comes_after_what_was_written},
    {"an_unknown_call_acquires", an_unknown_call_acquires},
    {"what_an_unknown_call_put_is_complete_before_there_is_a_cache",
     what_an_unknown_call_put_is_complete_before_there_is_a_cache},
    {"an_unknown_call_may_not_be_complete", an_unknown_call_may_not_be_complete},
    {"pointers_into_other_pes_are_null_in_a_model", pointers_into_other_pes_are_null_in_a_model},
    {NULL, NULL}};
