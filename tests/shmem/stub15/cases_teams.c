/* Contexts of teams: PEs are numbered as in the team, and each context has a cache like others. */
#include "cases.h"

static long* team_word(void) { return word_at(16 << 10); }
static long* place(void) { return word_at(32 << 10); }

static void set_remote(const long* of, long value) { *(long*)stub_remote(of) = value; }

static void what_goes_through_a_teams_context_is_cached(void) {
  const shmem_ctx_t ctx = made_by(stub_team_reversed);
  begin();
  set_remote(team_word(), 5);
  *team_word() = 6;
  EXPECT(shmem_ctx_long_g(ctx, team_word(), 0) == 5);
  stub_clear();
  EXPECT(shmem_ctx_long_g(ctx, team_word(), 0) == 5);
  EXPECT(stub_calls() == 0);
  shmem_ctx_long_p(ctx, place() + 64, 1, 0); /* may be sent at once */
  shmem_ctx_long_p(ctx, place(), 7, 0);
  EXPECT(!put_arrived(place()));
  EXPECT(shmem_ctx_long_g(ctx, place(), 0) == 7);
  shmem_ctx_quiet(ctx);
  EXPECT(put_arrived(place()) && remote_value(place()) == 7 && *place() != 7);
}

/* Also where PEs reachable by loads and stores are cached. */
static void own_memory_in_a_team_is_never_cached(void) {
  const shmem_ctx_t ctx = made_by(stub_team_reversed);
  for (long value = 1; value < 4; value++) {
    *team_word() = value;
    EXPECT(shmem_ctx_long_g(ctx, team_word(), 1) == value);
    shmem_ctx_long_p(ctx, place(), value, 1);
    EXPECT(*place() == value);
  }
}

/* Run with a network model in which this would take minutes. */
static void own_memory_in_a_team_is_near_in_a_model(void) {
  const shmem_ctx_t ctx = made_by(stub_team_reversed);
  for (long i = 0; i < 100; i++) {
    *team_word() = i;
    EXPECT(shmem_ctx_long_g(ctx, team_word(), 1) == i);
    shmem_ctx_long_p(ctx, team_word(), -i, 1);
    EXPECT(shmem_ctx_long_atomic_fetch(ctx, place(), 1) == (long)stub_result);
    shmem_ctx_quiet(ctx);
    EXPECT(*team_word() == -i);
  }
}

static void a_relaxed_atomic_is_seen_through_other_teams(void) {
  const shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, made_by(stub_team_reversed),
                                  made_by(stub_team_of_one)};
  const int pe_1[] = {1, 0, 0};
  nearcache_shmem_set_relaxed_atomics(1);
  for (int writer = 0; writer < 3; writer++) {
    for (int reader = 0; reader < 3; reader++) {
      long* at = place() + 128 * (3 * writer + reader);
      (void)shmem_ctx_long_g(contexts[reader], at, pe_1[reader]);
      (void)shmem_ctx_long_atomic_fetch_add(contexts[writer], at, 1, pe_1[writer]);
      set_remote(at, 9);
      EXPECT(shmem_ctx_long_g(contexts[reader], at, pe_1[reader]) == 9);
    }
  }
}

/* In a team without that PE, nothing is dropped, and no other PE is mistaken for it. */
static void an_atomic_at_a_pe_outside_of_a_team_leaves_it_alone(void) {
  const shmem_ctx_t ctx = made_by(stub_team_of_one);
  nearcache_shmem_set_relaxed_atomics(1);
  (void)shmem_ctx_long_g(ctx, team_word(), 0);
  stub_clear();
  (void)shmem_long_atomic_fetch_add(team_word(), 1, 0);
  (void)shmem_ctx_long_g(ctx, team_word(), 0);
  EXPECT(stub_calls() == 1 && arrived("atomic") == 1);
}

static void pes_that_a_team_has_not_are_left_to_the_library(void) {
  const shmem_ctx_t ctx = made_by(stub_team_of_one);
  for (int pe = -1; pe < 3; pe++) {
    if (pe == 0) continue;
    stub_clear();
    (void)shmem_ctx_long_g(ctx, team_word(), pe);
    EXPECT(stub_calls() == 1 && stub_call(0)->arguments[3] == sizeof(long) &&
           (int)stub_call(0)->arguments[4] == pe);
  }
}

static void a_team_that_is_not_told_is_passed_on(void) {
  const shmem_ctx_t ctx = made_by(stub_team_untold);
  for (int i = 0; i < 3; i++) {
    stub_clear();
    (void)shmem_ctx_long_g(ctx, team_word(), 1);
    EXPECT(arrived("getmem") == 1);
  }
}

static int is_of(const struct stub_call* call, const void* handle) {
  return call->count > 0 && call->arguments[0] == (uint64_t)(uintptr_t)handle;
}

/* Destroying a team destroys its contexts, and no others. */
static void a_team_that_goes_completes_what_was_written(void) {
  const shmem_ctx_t goes = made_by(stub_team_reversed), stays = made_by(stub_team_of_one);
  const shmem_ctx_t contexts[] = {goes, stays};
  for (int i = 0; i < 2; i++) {
    shmem_ctx_long_p(contexts[i], team_word() + 64 + 1024 * i, 1, 0); /* may be sent at once */
    shmem_ctx_long_p(contexts[i], team_word() + 1024 * i, 8, 0);
  }
  (void)shmem_long_g(place(), 1);
  stub_clear();
  shmem_team_destroy(stub_team_reversed);
  EXPECT(remote_value(team_word()) == 8);
  int quiet = -1, destroy = -1;
  for (int i = 0; i < stub_calls(); i++) {
    const struct stub_call* call = stub_call(i);
    if (is_of(call, goes) && call->count == 1) quiet = i;
    if (is_of(call, stub_team_reversed)) destroy = i;
    EXPECT(destroy < 0 || !is_of(call, goes));
  }
  EXPECT(quiet >= 0 && quiet < destroy);
  stub_clear();
  shmem_barrier_all(); /* checks open contexts */
  for (int i = 0; i < stub_calls(); i++) EXPECT(!is_of(stub_call(i), goes));
  shmem_ctx_quiet(stays);
  EXPECT(remote_value(team_word() + 1024) == 8);
}

/* Run with shmem_check, whose message names the last acquire. */
static void old_data_after_the_end_of_a_team(void) {
  long got[50];
  shmem_barrier_all();
  shmem_team_destroy(stub_team_reversed);
  for (int i = 0; i < 2; i++) {
    shmem_getmem(got, team_word(), sizeof got, 1);
    set_remote(team_word(), 5);
  }
}

const struct stub_case team_cases[] = {
    {"what_goes_through_a_teams_context_is_cached", what_goes_through_a_teams_context_is_cached},
    {"own_memory_in_a_team_is_never_cached", own_memory_in_a_team_is_never_cached},
    {"own_memory_in_a_team_is_near_in_a_model", own_memory_in_a_team_is_near_in_a_model},
    {"a_relaxed_atomic_is_seen_through_other_teams", a_relaxed_atomic_is_seen_through_other_teams},
    {"an_atomic_at_a_pe_outside_of_a_team_leaves_it_alone",
     an_atomic_at_a_pe_outside_of_a_team_leaves_it_alone},
    {"pes_that_a_team_has_not_are_left_to_the_library",
     pes_that_a_team_has_not_are_left_to_the_library},
    {"a_team_that_is_not_told_is_passed_on", a_team_that_is_not_told_is_passed_on},
    {"a_team_that_goes_completes_what_was_written", a_team_that_goes_completes_what_was_written},
    {"old_data_after_the_end_of_a_team", old_data_after_the_end_of_a_team},
    {NULL, NULL}};
