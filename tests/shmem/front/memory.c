/* The symmetric heap and static data: ends of segments, blocks that are freed. */
#include <stdlib.h>
#include <string.h>

#include "front.h"

static long scattered[3][200]; /* zero-filled memory */
static long given[300] = {[299] = 4};

/* The new block has the old one's address: nothing that was put to the old one may arrive in it. */
static void nothing_is_written_back_to_a_freed_block(void) {
  for (int round = 0; round < 10; ++round) {
    long* block = shmem_malloc(5000 * sizeof *block);
    for (int i = 0; i < 5000; i += 7) shmem_long_p(&block[i], -1, right);
    shmem_free(block);
    long* again = shmem_malloc(5000 * sizeof *again);
    for (int i = 0; i < 5000; ++i) again[i] = round;
    shmem_barrier_all();
    for (int i = 0; i < 5000; ++i) EXPECT(again[i], round);
    for (int i = 0; i < 5000; i += 13) EXPECT(shmem_long_g(&again[i], right), round);
    shmem_barrier_all();
    shmem_free(again);
  }
  shmem_free(NULL);
}

static void a_block_that_moves_takes_its_contents(void) {
  long* block = shmem_malloc(100 * sizeof *block);
  for (int i = 0; i < 100; ++i) shmem_long_p(&block[i], 100 + i, right);
  block = shmem_realloc(block, 40000 * sizeof *block);
  for (int i = 0; i < 100; ++i) {
    EXPECT(block[i], 100 + i);
    EXPECT(shmem_long_g(&block[i], right), 100 + i);
  }
  shmem_barrier_all();
  for (int i = 0; i < 40000; i += 100) shmem_long_p(&block[i], i, right);
  block = shmem_realloc(block, 10 * sizeof *block);
  EXPECT(block[0], 0);
  EXPECT(block[1], 101);
  shmem_free(block);
}

/* Surrounding bytes are fetched along with an access only as far as they exist. */
static void the_first_and_last_bytes_of_every_segment(void) {
  char* heap[4];
  for (int i = 0; i < 4; ++i) {
    heap[i] = shmem_malloc(1000 + (size_t)i);
    memset(heap[i], i + 1, 1000 + (size_t)i);
  }
  for (int i = 0; i < 200; ++i) scattered[2][i] = 5 + i;
  shmem_barrier_all();
  for (int i = 0; i < 4; ++i) {
    EXPECT(shmem_char_g(heap[i], right), i + 1);
    EXPECT(shmem_char_g(heap[i] + 999 + i, right), i + 1);
    nearcache_shmem_prefetch(heap[i] + 990, 1 << 20, right);
  }
  EXPECT(shmem_long_g(&scattered[2][199], right), 204);
  EXPECT(shmem_long_g(&scattered[0][0], right), 0);
  EXPECT(shmem_long_g(&given[299], right), 4);
  EXPECT(shmem_long_g(&given[0], right), 0);
  nearcache_shmem_prefetch(&scattered[2][199], 4096, right);
  nearcache_shmem_prefetch(&given[0], 4096, right);
  shmem_quiet();
  EXPECT(shmem_long_g(&given[1], right), 0);
  shmem_barrier_all();
  for (int i = 3; i >= 0; --i) shmem_free(heap[i]);
}

static void whole_arrays_forwards_and_backwards(void) {
  enum { count = 20000 };
  int *block = shmem_calloc(count, sizeof *block),
      *other = shmem_align(4096, count * sizeof *other);
  for (int i = 0; i < count; ++i) {
    block[i] = me + i;
    other[i] = me - i;
  }
  shmem_barrier_all();
  for (int i = 0; i < count; ++i) EXPECT(shmem_int_g(&block[i], right), right + i);
  for (int i = count - 1; i >= 0; --i) EXPECT(shmem_int_g(&other[i], right), right - i);
  for (int i = 0; i < count; i += 50) EXPECT(shmem_int_g(&block[i], left), left + i);
  shmem_barrier_all();
  shmem_free(other);
  shmem_free(block);
}

const struct front_case memory_cases[] = {
    {"nothing_is_written_back_to_a_freed_block", nothing_is_written_back_to_a_freed_block},
    {"a_block_that_moves_takes_its_contents", a_block_that_moves_takes_its_contents},
    {"the_first_and_last_bytes_of_every_segment", the_first_and_last_bytes_of_every_segment},
    {"whole_arrays_forwards_and_backwards", whole_arrays_forwards_and_backwards},
    {NULL, NULL}};
