/* Blocks allocated with hints, which lie in a separate heap: nothing between it and the other heap
 * may be read. */
#include <string.h>

#include "cases.h"

enum { block_bytes = 3 << 10 };

static char* hinted(void) { return shmem_malloc_with_hints(block_bytes, 1); }

/* Reads a range word by word, which triggers reading ahead. Returns whether every get that arrived
 * stayed within the range. */
static int reads_stay_inside(const char* range, size_t bytes) {
  int inside = 1;
  stub_clear();
  for (size_t at = 0; at + sizeof(long) <= bytes; at += sizeof(long))
    (void)shmem_long_g((const long*)(range + at), 1);
  for (int i = 0; i < stub_calls(); i++) {
    const struct stub_call* call = stub_call(i);
    if (!strstr(call->name, "getmem")) continue;
    const uint64_t from = call->arguments[1], begin = (uint64_t)(uintptr_t)range;
    inside = inside && from >= begin && from + call->arguments[2] <= begin + bytes;
  }
  return inside;
}

static void hinted_blocks_are_cached_by_themselves(void) {
  char* block = hinted();
  char* next = hinted();
  EXPECT(block != NULL && next != NULL);
  EXPECT(reads_stay_inside(block, block_bytes) && arrived("getmem") < 20);
  EXPECT(reads_stay_inside(next, block_bytes) && arrived("getmem") < 20);
  EXPECT(reads_stay_inside(heap, heap_bytes));
}

static void a_hinted_block_that_grows_stays_apart(void) {
  char* block = shmem_realloc(hinted(), 2 * block_bytes);
  EXPECT(block != NULL);
  EXPECT(reads_stay_inside(heap, heap_bytes));
  EXPECT(reads_stay_inside(block, 2 * block_bytes) && arrived("getmem") < 40);
}

static void a_hinted_block_that_is_freed_is_cached_no_more(void) {
  char* block = hinted();
  const long* word = (const long*)(block + 512);
  (void)shmem_long_g(word, 1);
  stub_clear();
  (void)shmem_long_g(word, 1);
  EXPECT(arrived("getmem") == 0);
  shmem_free(block);
  stub_clear();
  for (int i = 0; i < 3; i++) (void)shmem_long_g(word, 1);
  EXPECT(arrived("getmem") == 3);
  EXPECT(reads_stay_inside(heap, heap_bytes));
}

const struct stub_case hinted_cases[] = {
    {"hinted_blocks_are_cached_by_themselves", hinted_blocks_are_cached_by_themselves},
    {"a_hinted_block_that_grows_stays_apart", a_hinted_block_that_grows_stays_apart},
    {"a_hinted_block_that_is_freed_is_cached_no_more",
     a_hinted_block_that_is_freed_is_cached_no_more},
    {NULL, NULL}};
