/* The functions of nearcache/shmem.h. Without the library they do nothing, and the rest of each
 * case still holds. */
#include "front.h"

static long data[2048];
static long flag;

static int there(void) { return nearcache_shmem_caching(); }

/* Reads of the range see every store of the owner at once, after the owner has announced it by a
 * message that the table of calls does not know. */
static void uncached_ranges(void) {
  for (int i = 0; i < 64; ++i) shmem_long_p(&data[i], i, right);
  EXPECT(nearcache_shmem_uncached(&data[8], 16 * sizeof *data),
         there() ? NEARCACHE_SHMEM_OK : NEARCACHE_SHMEM_ABSENT);
  for (int i = 0; i < 64; ++i) EXPECT(shmem_long_g(&data[i], right), i);
  const nearcache_stats before = counted();
  for (int i = 0; i < 50; ++i) EXPECT(shmem_long_g(&data[10], right), 10);
  for (int i = 0; i < 50; ++i) shmem_long_p(&data[11], i, right);
  const nearcache_stats after = counted();
  if (there()) {
    EXPECT(after.bypassed - before.bypassed, 50);
    EXPECT(after.puts_bypassed - before.puts_bypassed, 50);
  }
  shmem_quiet();
  EXPECT(shmem_long_g(&data[11], right), 49);
  long both[64];
  shmem_long_get(both, data, 64, right); /* extends beyond both ends of the range */
  EXPECT(both[0], 0);
  EXPECT(both[11], 49);
  EXPECT(both[63], 63);
  if (there()) {
    EXPECT(nearcache_shmem_uncached(&before, sizeof before), NEARCACHE_SHMEM_ARGUMENT);
    EXPECT(nearcache_shmem_uncached(data, 0), NEARCACHE_SHMEM_ARGUMENT);
  }
}

/* No gets through the context: Open MPI 4 may hang in finalize after a context with few transfers
 * whose last ones are gets. */
static void uncached_contexts(void) {
  shmem_ctx_t ctx;
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  shmem_ctx_long_p(ctx, &data[1], 41, right);
  EXPECT(nearcache_shmem_ctx_uncached(ctx), there() ? NEARCACHE_SHMEM_OK : NEARCACHE_SHMEM_ABSENT);
  if (!there()) shmem_ctx_quiet(ctx);
  EXPECT(shmem_long_g(&data[1], right), 41);
  const nearcache_stats before = counted();
  shmem_ctx_long_p(ctx, &data[1], 42, right);
  shmem_ctx_quiet(ctx);
  EXPECT(shmem_long_g(&data[1], right), 42);
  if (there()) EXPECT(counted().puts_bypassed - before.puts_bypassed, 1);
  shmem_ctx_destroy(ctx);
}

static void the_default_context_uncached(void) {
  const int cached = there(); /* until it is no longer cached */
  shmem_long_p(&data[1], 42, right);
  EXPECT(nearcache_shmem_ctx_uncached(SHMEM_CTX_DEFAULT),
         cached ? NEARCACHE_SHMEM_OK : NEARCACHE_SHMEM_ABSENT);
  EXPECT(there(), 0);
  if (!cached) shmem_quiet();
  EXPECT(shmem_long_g(&data[1], right), 42);
  shmem_long_p(&data[2], 43, right);
  if (cached) EXPECT(counted().puts_bypassed, 1);
  if (cached) EXPECT(counted().bypassed, 1);
  shmem_barrier_all();
  EXPECT(data[2], 43);
}

static void prefetches_of_anything(void) {
  for (int i = 0; i < 2048; ++i) data[i] = me * 2048 + i;
  shmem_barrier_all();
  for (int i = 0; i < 2048; i += 8) {
    nearcache_shmem_prefetch(&data[(i + 64) % 2048], sizeof(long), right);
    EXPECT(shmem_long_g(&data[i], right), right * 2048 + i);
  }
  nearcache_shmem_prefetch(&data[2000], 1 << 30, right);
  nearcache_shmem_prefetch(NULL, 100, right);
  nearcache_shmem_prefetch(&me, 4096, right);
  nearcache_shmem_prefetch(data, 100, pes);
  nearcache_shmem_prefetch(data, 100, -1);
  nearcache_shmem_prefetch(data, 100, me);
  nearcache_shmem_prefetch(data, 0, right);
  if (there()) EXPECT(nearcache_shmem_prefetch_distance() > 0, 1);
  EXPECT(shmem_long_g(&data[2000], right), right * 2048 + 2000);
}

/* The reader learns of the owner's store in a way that Nearcache does not see (here, by loads) and
 * acquires by an explicit call. */
static void acquires_and_releases_by_hand(void) {
  (void)shmem_long_g(&data[0], right);
  shmem_long_p(&flag, 7 + me, right);
  nearcache_shmem_release();
  if (!there()) shmem_quiet();
  volatile long* mine = &flag;
  /* so that the loop does not acquire; the atomics let the OpenSHMEM library make progress */
  nearcache_shmem_set_relaxed_atomics(1);
  while (*mine == 0) (void)shmem_long_atomic_fetch(&data[1], right);
  nearcache_shmem_set_relaxed_atomics(0);
  EXPECT(*mine, 7 + left);
  nearcache_shmem_acquire();
  EXPECT(shmem_long_g(&flag, right), 7 + me);
}

/* With relaxed atomics a hit remains a hit after one; otherwise it does not. */
static void relaxed_atomics(void) {
  for (int relaxed = 0; relaxed <= 1; ++relaxed) {
    nearcache_shmem_set_relaxed_atomics(relaxed);
    (void)shmem_long_g(&data[100], right);
    const nearcache_stats before = counted();
    (void)shmem_long_atomic_fetch_add(&data[500], 1, right);
    (void)shmem_long_g(&data[100], right);
    const nearcache_stats after = counted();
    if (there()) EXPECT(after.hits_full - before.hits_full, relaxed);
  }
  const int was = nearcache_shmem_set_relaxed_atomics(0);
  if (there()) EXPECT(was, 1);
  shmem_barrier_all();
  EXPECT(shmem_long_g(&data[500], right), 2);
}

const struct front_case api_cases[] = {
    {"uncached_ranges", uncached_ranges},
    {"uncached_contexts", uncached_contexts},
    {"the_default_context_uncached", the_default_context_uncached},
    {"prefetches_of_anything", prefetches_of_anything},
    {"acquires_and_releases_by_hand", acquires_and_releases_by_hand},
    {"relaxed_atomics", relaxed_atomics},
    {NULL, NULL}};
