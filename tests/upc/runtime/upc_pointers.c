/* Arithmetic of pointers-to-shared against the layout rules, element by element. */
#include "check.h"

NCUPC_MODULE("upc_pointers.c", NULL, NULL);

/* Returns the position of element `i` of an array at `base`. */
static ncupc_ptr element(uint64_t base, size_t i, size_t size, size_t block) {
  if (block == 0) return ncupc_make(base + i * size, 0, 0);
  const size_t number = i / block, phase = i % block;
  return ncupc_make(base + (number / (size_t)THREADS * block + phase) * size,
                    number % (size_t)THREADS, phase);
}

static int same(ncupc_ptr a, ncupc_ptr b) {
  return ncupc_equal(a, b) && ncupc_phase(a) == ncupc_phase(b);
}

static void check_pair(uint64_t base, size_t i, size_t j, size_t size, size_t block) {
  const ncupc_ptr a = element(base, i, size, block), b = element(base, j, size, block);
  const ptrdiff_t distance = (ptrdiff_t)j - (ptrdiff_t)i;
  const ncupc_ptr moved = ncupc_add(a, distance, size, block);
  CHECK(same(moved, b), "%zu %+td of %zu bytes in blocks of %zu: thread %zu address %llu phase %zu",
        i, distance, size, block, ncupc_thread(moved), (unsigned long long)ncupc_address(moved),
        ncupc_phase(moved));
  CHECK(ncupc_diff(b, a, size, block) == distance,
        "%td from %zu to %zu, %zu bytes in blocks of %zu", ncupc_diff(b, a, size, block), i, j,
        size, block);
  CHECK(ncupc_compare(a, b, size, block) == (i > j) - (i < j), "%zu and %zu", i, j);
  CHECK(ncupc_equal(a, b) == (i == j) && (ncupc_integer(a) == ncupc_integer(b)) == (i == j),
        "%zu and %zu", i, j);
}

static void check_element(uint64_t base, size_t i, size_t size, size_t block) {
  const ncupc_ptr found = ncupc_element(ncupc_make(base, 0, 0), (ptrdiff_t)i, size, block);
  CHECK(same(found, element(base, i, size, block)), "%zu, %zu bytes in blocks of %zu", i, size,
        block);
}

/* Quotients and remainders by THREADS, at the limits of the range in which an inverse replaces the
 * division. */
static void check_rows(void) {
  const int64_t edges[] = {0,
                           1,
                           2,
                           THREADS,
                           (int64_t)THREADS * 1000003,
                           INT32_MAX,
                           (int64_t)UINT32_MAX,
                           (int64_t)UINT32_MAX * THREADS};
  for (size_t e = 0; e < sizeof edges / sizeof *edges; ++e) {
    for (int64_t n = edges[e] - 5; n <= edges[e] + 5; ++n) {
      size_t rest = 0;
      const int64_t rows = ncupc_rows(n, &rest);
      CHECK(rest < (size_t)THREADS && rows * THREADS + (int64_t)rest == n, "%lld", (long long)n);
    }
  }
}

static void check_layout(size_t count, size_t size, size_t block) {
  const uint64_t base = 1 << 20;
  uint64_t random = count * 31 + size * 7 + block;
  if (count <= 64) {
    for (size_t i = 0; i <= count; ++i) {
      for (size_t j = 0; j <= count; ++j) check_pair(base, i, j, size, block);
    }
  } else {
    for (int k = 0; k < 2000; ++k)
      check_pair(base, below(&random, count + 1), below(&random, count + 1), size, block);
  }
  size_t bytes[64] = {0}, largest = 0;
  for (size_t i = 0; i < count; ++i) {
    check_element(base, i, size, block);
    const ncupc_ptr p = element(base, i, size, block);
    bytes[ncupc_thread(p)] += size;
    const size_t end = ncupc_address(p) + size - base;
    if (end > largest) largest = end;
  }
  CHECK(ncupc_localsize(count, size, block) >= largest, "%zu of %zu bytes in blocks of %zu", count,
        size, block);
  CHECK(ncupc_localsize(count, size, block) < largest + (block ? block : 1) * size,
        "%zu of %zu in blocks of %zu", count, size, block);
  for (size_t t = 0; t < (size_t)THREADS; ++t) {
    CHECK(upc_affinitysize(count * size, block * size, t) == bytes[t], "thread %zu: %zu, not %zu",
          t, upc_affinitysize(count * size, block * size, t), bytes[t]);
  }
}

/* Results that the compiler can fold must equal those that it cannot. */
static void check_constants(void) {
  const ncupc_ptr p = element(4096, 77, 8, 4);
  CHECK(same(ncupc_add(p, 13, 8, 4), element(4096, 90, 8, 4)));
  CHECK(same(ncupc_add(p, -70, 8, 4), element(4096, 7, 8, 4)));
  CHECK(same(ncupc_add(element(4096, 5, 8, 1), -5, 8, 1), element(4096, 0, 8, 1)));
  CHECK(same(ncupc_add(element(4096, 5, 24, 0), -5, 24, 0), element(4096, 0, 24, 0)));
}

static void check_parts(void) {
  const ncupc_ptr p = ncupc_make(8000, (size_t)(THREADS - 1), 5);
  CHECK(upc_threadof(p) == (size_t)THREADS - 1 && upc_phaseof(p) == 5 && upc_addrfield(p) == 8000);
  CHECK(upc_phaseof(upc_resetphase(p)) == 0 && ncupc_equal(p, upc_resetphase(p)));
  const ncupc_ptr member = ncupc_field(p, 16);
  CHECK(ncupc_address(member) == 8016 && ncupc_phase(member) == 0 &&
        ncupc_thread(member) == ncupc_thread(p));
  CHECK(ncupc_is_null(NCUPC_NULL) && !ncupc_is_null(p) && ncupc_integer(NCUPC_NULL) == 0 &&
        ncupc_local(NCUPC_NULL) == NULL);
  static const ncupc_ptr null = NCUPC_NULL_INIT;
  CHECK(ncupc_equal(null, NCUPC_NULL));
  const ncupc_ptr last =
      ncupc_make(NCUPC_MAX_ADDRESS - 8, (size_t)THREADS - 1, UPC_MAX_BLOCK_SIZE - 1);
  CHECK(ncupc_address(last) == NCUPC_MAX_ADDRESS - 8 &&
        ncupc_phase(last) == UPC_MAX_BLOCK_SIZE - 1);
  CHECK(upc_threadof(ncupc_add(last, 1, 1, UPC_MAX_BLOCK_SIZE)) == 0);
}

int ncupc_main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  const size_t sizes[] = {1, 4, 8, 12, 24}, blocks[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 100, 1000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; ++b) {
      check_layout(1, sizes[s], blocks[b]);
      check_layout(37, sizes[s], blocks[b]);
      check_layout(5000, sizes[s], blocks[b]);
    }
  }
  check_constants();
  check_rows();
  check_parts();
  return verdict();
}
