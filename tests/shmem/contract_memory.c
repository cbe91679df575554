// Symmetric memory: its ends, and blocks that are freed, reallocated, moved or left uncached.
#include "contract.h"

static unsigned char last_of_data[100];

// What lies behind an allocation or an object is neither read nor written, however small the access
// to its end.
static void the_ends_of_memory(void) {
  const int other = (me + 1) % pes;
  for (size_t bytes = 1; bytes <= 200000; bytes = bytes * 5 + 3) {
    unsigned char* block = shmem_malloc(bytes);
    fill(block, bytes, me);
    shmem_barrier_all();
    unsigned char seen[64];
    for (size_t length = 1; length <= 64 && length <= bytes; ++length) {
      nearcache_shmem_prefetch(block + bytes - length, length, other);
      nearcache_shmem_prefetch(block + bytes - length, (size_t)1 << 40, other);
      shmem_getmem(seen, block + bytes - length, length, other);
      CHECK_EQUAL(seen[length - 1],
                  (unsigned char)(other * 59 + (int)(bytes - 1) * 7 + (int)((bytes - 1) >> 8) * 3));
    }
    shmem_barrier_all();
    shmem_uchar_p(block + bytes - 1, (unsigned char)(100 + me), other);
    CHECK_EQUAL(shmem_uchar_g(block + bytes - 1, other), (unsigned char)(100 + me));
    shmem_uchar_p(block, (unsigned char)(200 + me), other);
    shmem_barrier_all();
    CHECK_EQUAL(block[0], (unsigned char)(200 + (me + pes - 1) % pes));
    shmem_free(block);
  }
}

static void the_ends_of_static_data(void) {
  extern char _end[], __data_start[];  // of this program's data
  const int other = (me + 1) % pes;
  char seen[64];
  last_of_data[99] = (unsigned char)(me + 3);
  shmem_barrier_all();
  CHECK_EQUAL(shmem_uchar_g(&last_of_data[99], other), other + 3);
  for (int length = 1; length <= 64; length += 9) {
    nearcache_shmem_prefetch(_end - length, 100000000, other);
    shmem_getmem(seen, _end - length, (size_t)length, other);
    nearcache_shmem_prefetch(__data_start, (size_t)length, other);
  }
  nearcache_shmem_prefetch(_end, 1, other);
  nearcache_shmem_prefetch(seen, sizeof seen, other);  // not symmetric memory
  nearcache_shmem_prefetch(NULL, 8, other);
  nearcache_shmem_prefetch(last_of_data, 8, pes);
  nearcache_shmem_prefetch(last_of_data, 8, -1);
  nearcache_shmem_prefetch(last_of_data, 0, other);
  shmem_quiet();
}

// Sequential reads up to the end of memory: nothing beyond it is read ahead.
static void reading_ahead_ends_with_the_memory(void) {
  enum { count = 6001 };
  long* block = shmem_malloc(count * sizeof *block);
  const int other = (me + 1) % pes;
  for (long i = 0; i < count; ++i) block[i] = i * (me + 1);
  shmem_barrier_all();
  for (long i = 0; i < count; ++i) CHECK_EQUAL(shmem_long_g(&block[i], other), i * (other + 1));
  shmem_barrier_all();
  for (long i = count - 1; i >= 0; --i)
    CHECK_EQUAL(shmem_long_g(&block[i], other), i * (other + 1));
  shmem_barrier_all();
  for (long i = 3; i < count; i += 111)
    CHECK_EQUAL(shmem_long_g(&block[i], other), i * (other + 1));
  shmem_free(block);
}

static void check_block(const unsigned char* block, size_t bytes, int seed) {
  shmem_quiet();
  shmem_barrier_all();
  shmem_barrier_all();
  CHECK_BYTES(block, bytes, seed);
}

// A put to a block that is freed before the put completes never reaches the block that takes its
// place.
static void a_block_freed_while_dirty(void) {
  enum { bytes = 3000 };
  const int other = (me + 1) % pes;
  for (int round = 1; round <= 20; ++round) {
    unsigned char *block = shmem_malloc(bytes), values[100], seen[300];
    shmem_getmem(seen, block + 1000, sizeof seen, other);
    memset(values, 0xab, sizeof values);
    for (int i = 0; i < 10; ++i) shmem_putmem(block + 237 * i, values, sizeof values, other);
    shmem_putmem(block + 1000, values, 7, (me + 2) % pes);
    shmem_free(block);
    unsigned char* again = shmem_malloc(bytes);
    fill(again, bytes, round + me);
    shmem_barrier_all();
    shmem_getmem(seen, again, sizeof seen, other);
    CHECK_BYTES(seen, sizeof seen, round + other);
    shmem_getmem(values, again + bytes - sizeof values, sizeof values, other);
    check_block(again, bytes, round + me);
    shmem_free(again);
  }
}

// OpenSHMEM has a barrier at the end of a reallocation, not at its beginning: a block to which
// others put meanwhile must stay where it is.
static void a_block_reallocated_while_dirty(void) {
  enum { bytes = 2000 };
  const int other = (me + 1) % pes;
  for (int round = 1; round <= 10; ++round) {
    unsigned char *block = shmem_malloc(bytes), values[bytes], seen[bytes];
    shmem_getmem(seen, block, bytes, other);
    fill(values, bytes, round);
    const size_t left = round % 2 ? bytes : bytes / 2;
    for (size_t i = 0; i < left; i += 50) shmem_putmem(block + i, values + i, 50, other);
    if (round % 2) shmem_barrier_all();
    unsigned char* moved = shmem_realloc(block, round % 2 ? 60 * bytes : bytes / 2);
    CHECK_BYTES(moved, left, round);
    shmem_getmem(seen, moved, left, other);
    CHECK_BYTES(seen, left, round);
    // Nothing arrives late, neither at the old place nor at the new one.
    unsigned char* filler = shmem_malloc(bytes);
    fill(filler, bytes, round + 1);
    check_block(filler, bytes, round + 1);
    CHECK_BYTES(moved, left, round);
    shmem_free(filler);
    shmem_free(moved);
  }
}

static void zeroed_blocks_are_seen_as_zeros(void) {
  enum { count = 300 };
  const int other = (me + 1) % pes;
  for (int round = 0; round < 10; ++round) {
    long* block = shmem_calloc(count, sizeof *block);
    shmem_barrier_all();  // Open MPI 4.1.4 zeroes its block after the barrier of the allocation
    for (int i = 0; i < count; i += 7) CHECK_EQUAL(shmem_long_g(&block[i], other), 0);
    shmem_barrier_all();
    for (int i = 0; i < count; i += 3) shmem_long_p(&block[i], i + 1, other);
    shmem_barrier_all();
    for (int i = 0; i < count; ++i) CHECK_EQUAL(block[i], i % 3 == 0 ? i + 1 : 0);
    shmem_free(block);
  }
}

// Data read before the call may be old; data read after it include everything written before it.
static void allocating_and_freeing_synchronise(void) {
  clean();
  long* words = (long*)heap;
  const int other = (me + 1) % pes;
  for (long round = 1; round <= 20; ++round) {
    shmem_barrier_all();
    *(volatile long*)&words[5] = 2 * round - 1;
    shmem_long_g(&words[5], other);
    void* block = shmem_malloc(100);
    CHECK_EQUAL(shmem_long_g(&words[5], other), 2 * round - 1);
    shmem_barrier_all();
    *(volatile long*)&words[5] = 2 * round;
    shmem_long_g(&words[5], other);
    shmem_free(block);
    CHECK_EQUAL(shmem_long_g(&words[5], other), 2 * round);
  }
}

static void aligned_blocks_are_cached_as_others(void) {
  unsigned char *block = shmem_align(4096, 5000), seen[100];
  const int other = (me + 1) % pes;
  fill(block, 5000, me);
  shmem_barrier_all();
  for (int i = 0; i < 50; ++i) {
    shmem_getmem(seen, block + 90 * i, 100, other);
    CHECK_EQUAL(seen[99],
                (unsigned char)(other * 59 + (90 * i + 99) * 7 + ((90 * i + 99) >> 8) * 3));
  }
  shmem_free(block);
}

// Ranges that the program excludes from the cache are written at once and never served from it.
static void uncached_ranges_are_always_fresh(void) {
  clean();
  long* words = (long*)heap;
  const int other = (me + 1) % pes, before = (me + pes - 1) % pes;
  shmem_long_p(&words[100 + me], 5, other);
  shmem_long_g(&words[101], other);
  const int done = nearcache_shmem_uncached(&words[100], 16 * sizeof *words);
  CHECK(done == NEARCACHE_SHMEM_OK || done == NEARCACHE_SHMEM_ABSENT);
  shmem_barrier_all();
  CHECK_EQUAL(words[100 + before], 5);
  shmem_barrier_all();
  for (long round = 1; round <= 30; ++round) {
    shmem_long_p(&words[100 + me], round, other);  // only the library completes this put
    while (load(&words[100 + before]) != round)
      if (over_tcp()) progress();
    CHECK_EQUAL(shmem_long_g(&words[100 + me], other), round);
    shmem_sync_all();
  }
}

// The same for a whole line of a page in which other words are dirty. Each PE changes its own copy
// and says so without a call that acquires.
static void uncached_ranges_in_dirty_pages_are_always_fresh(void) {
  enum { count = 8, page = 1024 };
  clean();
  long* words = (long*)(heap + 4 * page - (uintptr_t)heap % page);  // cached before
  long *range = &words[count], *told = &words[4 * count], line[count];
  const int other = (me + 1) % pes, before = (me + pes - 1) % pes;
  nearcache_shmem_uncached(range, sizeof line);
  nearcache_shmem_uncached(told, sizeof *told);
  shmem_barrier_all();
  for (long round = 1; round <= 10; ++round) {
    for (int i = 0; i < 3; ++i) shmem_long_p(&words[i], round, other);
    for (int i = 0; i < count; ++i) line[i] = round;
    shmem_long_put(range, line, count, other);
    shmem_quiet();
    for (int i = 0; i < count; ++i) {
      while (load(&range[i]) != round)
        if (over_tcp()) progress();
    }
    *(volatile long*)range = -round;
    shmem_long_p(told, round, before);
    while (load(told) != round)
      if (over_tcp()) progress();
    CHECK_EQUAL(shmem_long_g(range, other), -round);
    shmem_sync_all();
  }
}

const struct test_case memory_cases[] = {
    {"the_ends_of_memory", the_ends_of_memory},
    {"the_ends_of_static_data", the_ends_of_static_data},
    {"reading_ahead_ends_with_the_memory", reading_ahead_ends_with_the_memory},
    {"a_block_freed_while_dirty", a_block_freed_while_dirty},
    {"a_block_reallocated_while_dirty", a_block_reallocated_while_dirty},
    {"zeroed_blocks_are_seen_as_zeros", zeroed_blocks_are_seen_as_zeros},
    {"allocating_and_freeing_synchronise", allocating_and_freeing_synchronise},
    {"aligned_blocks_are_cached_as_others", aligned_blocks_are_cached_as_others},
    {"uncached_ranges_are_always_fresh", uncached_ranges_are_always_fresh},
    {"uncached_ranges_in_dirty_pages_are_always_fresh",
     uncached_ranges_in_dirty_pages_are_always_fresh},
};
const size_t memory_case_count = sizeof memory_cases / sizeof *memory_cases;
