/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers to shared: thread, address and phase, and their arithmetic. Part of
 * nearcache/upc_runtime.h.
 *
 * The address is a byte offset in the thread's part of the arena, never 0. An array element has the
 * same address in the arena of whichever thread it belongs to. There are two forms with one
 * interface:
 *   packed (default)            64 bits: phase 20, thread 10, address 34 (1,024 threads, 16 GiB per
 *                               thread, blocks of 1,048,576 elements)
 *   -DNCUPC_STRUCT_POINTERS     a struct of 16 bytes, for larger machines and blocks
 * All modules of a program and the runtime library must use the same form, which is checked when
 * the program starts.
 *
 * Everything is inline: with constant arguments (element size, block size, a static number of
 * threads) it folds to shifts and adds. Sizes are in bytes, block sizes in elements; block 0 is the
 * indefinite layout (all on one thread, phase always 0). */
#ifndef NEARCACHE_UPC_RUNTIME_POINTER_H
#define NEARCACHE_UPC_RUNTIME_POINTER_H

#include <stddef.h>
#include <stdint.h>

/* A program may have defined it itself before, and then <stddef.h> is not read again. */
#ifndef NULL
#define NULL ((void*)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Set before ncupc_main runs and constant from then on. ncupc_threads_inverse is (2^64 - 1) /
 * THREADS, rounded down. */
extern const int ncupc_threads, ncupc_mythread;
extern const uint64_t ncupc_threads_inverse;

#ifdef NCUPC_THREADS
#define THREADS NCUPC_THREADS
#else
#define THREADS ncupc_threads
#endif
#define MYTHREAD ncupc_mythread

#ifdef NCUPC_STRUCT_POINTERS

#undef UPC_MAX_BLOCK_SIZE
#define UPC_MAX_BLOCK_SIZE 2147483647
#define NCUPC_MAX_THREADS 16777216 /* a lock's queue names a thread in 24 bits */
#define NCUPC_MAX_ADDRESS ((uint64_t)1 << 40)

typedef struct {
  uint64_t address;
  uint32_t thread, phase;
} ncupc_ptr;

#define NCUPC_NULL_INIT \
  { 0, 0, 0 }
#ifdef __cplusplus
#define NCUPC_NULL (ncupc_make(0, 0, 0))
#else
#define NCUPC_NULL ((ncupc_ptr)NCUPC_NULL_INIT)
#endif

static inline ncupc_ptr ncupc_make(uint64_t address, size_t thread, size_t phase) {
  ncupc_ptr p;
  p.address = address;
  p.thread = (uint32_t)thread;
  p.phase = (uint32_t)phase;
  return p;
}
static inline uint64_t ncupc_address(ncupc_ptr p) { return p.address; }
static inline size_t ncupc_thread(ncupc_ptr p) { return p.thread; }
static inline size_t ncupc_phase(ncupc_ptr p) { return p.phase; }
static inline int ncupc_equal(ncupc_ptr a, ncupc_ptr b) {
  return a.address == b.address && a.thread == b.thread;
}
/* Adds bytes to the address; thread and phase stay the same. */
static inline ncupc_ptr ncupc_add_bytes(ncupc_ptr p, ptrdiff_t bytes) {
  p.address += (uint64_t)bytes;
  return p;
}
static inline ncupc_ptr ncupc_unphased(ncupc_ptr p) {
  p.phase = 0;
  return p;
}
/* Returns the result of a cast to an integer: equal for equal pointers, 0 for NULL. */
static inline uint64_t ncupc_integer(ncupc_ptr p) { return (uint64_t)p.thread << 40 | p.address; }

#else

#undef UPC_MAX_BLOCK_SIZE
#define UPC_MAX_BLOCK_SIZE 1048576
#define NCUPC_MAX_THREADS 1024
#define NCUPC_ADDRESS_BITS 34
#define NCUPC_THREAD_BITS 10
#define NCUPC_PHASE_SHIFT (NCUPC_ADDRESS_BITS + NCUPC_THREAD_BITS)
#define NCUPC_MAX_ADDRESS ((uint64_t)1 << NCUPC_ADDRESS_BITS)

typedef uint64_t ncupc_ptr;

#define NCUPC_NULL_INIT 0
#define NCUPC_NULL ((ncupc_ptr)0)

static inline ncupc_ptr ncupc_make(uint64_t address, size_t thread, size_t phase) {
  return (uint64_t)phase << NCUPC_PHASE_SHIFT | (uint64_t)thread << NCUPC_ADDRESS_BITS | address;
}
static inline uint64_t ncupc_address(ncupc_ptr p) { return p & (NCUPC_MAX_ADDRESS - 1); }
static inline size_t ncupc_thread(ncupc_ptr p) {
  return (size_t)(p >> NCUPC_ADDRESS_BITS) & (NCUPC_MAX_THREADS - 1);
}
static inline size_t ncupc_phase(ncupc_ptr p) { return (size_t)(p >> NCUPC_PHASE_SHIFT); }
static inline int ncupc_equal(ncupc_ptr a, ncupc_ptr b) {
  return ((a ^ b) << (64 - NCUPC_PHASE_SHIFT)) == 0;
}
static inline ncupc_ptr ncupc_add_bytes(ncupc_ptr p, ptrdiff_t bytes) {
  return p + (uint64_t)bytes;
}
static inline ncupc_ptr ncupc_unphased(ncupc_ptr p) {
  return p & (((uint64_t)1 << NCUPC_PHASE_SHIFT) - 1);
}
static inline uint64_t ncupc_integer(ncupc_ptr p) { return ncupc_unphased(p); }

#endif

static inline int ncupc_is_null(ncupc_ptr p) { return ncupc_address(p) == 0; }

/* Returns a pointer `bytes` further in the same thread, with phase 0: a member of a struct. */
static inline ncupc_ptr ncupc_field(ncupc_ptr p, size_t bytes) {
  return ncupc_unphased(ncupc_add_bytes(p, (ptrdiff_t)bytes));
}

/* Returns a pointer to another type: with the same phase if both types have the same layout, else
 * with phase 0. */
static inline ncupc_ptr ncupc_phased(ncupc_ptr p, int same_layout) {
  return same_layout ? p : ncupc_unphased(p);
}

/* Yields a pointer that becomes one of another block size, if the C compiler finds both equal. */
#define ncupc_same_block(one, other, ...)                                                       \
  __extension__((void)sizeof(struct {                                                           \
                  _Static_assert((one) == (other), "the block sizes differ: a cast is needed"); \
                  char ncupc_member;                                                            \
                }),                                                                             \
                (__VA_ARGS__))

/* Mathematical division by a positive number: the quotient is rounded down, so the remainder is
 * never negative. */
static inline int64_t ncupc_floor_div(int64_t n, int64_t by) {
  const int64_t quotient = n / by;
  return quotient - (n % by < 0);
}

/* Divides by the number of threads; *remainder is below THREADS. A division by a number unknown to
 * the compiler is the most expensive part of an access, and prevents the compiler from finding that
 * two accesses share it. So numbers below 2^32 are multiplied by the inverse instead. This is
 * exact: with I = (2^64 - 1 - r) / T, (n + 1) * I / 2^64 is below (n + 1) / T by at most 2^-32, so
 * its floor is that of n / T. */
static inline int64_t ncupc_rows(int64_t n, size_t* remainder) {
#ifdef NCUPC_THREADS
  const int64_t rows = ncupc_floor_div(n, THREADS);
#else
  __extension__ typedef unsigned __int128 wide;
  const int64_t rows = __builtin_expect((uint64_t)n >> 32 == 0, 1)
                           ? (int64_t)(((wide)n + 1) * ncupc_threads_inverse >> 64)
                           : ncupc_floor_div(n, THREADS);
#endif
  *remainder = (size_t)(n - rows * THREADS);
  return rows;
}

/* Returns a pointer `n` elements further. */
static inline ncupc_ptr ncupc_add(ncupc_ptr p, ptrdiff_t n, size_t size, size_t block) {
  int64_t position, blocks, rows, phase;
  size_t thread;
  if (block == 0) return ncupc_add_bytes(p, n * (ptrdiff_t)size);
  if (block == 1) {
    rows = ncupc_rows((int64_t)ncupc_thread(p) + n, &thread);
    return ncupc_make(ncupc_address(p) + (uint64_t)(rows * (int64_t)size), thread, 0);
  }
  position = (int64_t)ncupc_phase(p) + n;
  if ((uint64_t)position < block) { /* stays within the block */
    return ncupc_make(ncupc_address(p) + (uint64_t)(n * (ptrdiff_t)size), ncupc_thread(p),
                      (size_t)position);
  }
  blocks = ncupc_floor_div(position, (int64_t)block);
  phase = position - blocks * (int64_t)block;
  rows = ncupc_rows((int64_t)ncupc_thread(p) + blocks, &thread);
  return ncupc_make(
      ncupc_address(p) +
          (uint64_t)((rows * (int64_t)block + phase - (int64_t)ncupc_phase(p)) * (int64_t)size),
      thread, (size_t)phase);
}

/* Returns element `i` of an array whose first element is on thread 0, as it is for all declared
 * arrays. Since thread and phase of `array` are known to be 0, several accesses with one index
 * share the divisions. */
static inline ncupc_ptr ncupc_element(ncupc_ptr array, ptrdiff_t i, size_t size, size_t block) {
  int64_t blocks, rows, phase;
  size_t thread;
  if (block == 0) return ncupc_add_bytes(array, i * (ptrdiff_t)size);
  blocks = ncupc_floor_div(i, (int64_t)block);
  phase = i - blocks * (int64_t)block;
  rows = ncupc_rows(blocks, &thread);
  return ncupc_make(
      ncupc_address(array) + (uint64_t)((rows * (int64_t)block + phase) * (int64_t)size), thread,
      (size_t)phase);
}

/* Returns the number of elements by which `a` follows `b`; both point into one array. */
static inline ptrdiff_t ncupc_diff(ncupc_ptr a, ncupc_ptr b, size_t size, size_t block) {
  const int64_t bytes = (int64_t)(ncupc_address(a) - ncupc_address(b));
  const int64_t threads = (int64_t)ncupc_thread(a) - (int64_t)ncupc_thread(b);
  const int64_t phases = (int64_t)ncupc_phase(a) - (int64_t)ncupc_phase(b);
  if (size == 0) return 0;
  if (block == 0) return bytes / (int64_t)size;
  return ((bytes / (int64_t)size - phases) * THREADS + threads * (int64_t)block) + phases;
}

/* Returns -1, 0 or 1 if `a` is before, at or after `b` in their array. */
static inline int ncupc_compare(ncupc_ptr a, ncupc_ptr b, size_t size, size_t block) {
  const ptrdiff_t distance = ncupc_diff(a, b, size, block);
  return (distance > 0) - (distance < 0);
}

/* Returns the bytes that an array of `count` elements takes on every thread (upc_localsizeof). */
static inline size_t ncupc_localsize(size_t count, size_t size, size_t block) {
  size_t blocks;
  if (block == 0) return count * size;
  blocks = (count + block - 1) / block;
  return (blocks + (size_t)THREADS - 1) / (size_t)THREADS * block * size;
}

/* The same of constants, as a constant. */
#define NCUPC_LOCALSIZE(count, size, block)                                                \
  ((block) == 0 ? (size_t)(count) * (size)                                                 \
                : ((size_t)(count) + ((block) != 0 ? (block) : 1) * (size_t)THREADS - 1) / \
                      (((block) != 0 ? (block) : 1) * (size_t)THREADS) * (size_t)(block) * (size))

#ifdef __cplusplus
}
#endif
#endif
