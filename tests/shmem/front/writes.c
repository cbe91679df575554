/* Puts arrive at their place and in program order, whichever path they take. */
#include <stdlib.h>

#include "front.h"

#define COUNT 4096
static long data[COUNT];
static long flag;

static void put_then_barrier(void) {
  for (int i = 0; i < COUNT; ++i) shmem_long_p(&data[i], me * COUNT + i, right);
  shmem_barrier_all();
  for (int i = 0; i < COUNT; ++i) EXPECT(data[i], left * COUNT + i);
}

/* The flag is an atomic: it bypasses the cache, and must not overtake what a quiet completed. */
static void put_then_quiet_then_atomic(void) {
  for (int round = 1; round <= 50; ++round) {
    for (int i = 0; i < 64; ++i) shmem_long_p(&data[i * 8], round * 100 + i, right);
    shmem_quiet();
    shmem_long_atomic_set(&flag, round, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    for (int i = 0; i < 64; ++i) EXPECT(data[i * 8], round * 100 + i);
    shmem_barrier_all();
  }
}

static void own_puts_are_read_back(void) {
  for (int i = 0; i < COUNT; ++i) {
    shmem_long_p(&data[i], i, right);
    EXPECT(shmem_long_g(&data[i], right), i);
    if (i % 100 == 50) EXPECT(shmem_long_g(&data[i - 49], right), i - 49);
  }
  shmem_char_p((char*)&data[7] + 3, 5, right);
  EXPECT(shmem_char_g((char*)&data[7] + 3, right), 5);
  EXPECT(shmem_char_g((char*)&data[7], right), 7);
  shmem_quiet();
  EXPECT(shmem_long_g(&data[7], right), 7 + (5L << 24));
}

/* Two PEs write adjacent bytes of one line. */
static void bytes_of_one_line_by_two_pes(void) {
  char* bytes = (char*)data;
  for (int i = 0; i < COUNT; ++i) {
    if (i % pes == me) shmem_char_p(&bytes[i], (char)(i % 100 + 1), 0);
    if (i % 512 == 0) (void)shmem_char_g(&bytes[i], 0);
  }
  shmem_barrier_all();
  if (me == 0) {
    for (int i = 0; i < COUNT; ++i) EXPECT(bytes[i], i % 100 + 1);
  }
}

static void large_over_small_and_small_over_large(void) {
  enum { large = 3000 };
  long *from = malloc(large * sizeof *from), *to = malloc(large * sizeof *to);
  for (int i = 0; i < large; ++i) from[i] = -i;
  for (int i = 0; i < large; i += 10) shmem_long_p(&data[i], 1, right);
  shmem_long_put(data, from, large, right); /* overwrites dirty data */
  shmem_long_p(&data[1000], 77, right);
  shmem_quiet();
  EXPECT(shmem_long_g(&data[1000], right), 77);
  EXPECT(shmem_long_g(&data[2990], right), -2990);
  shmem_long_p(&data[20], 78, right);
  shmem_long_get(to, data, large, right); /* includes dirty data */
  EXPECT(to[20], 78);
  EXPECT(to[1000], 77);
  EXPECT(to[1001], -1001);
  shmem_barrier_all();
  EXPECT(data[20], 78);
  EXPECT(data[10], -10);
  free(from);
  free(to);
}

/* Between the large put and the quiet a get may return the old value; after the quiet it may not.
 * */
static void what_is_read_under_a_large_put_is_not_kept(void) {
  static long from[2048];
  for (int round = 1; round <= 50; ++round) {
    for (int i = 0; i < 2048; ++i) from[i] = round;
    shmem_long_put(data, from, 2048, right);
    (void)shmem_long_g(&data[2047], right);
    (void)shmem_long_g(&data[round], right);
    shmem_quiet();
    EXPECT(shmem_long_g(&data[2047], right), round);
    EXPECT(shmem_long_g(&data[round], right), round);
  }
}

static void non_blocking_ones(void) {
  static long from[2048], to[2048];
  for (int i = 0; i < 2048; ++i) from[i] = i + 1;
  for (int i = 0; i < 512; ++i) shmem_long_put_nbi(&data[i], &from[i], 1, right);
  shmem_long_put_nbi(&data[512], &from[512], 1536, right);
  shmem_quiet();
  for (int i = 0; i < 2048; ++i) shmem_long_get_nbi(&to[i], &data[i], 1, right);
  shmem_quiet();
  for (int i = 0; i < 2048; ++i) EXPECT(to[i], i + 1);
  for (int i = 0; i < 512; ++i) shmem_long_p(&data[(i * 37) % 2048], 9, right);
  for (int i = 0; i < 512; ++i) shmem_long_get_nbi(&to[i], &data[(i * 37) % 2048], 1, right);
  shmem_quiet();
  for (int i = 0; i < 512; ++i) EXPECT(to[i], 9);
}

static void strided_ones(void) {
  static long from[64], to[64];
  for (int i = 0; i < 64; ++i) from[i] = 1000 + i;
  for (int i = 0; i < 256; ++i) shmem_long_p(&data[i], i, right);
  shmem_long_iput(data, from, 4, 1, 64, right);
  shmem_quiet();
  for (int i = 0; i < 256; ++i)
    EXPECT(shmem_long_g(&data[i], right), i % 4 == 0 ? 1000 + i / 4 : i);
  for (int i = 0; i < 64; ++i) shmem_long_p(&data[i * 4 + 1], -i, right);
  shmem_long_iget(to, data + 1, 1, 4, 64, right);
  for (int i = 0; i < 64; ++i) EXPECT(to[i], -i);
}

static void atomics_over_cached_pages(void) {
  for (int i = 0; i < 64; ++i) shmem_long_p(&data[i], i, right);
  EXPECT(shmem_long_atomic_fetch_add(&data[5], 100, right), 5); /* dirty: must be put first */
  EXPECT(shmem_long_g(&data[5], right), 105);
  EXPECT(shmem_long_g(&data[6], right), 6);
  EXPECT(shmem_long_atomic_compare_swap(&data[6], 6, 60, right), 6);
  EXPECT(shmem_long_g(&data[6], right), 60);
  for (int i = 0; i < 64; ++i) shmem_long_atomic_add(&data[i], 1, right);
  (void)shmem_long_g(&data[9], right);
  shmem_quiet();
  for (int i = 7; i < 64; ++i) EXPECT(shmem_long_g(&data[i], right), i + 1);
  shmem_barrier_all();
  for (int i = 0; i < 200; ++i) {
    /* other dirty data are written back, too */
    for (int k = 0; k < 2 && i % 10 == 0; ++k) shmem_long_p(&data[i / 5 + k], i, right);
    (void)shmem_long_atomic_fetch_inc(&flag, 0);
  }
  shmem_barrier_all();
  EXPECT(shmem_long_g(&flag, 0), 200 * pes);
}

/* Calls of zero bytes transfer nothing, whatever their addresses, and mark nothing dirty. */
static void zero_bytes(void) {
  long here = 3;
  for (int i = 0; i < 128; ++i) data[i] = i;
  shmem_barrier_all();
  shmem_long_p(&data[3], 30, right); /* so that the page is present */
  for (int i = 0; i < 128; ++i) shmem_long_put(&data[i], &here, 0, right);
  for (int i = 0; i < 128; ++i) shmem_char_get((char*)&here, (char*)&data[0] + i, 0, right);
  EXPECT(here, 3);
  for (int i = 0; i < 128; ++i) EXPECT(shmem_long_g(&data[i], right), i == 3 ? 30 : i);
  shmem_barrier_all();
  for (int i = 0; i < 128; ++i) EXPECT(data[i], i == 3 ? 30 : i);
}

const struct front_case write_cases[] = {
    {"put_then_barrier", put_then_barrier},
    {"put_then_quiet_then_atomic", put_then_quiet_then_atomic},
    {"own_puts_are_read_back", own_puts_are_read_back},
    {"bytes_of_one_line_by_two_pes", bytes_of_one_line_by_two_pes},
    {"large_over_small_and_small_over_large", large_over_small_and_small_over_large},
    {"what_is_read_under_a_large_put_is_not_kept", what_is_read_under_a_large_put_is_not_kept},
    {"non_blocking_ones", non_blocking_ones},
    {"strided_ones", strided_ones},
    {"atomics_over_cached_pages", atomics_over_cached_pages},
    {"zero_bytes", zero_bytes},
    {NULL, NULL}};
