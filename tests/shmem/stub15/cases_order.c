/* What starts write-back, and which put is sent at once: for every context, whichever the program
 * waits through. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

static long* flag(void) { return word_at(16 << 10); }
static long* other(void) { return word_at(32 << 10); }

static shmem_ctx_t made(void) {
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) != 0) EXPECT(0 && "shmem_ctx_create");
  return ctx;
}

static void dirty(shmem_ctx_t ctx) {
  begin();
  shmem_ctx_long_p(ctx, flag() + 64, 1, 1); /* may be sent at once */
  shmem_ctx_long_p(ctx, flag(), 1, 1);
  EXPECT(!put_arrived(flag()));
}

static void poll(shmem_ctx_t ctx, int reads) {
  for (int i = 0; i < reads; i++) (void)shmem_ctx_long_g(ctx, other(), 1);
}

/* The answer that is polled for depends on a put through another context. */
static void polling_through(shmem_ctx_t ctx) {
  begin();
  shmem_long_p(flag(), 1, 1);
  EXPECT(!put_arrived(flag()));
  poll(ctx, 200);
  EXPECT(put_arrived(flag()));
}
static void polling_through_one_context_starts_all(void) { polling_through(made()); }
static void polling_through_a_teams_context_starts_all(void) {
  polling_through(made_by(SHMEM_TEAM_WORLD));
}
static void polling_through_an_unknown_context_starts_all(void) {
  polling_through(made_by(stub_team_untold));
}
static void polling_through_an_uncached_context_starts_all(void) {
  const shmem_ctx_t ctx = made();
  EXPECT(nearcache_shmem_ctx_uncached(ctx) == NEARCACHE_SHMEM_OK);
  polling_through(ctx);
}
static void polling_of_an_uncached_range_starts_all(void) {
  EXPECT(nearcache_shmem_uncached(other(), sizeof(long)) == NEARCACHE_SHMEM_OK);
  const shmem_ctx_t ctx = made();
  begin();
  shmem_ctx_long_p(ctx, flag() + 64, 1, 1);
  shmem_ctx_long_p(ctx, flag(), 1, 1);
  for (int i = 0; i < 10; i++) (void)shmem_long_g(other(), 1);
  EXPECT(put_arrived(flag()));
}
/* The default context polls, among reads of other words; another context has the flag. */
static void reads_of_many_words_start_all(void) {
  const shmem_ctx_t ctx = made();
  begin();
  shmem_ctx_long_p(ctx, flag() + 64, 1, 1);
  shmem_ctx_long_p(ctx, flag(), 1, 1);
  int there = 0;
  for (int round = 0; round < 100 && !there; round++) {
    for (size_t i = 0; i < 64; i++) (void)shmem_long_g(word_at((size_t)(64 << 10) + i * 1024), 1);
    there = put_arrived(flag());
    stub_clear();
    nearcache_shmem_acquire();
  }
  EXPECT(there);
}
static void polling_by_non_blocking_gets_starts_all(void) {
  const shmem_ctx_t ctx = made();
  begin();
  shmem_long_p(flag(), 1, 1);
  long value = 0;
  for (int i = 0; i < 200; i++) {
    shmem_ctx_long_get_nbi(ctx, &value, other(), 1, 1);
    shmem_ctx_quiet(ctx);
  }
  EXPECT(put_arrived(flag()));
}

/* Neither follows the other, so no cache holds them. */
static void polling_of_two_words_by_non_blocking_gets_starts_all(void) {
  const shmem_ctx_t contexts[] = {made(), made()};
  EXPECT(nearcache_shmem_ctx_uncached(contexts[1]) == NEARCACHE_SHMEM_OK);
  for (int uncached = 0; uncached < 2; uncached++) {
    dirty(SHMEM_CTX_DEFAULT);
    long value = 0;
    for (int i = 0; i < 200; i++) {
      shmem_ctx_long_get_nbi(contexts[uncached], &value, other() + i % 2 * 1024, 1, 1);
      shmem_ctx_quiet(contexts[uncached]);
    }
    EXPECT(put_arrived(flag()));
  }
}
static void polling_by_strided_gets_starts_all(void) {
  const shmem_ctx_t ctx = made();
  begin();
  shmem_long_p(flag(), 1, 1);
  long values[2];
  for (int i = 0; i < 200; i++) shmem_ctx_long_iget(ctx, values, other(), 1, 4, 2, 1);
  EXPECT(put_arrived(flag()));
}
/* The quiet concerns the context of the atomics alone. */
static void spinning_on_non_blocking_atomics_starts_all(void) {
  const shmem_ctx_t contexts[] = {SHMEM_CTX_DEFAULT, made()};
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    nearcache_shmem_set_relaxed_atomics(relaxed);
    for (int spins = 0; spins < 2; spins++) {
      dirty(contexts[!spins]);
      long value = 0;
      for (int i = 0; i < 100; i++) {
        shmem_ctx_long_atomic_fetch_nbi(contexts[spins], &value, other(), 1);
        shmem_ctx_quiet(contexts[spins]);
      }
      EXPECT(put_arrived(flag()));
    }
  }
}

/* Nothing is cached yet, and libraries need not complete what was put when a lock is released. */
static void what_was_put_past_the_cache_has_arrived_when_a_lock_goes(void) {
  static char block[16 << 10];
  shmem_set_lock(word_at(0));
  shmem_putmem(word_at(32 << 10), block, sizeof block, 1);
  stub_clear();
  shmem_clear_lock(word_at(0));
  EXPECT(stub_calls() == 2 && strcmp(stub_call(0)->name, "shmem_quiet") == 0);
  stub_clear();
  shmem_clear_lock(word_at(0));
  EXPECT(stub_calls() == 1);
}

/* A word that is put after an ordering call may be a flag. */
static void flag_after(void (*order)(shmem_ctx_t), const char* what, int line) {
  const shmem_ctx_t ctx = made();
  shmem_ctx_long_p(ctx, flag() + 64, 1, 1);
  shmem_long_p(flag() + 128, 1, 1);
  for (int through_ctx = 0; through_ctx < 2; through_ctx++) {
    order(ctx);
    stub_clear();
    long* word = flag() + 256 * (through_ctx + 1);
    through_ctx ? shmem_ctx_long_p(ctx, word, 1, 1) : shmem_long_p(word, 1, 1);
    expect(put_arrived(word), what, line);
    shmem_ctx_long_p(ctx, flag() + 64, 1, 1);
    shmem_long_p(flag() + 128, 1, 1);
  }
}
#define FLAG_AFTER(order) \
  flag_after(order, "the first word after " #order " goes at once", __LINE__)

static void barrier_all(shmem_ctx_t ctx) { (void)ctx, shmem_barrier_all(); }
static void sync_all(shmem_ctx_t ctx) { (void)ctx, shmem_sync_all(); }
static void quiet(shmem_ctx_t ctx) { (void)ctx, shmem_quiet(); }
static void fence(shmem_ctx_t ctx) { (void)ctx, shmem_fence(); }
static void ctx_quiet(shmem_ctx_t ctx) { shmem_ctx_quiet(ctx); }
static void ctx_fence(shmem_ctx_t ctx) { shmem_ctx_fence(ctx); }
static void wait_until(shmem_ctx_t ctx) {
  (void)ctx, shmem_long_wait_until(other(), SHMEM_CMP_NE, 0);
}
static void test(shmem_ctx_t ctx) {
  (void)ctx;
  stub_result = 1;
  (void)shmem_long_test(other(), SHMEM_CMP_NE, 0);
}
static void clear_lock(shmem_ctx_t ctx) { (void)ctx, shmem_clear_lock(other()); }
static void set_lock(shmem_ctx_t ctx) { (void)ctx, shmem_set_lock(other()); }
static void allocate(shmem_ctx_t ctx) { (void)ctx, (void)shmem_malloc(64); }
static void fetch(shmem_ctx_t ctx) { (void)ctx, (void)shmem_long_atomic_fetch(other(), 1); }

static void destroy(shmem_ctx_t ctx) { (void)ctx, shmem_ctx_destroy(made_by(SHMEM_TEAM_WORLD)); }

static void a_flag_after_any_call_that_orders_goes_at_once(void) {
  FLAG_AFTER(barrier_all);
  FLAG_AFTER(sync_all);
  FLAG_AFTER(quiet);
  FLAG_AFTER(fence);
  FLAG_AFTER(ctx_quiet);
  FLAG_AFTER(ctx_fence);
  FLAG_AFTER(wait_until);
  FLAG_AFTER(test);
  FLAG_AFTER(clear_lock);
  FLAG_AFTER(set_lock);
  FLAG_AFTER(allocate);
  FLAG_AFTER(fetch);
  FLAG_AFTER(destroy);
}

/* Without other contexts, whether or not anything was written. */
static void a_flag_after_a_quiet_of_the_only_context_goes_at_once(void) {
  for (int quiets = 1; quiets <= 2; quiets++) {
    begin();
    for (int i = 0; i < quiets; i++) shmem_quiet();
    shmem_long_p(flag() + 256 * quiets, 1, 1);
    EXPECT(put_arrived(flag() + 256 * quiets));
  }
}

static void only_the_first_word_goes_at_once(void) {
  shmem_barrier_all();
  stub_clear();
  shmem_long_p(flag(), 1, 1);
  shmem_long_p(flag() + 1, 1, 1);
  EXPECT(arrived("putmem") == 1);
}

/* Destroying a context completes what was written through it, whether or not the cache knows the
 * context. */
static void the_end_acquires(shmem_ctx_t ctx) {
  (void)shmem_long_g(other(), 1);
  shmem_ctx_long_p(ctx, other(), 7, 1);
  *(long*)stub_remote(other()) = 7; /* for calls that the stub only records */
  shmem_ctx_destroy(ctx);
  EXPECT(shmem_long_g(other(), 1) == 7);
}
static void the_end_of_a_teams_context_acquires(void) {
  the_end_acquires(made_by(SHMEM_TEAM_WORLD));
}
static void the_end_of_an_unknown_context_acquires(void) {
  the_end_acquires(made_by(stub_team_untold));
}

/* 1,024 contexts are known; destroying one makes room, and calls on those beyond are passed on. */
static void more_contexts_than_are_known(void) {
  enum { known = 1024, all = known + 8 };
  static shmem_ctx_t contexts[all];
  for (int i = 0; i < all; i++) contexts[i] = made();
  for (int again = 0; again < 3; again++) {
    shmem_ctx_destroy(contexts[500]);
    contexts[500] = made();
    shmem_ctx_destroy(contexts[all - 1]);
    contexts[all - 1] = made();
  }
  stub_clear();
  shmem_ctx_long_p(contexts[500], flag(), 1, 1);
  shmem_ctx_long_p(contexts[all - 1], flag() + 64, 1, 1);
  EXPECT(stub_calls() > 0);
  for (int i = 0; i < all; i++) shmem_ctx_destroy(contexts[i]);
}

/* A returned value makes its write known: a get through another context must not serve what it read
 * before. */
static void a_relaxed_atomic_is_seen_through_other_contexts(void) {
  const shmem_ctx_t ctx = made();
  nearcache_shmem_set_relaxed_atomics(1);
  (void)shmem_long_g(other(), 1);
  (void)shmem_ctx_long_g(ctx, other() + 64, 1);
  (void)shmem_ctx_long_atomic_fetch_add(ctx, other(), 1, 1);
  *(long*)stub_remote(other()) = 7;
  EXPECT(shmem_long_g(other(), 1) == 7);
  (void)shmem_long_atomic_fetch_add(other() + 64, 1, 1);
  *(long*)stub_remote(other() + 64) = 8;
  EXPECT(shmem_ctx_long_g(ctx, other() + 64, 1) == 8);
}

static void a_relaxed_atomic_through_an_unknown_context_acquires(void) {
  const shmem_ctx_t ctx = made_by(stub_team_untold);
  nearcache_shmem_set_relaxed_atomics(1);
  for (int i = 0; i < 2; i++) {
    (void)shmem_long_g(other(), 1);
    i == 0 ? (void)shmem_ctx_long_atomic_fetch_add(ctx, other(), 1, 1)
           : (void)shmem_ctx_long_atomic_fetch(ctx, other(), 1);
    *(long*)stub_remote(other()) = 7 + i;
    EXPECT(shmem_long_g(other(), 1) == 7 + i);
  }
}

/* Returns the position of a call among those that arrived; past the end if it is not there. */
static int place_of(const char* part) {
  int at = 0;
  while (at < stub_calls() && !strstr(stub_call(at)->name, part)) at++;
  return at;
}

/* Completed by a quiet of the context itself; one inside the library's call need not apply to this
 * context. */
static void releases_complete_what_was_written(void) {
  static const char* const names[] = {"barrier_all", "clear_lock"};
  for (int i = 0; i < 2; i++) {
    dirty(SHMEM_CTX_DEFAULT);
    i == 0 ? shmem_barrier_all() : shmem_clear_lock(other());
    EXPECT(put_arrived(flag()));
    EXPECT(place_of("putmem") < place_of("quiet") && place_of("quiet") < place_of(names[i]) &&
           place_of(names[i]) < stub_calls());
  }
}

static void releases_start_what_was_written_through_other_contexts(void) {
  const shmem_ctx_t ctx = made();
  for (int i = 0; i < 2; i++) {
    dirty(ctx);
    i == 0 ? shmem_barrier_all() : shmem_clear_lock(other());
    EXPECT(put_arrived(flag()));
  }
}

static void a_context_that_goes_completes_what_was_written(void) {
  const shmem_ctx_t ctx = made(), uncached = made();
  dirty(ctx);
  shmem_ctx_destroy(ctx);
  EXPECT(put_arrived(flag()) && arrived("quiet") == 1);
  dirty(uncached);
  EXPECT(nearcache_shmem_ctx_uncached(uncached) == NEARCACHE_SHMEM_OK);
  EXPECT(put_arrived(flag()) && arrived("quiet") == 1);
}

/* The value of the get is known after the quiet, and may tell what others wrote before it. */
static void a_quiet_after_a_non_blocking_get_acquires(void) {
  for (int pe = 0; pe < 2; pe++) { /* also of own memory, which no cache holds */
    long value = 0;
    begin();
    (void)shmem_long_g(other(), 1);
    shmem_long_get_nbi(&value, flag(), 1, pe);
    *(long*)stub_remote(other()) = 7 + pe;
    shmem_quiet();
    EXPECT(shmem_long_g(other(), 1) == 7 + pe);
  }
}

/* The program's own transfers may be in flight. */
static void a_quiet_goes_down_though_nothing_was_written(void) {
  begin();
  (void)shmem_long_g(other(), 1);
  shmem_quiet();
  stub_clear();
  shmem_quiet();
  EXPECT(arrived("quiet") == 1);
}

static void what_was_fetched_ahead_is_here_after_a_quiet(void) {
  (void)shmem_long_g(other(), 1);
  stub_clear();
  nearcache_shmem_prefetch(flag(), 256, 1);
  EXPECT(arrived("getmem_nbi") == 1);
  shmem_quiet();
  stub_clear();
  (void)shmem_long_g(flag(), 1);
  EXPECT(stub_calls() == 0);
}

/* Also where PEs reachable by loads and stores are cached. */
static void own_memory_is_never_cached(void) {
  for (long value = 1; value < 4; value++) {
    *other() = value;
    EXPECT(shmem_long_g(other(), 0) == value);
    shmem_long_p(flag(), value, 0);
    EXPECT(*flag() == value);
  }
}

/* Although another put has made its page dirty: the program may make no further call. */
static void a_put_to_an_uncached_range_goes_at_once(void) {
  long* uncached = flag() + 8; /* the line behind */
  for (int already_dirty = 0; already_dirty < 2; already_dirty++) {
    begin();
    if (already_dirty) shmem_long_p(flag(), 1, 1);
    EXPECT(nearcache_shmem_uncached(uncached, sizeof *uncached) == NEARCACHE_SHMEM_OK);
    begin();
    shmem_long_p(flag(), 2, 1);
    shmem_long_p(uncached, 3, 1);
    EXPECT(put_arrived(uncached) && !put_arrived(flag()));
    uncached += 8;
  }
}

/* Its exit runs our handlers; those of destructors follow. */
static int forked;
__attribute__((destructor)) static void the_end_of_the_child(void) {
  if (forked) _exit(stub_calls() == 0 ? 0 : 3);
}

/* The child has a copy of the parent's dirty data, and must not communicate. */
static void a_forked_child_writes_nothing_back(void) {
  begin();
  shmem_long_p(other(), 7, 1);
  EXPECT(stub_calls() == 0);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    forked = 1;
    alarm(20); /* in case it waits forever */
    exit(0);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(stub_calls() == 0);
  shmem_quiet();
  EXPECT(put_arrived(other()) && remote_value(other()) == 7);
}

/* What was written there is complete, and what was read there is served no more. */
static void a_range_becomes_uncached(void) {
  begin();
  (void)shmem_long_g(other(), 1);
  shmem_long_p(flag(), 5, 1);
  EXPECT(!put_arrived(flag()));
  EXPECT(nearcache_shmem_uncached(flag(), sizeof(long)) == NEARCACHE_SHMEM_OK);
  EXPECT(put_arrived(flag()) && arrived("quiet") == 1);
  EXPECT(nearcache_shmem_uncached(other(), sizeof(long)) == NEARCACHE_SHMEM_OK);
  *(long*)stub_remote(other()) = 9;
  EXPECT(shmem_long_g(other(), 1) == 9);
}

/* The fence that makes way for a signal in flight comes before the data of the same call. */
static void what_follows_a_put_with_a_used_signal_is_ordered_behind_it(void) {
  uint64_t* signal = (uint64_t*)word_at(48 << 10);
  const long value = 1;
  begin();
  shmem_long_put_signal(other(), &value, 1, signal, 1, SHMEM_SIGNAL_SET, 1);
  shmem_long_put_signal(flag(), &value, 1, signal, 2, SHMEM_SIGNAL_SET, 1);
  stub_clear();
  shmem_long_atomic_add(flag(), 1, 1);
  EXPECT(arrived("fence") == 1);
}

const struct stub_case order_cases[] = {
    {"polling_through_one_context_starts_all", polling_through_one_context_starts_all},
    {"polling_through_a_teams_context_starts_all", polling_through_a_teams_context_starts_all},
    {"polling_through_an_unknown_context_starts_all",
     polling_through_an_unknown_context_starts_all},
    {"polling_through_an_uncached_context_starts_all",
     polling_through_an_uncached_context_starts_all},
    {"polling_of_an_uncached_range_starts_all", polling_of_an_uncached_range_starts_all},
    {"reads_of_many_words_start_all", reads_of_many_words_start_all},
    {"polling_by_non_blocking_gets_starts_all", polling_by_non_blocking_gets_starts_all},
    {"polling_of_two_words_by_non_blocking_gets_starts_all",
     polling_of_two_words_by_non_blocking_gets_starts_all},
    {"polling_by_strided_gets_starts_all", polling_by_strided_gets_starts_all},
    {"spinning_on_non_blocking_atomics_starts_all", spinning_on_non_blocking_atomics_starts_all},
    {"a_flag_after_any_call_that_orders_goes_at_once",
     a_flag_after_any_call_that_orders_goes_at_once},
    {"a_flag_after_a_quiet_of_the_only_context_goes_at_once",
     a_flag_after_a_quiet_of_the_only_context_goes_at_once},
    {"only_the_first_word_goes_at_once", only_the_first_word_goes_at_once},
    {"the_end_of_a_teams_context_acquires", the_end_of_a_teams_context_acquires},
    {"the_end_of_an_unknown_context_acquires", the_end_of_an_unknown_context_acquires},
    {"more_contexts_than_are_known", more_contexts_than_are_known},
    {"a_relaxed_atomic_is_seen_through_other_contexts",
     a_relaxed_atomic_is_seen_through_other_contexts},
    {"a_relaxed_atomic_through_an_unknown_context_acquires",
     a_relaxed_atomic_through_an_unknown_context_acquires},
    {"a_forked_child_writes_nothing_back", a_forked_child_writes_nothing_back},
    {"releases_complete_what_was_written", releases_complete_what_was_written},
    {"releases_start_what_was_written_through_other_contexts",
     releases_start_what_was_written_through_other_contexts},
    {"a_context_that_goes_completes_what_was_written",
     a_context_that_goes_completes_what_was_written},
    {"a_quiet_after_a_non_blocking_get_acquires", a_quiet_after_a_non_blocking_get_acquires},
    {"what_was_put_past_the_cache_has_arrived_when_a_lock_goes",
     what_was_put_past_the_cache_has_arrived_when_a_lock_goes},
    {"a_quiet_goes_down_though_nothing_was_written", a_quiet_goes_down_though_nothing_was_written},
    {"what_was_fetched_ahead_is_here_after_a_quiet", what_was_fetched_ahead_is_here_after_a_quiet},
    {"a_range_becomes_uncached", a_range_becomes_uncached},
    {"a_put_to_an_uncached_range_goes_at_once", a_put_to_an_uncached_range_goes_at_once},
    {"what_follows_a_put_with_a_used_signal_is_ordered_behind_it",
     what_follows_a_put_with_a_used_signal_is_ordered_behind_it},
    {"own_memory_is_never_cached", own_memory_is_never_cached},
    {NULL, NULL}};
