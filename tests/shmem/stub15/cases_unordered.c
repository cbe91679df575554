/* Atomics, and calls of programs that order them themselves. */
#include "cases.h"

/* Words in a line that was read, in a dirty line, and where atomics are performed. */
static long* read_word(void) { return word_at(0); }
static long* dirty_word(void) { return word_at(16 << 10); }
static long* target(void) { return word_at(32 << 10); }

static void read_and_write(void) {
  begin();
  (void)shmem_long_g(read_word(), 1);
  shmem_long_p(dirty_word(), 5, 1);
  stub_clear();
}

static void a_get_after_a_fetching_atomic_pays_no_quiet(void) {
  (void)shmem_long_atomic_fetch_add(target(), 1, 1);
  stub_clear();
  (void)shmem_long_g(target(), 1);
  EXPECT(arrived("getmem") == 1);
  EXPECT(arrived("quiet") == 0);
  EXPECT(arrived("fence") == 0);
}

/* A put to the word itself precedes the atomic, and is complete before a get. */
static void a_put_before_a_fetching_atomic_is_ordered(void) {
  begin();
  shmem_long_p(target(), 3, 1);
  shmem_long_p(target() + 1, 4, 1);
  stub_clear();
  (void)shmem_long_atomic_fetch_add(target(), 1, 1);
  EXPECT(put_arrived(target()));
  EXPECT(arrived("fence") == 1);
  stub_clear();
  EXPECT(shmem_long_g(target() + 1, 1) == 4);
}

static void ordered_atomics_acquire_and_start_write_back(void) {
  read_and_write();
  (void)shmem_long_atomic_fetch_add(target(), 1, 1);
  EXPECT(put_arrived(dirty_word()));
  stub_clear();
  (void)shmem_long_g(read_word(), 1);
  EXPECT(arrived("getmem") == 1);
}

static void unordered_calls_cost_the_cache_nothing(void) {
  EXPECT(nearcache_shmem_set_unordered(1) == 0);
  read_and_write();
  (void)shmem_long_atomic_fetch_add(target(), 1, 1);
  (void)shmem_long_atomic_fetch(target(), 1);
  stub_result = 1;
  EXPECT(shmem_long_test(word_at(48 << 10), SHMEM_CMP_NE, 0) == 1);
  long value = 0;
  shmem_long_get_nbi(&value, word_at(64 << 10), 1, 1);
  EXPECT(!put_arrived(dirty_word()));
  EXPECT(arrived("quiet") == 0);
  shmem_quiet(); /* completes the get, and is no acquire for it */
  stub_clear();
  (void)shmem_long_g(read_word(), 1);
  EXPECT(stub_calls() == 0);
  EXPECT(nearcache_shmem_set_unordered(0) == 1);
  ordered_atomics_acquire_and_start_write_back();
}

/* Atomics are never served: each accesses the target, and what was read there before is fetched
 * again. */
static void unordered_atomics_drop_what_they_change(void) {
  nearcache_shmem_set_unordered(1);
  (void)shmem_long_g(target(), 1);
  (void)shmem_long_atomic_fetch_add(target(), 1, 1);
  *(long*)stub_remote(target()) = 17;
  EXPECT(shmem_long_g(target(), 1) == 17);
}

/* A loop of them may wait for the answer to something written before. */
static void spinning_on_unordered_atomics_starts_write_back(void) {
  nearcache_shmem_set_unordered(1);
  read_and_write();
  for (int i = 0; i < 100; i++) (void)shmem_long_atomic_fetch(target(), 1);
  EXPECT(put_arrived(dirty_word()));
}

/* Run where no cache can be created; the query comes before any access. */
static void caching_is_denied_where_there_is_no_memory_for_it(void) {
  EXPECT(nearcache_shmem_caching() == 0);
  shmem_long_p(target(), 1, 1);
  EXPECT(put_arrived(target()));
}

/* The answer also holds to the end, unless the program itself excludes the context. */
static void caching_is_said_before_the_first_access_and_holds(void) {
  EXPECT(nearcache_shmem_caching() == 1);
  shmem_long_p(target(), 1, 1);
  (void)shmem_long_g(read_word(), 1);
  EXPECT(nearcache_shmem_caching() == 1);
  EXPECT(nearcache_shmem_ctx_uncached(SHMEM_CTX_DEFAULT) == NEARCACHE_SHMEM_OK);
  EXPECT(remote_value(target()) == 1);
  EXPECT(nearcache_shmem_caching() == 0);
}

const struct stub_case unordered_cases[] = {
    {"a_get_after_a_fetching_atomic_pays_no_quiet", a_get_after_a_fetching_atomic_pays_no_quiet},
    {"a_put_before_a_fetching_atomic_is_ordered", a_put_before_a_fetching_atomic_is_ordered},
    {"ordered_atomics_acquire_and_start_write_back", ordered_atomics_acquire_and_start_write_back},
    {"unordered_calls_cost_the_cache_nothing", unordered_calls_cost_the_cache_nothing},
    {"unordered_atomics_drop_what_they_change", unordered_atomics_drop_what_they_change},
    {"spinning_on_unordered_atomics_starts_write_back",
     spinning_on_unordered_atomics_starts_write_back},
    {"caching_is_denied_where_there_is_no_memory_for_it",
     caching_is_denied_where_there_is_no_memory_for_it},
    {"caching_is_said_before_the_first_access_and_holds",
     caching_is_said_before_the_first_access_and_holds},
    {NULL, NULL}};
