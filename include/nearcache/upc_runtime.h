/* SPDX-License-Identifier: BSD-3-Clause */
/* The UPC runtime on OpenSHMEM: the functions called by the C code that `upcc` generates. A C
 * program may also use it directly.
 *
 * The library's main() starts the runtime, places static shared data, runs ncupc_main (the UPC
 * program's main) on every thread, and ends with a barrier. One UPC thread is one PE.
 *
 * Memory: one symmetric block, the arena, of the same size in every PE. It begins with the
 * runtime's own words, followed by static shared data and the blocks of upc_alloc, upc_global_alloc
 * and upc_all_alloc (upc_runtime_library.h). Addresses are offsets in the arena
 * (upc_runtime_pointer.h).
 *
 * Environment variables, which must be the same for all threads:
 *   NEARCACHE_UPC_SHARED_HEAP   size of each thread's part of the shared heap, in bytes or with a
 *                               suffix K, M, G or T (1.5G); default 64M. The OpenSHMEM
 *                               library's own heap must have room for it and for static shared
 *                               data (Open MPI: SMA_SYMMETRIC_SIZE)
 *   NEARCACHE_UPC_YIELD         number of polls after which a waiting thread yields its processor;
 *                               default 20
 *   NEARCACHE_SHMEM=off         no cache (the other options of libnearcache_shmem apply as well)
 *
 * An error in the program ends all threads with one line on stderr, `upc: thread 2: cpi.upc:31:
 * upc_free: ...`, and exit status 1. */
#ifndef NEARCACHE_UPC_RUNTIME_H
#define NEARCACHE_UPC_RUNTIME_H

#include "nearcache/upc_runtime_access.h"
#include "nearcache/upc_runtime_collectives.h"
#include "nearcache/upc_runtime_library.h"
#include "nearcache/upc_runtime_optional.h"
#include "nearcache/upc_runtime_pointer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The UPC program's main. */
int ncupc_main(int argc, char** argv);

/* ---- Barriers. A wait matches the preceding notify; all threads that give a value must give the
 * same one. ---- */

void ncupc_notify(int has_value, int value, const char* file, int line);
void ncupc_wait(int has_value, int value, const char* file, int line);
void ncupc_barrier(int has_value, int value, const char* file, int line);

#define NCUPC_NOTIFY() ncupc_notify(0, 0, NCUPC_HERE)
#define NCUPC_NOTIFY_EXPR(...) ncupc_notify(1, (int)(__VA_ARGS__), NCUPC_HERE)
#define NCUPC_WAIT() ncupc_wait(0, 0, NCUPC_HERE)
#define NCUPC_WAIT_EXPR(...) ncupc_wait(1, (int)(__VA_ARGS__), NCUPC_HERE)
#define NCUPC_BARRIER() ncupc_barrier(0, 0, NCUPC_HERE)
#define NCUPC_BARRIER_EXPR(...) ncupc_barrier(1, (int)(__VA_ARGS__), NCUPC_HERE)

/* upc_fence: everything before it is complete, and nothing read before it is served after it. It
 * may be used in a loop that waits for what another thread puts here. */
static inline void ncupc_fence(void) {
  ncupc_before_strict();
  if (ncupc_caching) ncupc_drop();
  if (__builtin_expect((ncupc_until_poll -= 64) < 0, 0)) ncupc_poll_strict();
}
#define NCUPC_FENCE() ncupc_fence()

/* ---- upc_forall with an affinity: {NCUPC_FORALL(k); for (...) if (NCUPC_MINE_INT(k, i)) ...}. A
 * upc_forall nested in a controlling one runs all its iterations; k is true in the controlling one.
 * ---- */

extern int ncupc_forall_depth;
static inline int ncupc_forall_enter(void) { return ncupc_forall_depth++ == 0; }
static inline void ncupc_forall_leave(const int* controls) {
  (void)controls;
  --ncupc_forall_depth;
}
/* For setjmp, k loops deep in a function that begins with NCUPC_ENTERED(). Restores the depth after
 * a longjmp, which skips the ends of the loops that it leaves. */
#define NCUPC_ENTERED() const volatile int ncupc_entered = ncupc_forall_depth
#define NCUPC_LANDED(k, ...)                  \
  __extension__({                             \
    const int ncupc_landed = (__VA_ARGS__);   \
    ncupc_forall_depth = ncupc_entered + (k); \
    ncupc_landed;                             \
  })
#define NCUPC_FORALL(k) \
  int k __attribute__((cleanup(ncupc_forall_leave), unused)) = ncupc_forall_enter()
#define NCUPC_MINE_INT(k, ...) (!(k) || NCUPC_MOD_THREADS(__VA_ARGS__) == MYTHREAD)
#define NCUPC_MINE_PTR(k, ...) (!(k) || ncupc_thread(__VA_ARGS__) == (size_t)MYTHREAD)

/* Returns the thread of an integer affinity: the mathematical remainder. */
static inline int ncupc_mod_signed(long long n) {
  size_t thread;
  ncupc_rows(n, &thread);
  return (int)thread;
}
static inline int ncupc_mod_unsigned(unsigned long long n) {
  return (int)(n % (unsigned long long)THREADS);
}
#define NCUPC_MOD_THREADS(...)                                                 \
  __builtin_choose_expr(((__typeof__((__VA_ARGS__) + 0))-1) > 0,               \
                        ncupc_mod_unsigned((unsigned long long)(__VA_ARGS__)), \
                        ncupc_mod_signed((long long)(__VA_ARGS__)))

/* In a loop that counts by one, skips the iterations of other threads at once: i becomes the last
 * iteration before this thread's next one, or the last iteration of all. pre: iteration i belongs
 * to another thread. `left`: number of iterations from i on, including i. */
static inline long long ncupc_blocks_until_mine(long long thread) {
  const long long blocks = MYTHREAD - thread;
  return blocks > 0 ? blocks : blocks + THREADS;
}
static inline long long ncupc_until_mine(ncupc_ptr p, size_t block) {
  if (block == 0) return INT64_MAX;
  return (ncupc_blocks_until_mine((long long)ncupc_thread(p)) - 1) * (long long)block +
         (long long)(block - ncupc_phase(p));
}
/* A bound below i is a negative one that C compares as an unsigned number: there are many left. */
static inline long long ncupc_skipped(long long until_mine, long long left) {
  return (left < 1 ? 1 : until_mine < left ? until_mine : left) - 1;
}
#define NCUPC_SKIP_INT(i, left) \
  ((i) += ncupc_skipped(ncupc_blocks_until_mine(NCUPC_MOD_THREADS(i)), (left)))
#define NCUPC_SKIP_PTR(i, left, p, block) \
  ((i) += ncupc_skipped(ncupc_until_mine((p), (block)), (left)))

/* ---- A upc_forall over the thread's own elements, executed by runs: a run consists of iterations
 * whose elements are consecutive in the thread's memory, where they are accessed as plain C.
 * Iterations are `step` apart; within a run, a thread's iterations are `stride` apart, and their
 * elements `unit`. ---- */

/* The element as an lvalue in own memory. pre: it is this thread's. */
#define NCUPC_OWN(T, ...) \
  ((__typeof__(T)*)(void*)(ncupc_near[MYTHREAD] + ncupc_address(__VA_ARGS__)))

/* Returns 1 if elements with equal index are on the same thread, for arrays of one block size. */
static inline int ncupc_begins_alike(ncupc_ptr a, ncupc_ptr b) {
  return ncupc_thread(a) == ncupc_thread(b) && ncupc_phase(a) == ncupc_phase(b);
}
#define NCUPC_BEGINS_ALIKE(a, b) ncupc_begins_alike((a), (b))
#define NCUPC_BEGINS_AT_ZERO(p) ncupc_begins_alike((p), ncupc_make(0, 0, 0))

/* Returns the stride. If each element is a block, it is the least common multiple of `step` and
 * THREADS. */
static inline ptrdiff_t ncupc_stride(size_t block, ptrdiff_t step) {
  ptrdiff_t divisor = step, other = THREADS;
  if (block != 1) return step;
  if (step == 1) return THREADS;
  while (other != 0) {
    const ptrdiff_t rest = divisor % other;
    divisor = other;
    other = rest;
  }
  return step / divisor * THREADS;
}
static inline ptrdiff_t ncupc_unit(size_t block, ptrdiff_t step, ptrdiff_t stride) {
  return block == 1 ? stride / THREADS : step;
}

/* Advances *i to this thread's first iteration and returns the length of its run, including that
 * iteration; returns 0 if there is none below `end`. Such loops are sure to end, so they need to
 * serve other threads only now and then: 16,384 iterations count as one load, so some milliseconds
 * pass between two polls. */
static inline ptrdiff_t ncupc_run(ptrdiff_t* i, ptrdiff_t end, ncupc_ptr base, size_t block,
                                  ptrdiff_t step, ptrdiff_t stride) {
  const ptrdiff_t longest = 1 << 20, counted_once = 1 << 14;
  /* only thread and phase are used; starts at an address in the middle, as i may be negative */
  const ncupc_ptr from = ncupc_make(NCUPC_MAX_ADDRESS / 2, ncupc_thread(base), ncupc_phase(base));
  ptrdiff_t tries = 0;
  while (*i < end) {
    const ncupc_ptr p = ncupc_add(from, *i, 1, block);
    ptrdiff_t left = end - *i;
    long long until;
    if (ncupc_thread(p) == (size_t)MYTHREAD) {
      if (block > 1 && left > (ptrdiff_t)(block - ncupc_phase(p)))
        left = (ptrdiff_t)(block - ncupc_phase(p));
      left = (left - 1) / stride + 1;
      if (left > longest) left = longest;
      ncupc_until_poll -= (int)((*i + left * stride) / counted_once - *i / counted_once);
      if (__builtin_expect(ncupc_until_poll < 0, 0)) ncupc_poll();
      return left;
    }
    until = ncupc_until_mine(p, block);
    if (until >= left) return 0;
    *i += (until - 1) / step * step + step;
    /* with a step that shares a divisor with THREADS, some threads have no iterations */
    if (block == 1 && ++tries == THREADS) return 0;
  }
  return 0;
}

/* Returns the value of the loop counter after the loop. */
static inline ptrdiff_t ncupc_after(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t step) {
  return begin < end ? begin + ((end - begin - 1) / step + 1) * step : begin;
}

/* ---- Static shared data. In the C program each variable is an ncupc_ptr, which all threads place
 * at start, in the same order. ---- */

/* A tentative definition: tentative definitions in several files become one. */
#define NCUPC_TENTATIVE __attribute__((weak))
/* A definition with an initialiser: a second one is a linker error. */
#define NCUPC_DEFINED __attribute__((nocommon))

/* Allocates memory for `*variable`: `count` elements of `size` bytes in blocks of `block` elements,
 * zeroed. If another file places it too, the declarations must agree; otherwise an error names both
 * places. */
void ncupc_place(ncupc_ptr* variable, const char* name, size_t size, size_t count, size_t block,
                 const char* file, int line);
/* Like ncupc_place, but the object's address is a multiple of `alignment`, a power of two up to
 * 4096; larger alignments are an error. */
void ncupc_place_aligned(ncupc_ptr* variable, const char* name, size_t size, size_t count,
                         size_t block, size_t alignment, const char* file, int line);

/* Initialises the first `number` elements from `initial`; each thread stores those it owns. */
void ncupc_fill(ncupc_ptr variable, const void* initial, size_t number, size_t size, size_t count,
                size_t block);

struct ncupc_module {
  const char* name;
  void (*place)(void);
  void (*initialise)(void);
  int threads; /* -T=n; 0: dynamic */
  int form;    /* form of pointers: 1 packed, 2 struct */
  struct ncupc_module* next;
};
void ncupc_add_module(struct ncupc_module* module);

#ifdef NCUPC_THREADS
#define NCUPC_STATIC_THREADS NCUPC_THREADS
#else
#define NCUPC_STATIC_THREADS 0
#endif
#ifdef NCUPC_STRUCT_POINTERS
#define NCUPC_FORM 2
#else
#define NCUPC_FORM 1
#endif

/* Used once per file, at file scope: registers the file's static data before main. */
#define NCUPC_MODULE(name, place, initialise)                                \
  __attribute__((constructor)) static void ncupc_register_module(void) {     \
    static struct ncupc_module ncupc_this_module = {                         \
        (name), (place), (initialise), NCUPC_STATIC_THREADS, NCUPC_FORM, 0}; \
    ncupc_add_module(&ncupc_this_module);                                    \
  }                                                                          \
  extern int ncupc_forall_depth

#ifdef __cplusplus
}
#endif
#endif
