/* The UPC runtime on OpenSHMEM: what the C code that `upcc` makes of a UPC program calls. A C
 * program may use it directly, too.
 *
 * The library's main() starts the runtime, places static shared data, runs ncupc_main (the UPC
 * program's main) on every thread, and ends with a barrier. One UPC thread is one PE.
 *
 * Memory: one symmetric block, the arena, of the same size in every PE. At its start the runtime's
 * own words, then static shared data, then blocks of upc_alloc, upc_global_alloc and upc_all_alloc
 * (upc_runtime_library.h). An address is an offset in it (upc_runtime_pointer.h).
 *
 * Environment, the same for all threads:
 *   NEARCACHE_UPC_SHARED_HEAP   the size of a thread's part of the shared heap in bytes, or with
 *                               K, M, G, T (1.5G); default 64M. The OpenSHMEM library's own heap
 *                               must have room for it and for static shared data (Open MPI:
 *                               SMA_SYMMETRIC_SIZE)
 *   NEARCACHE_UPC_YIELD         after how many looks a waiting thread offers its processor to
 *                               others; default 20
 *   NEARCACHE_SHMEM=off         no cache (and the other options of libnearcache_shmem)
 *
 * Errors of a program end all threads: one line on stderr, `upc: thread 2: cpi.upc:31: upc_free:
 * ...`, and exit status 1. */
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

/* ---- Barriers. A wait matches the notify before it; expressions of all threads must agree where
 * they have one. ---- */

void ncupc_notify(int has_value, int value, const char* file, int line);
void ncupc_wait(int has_value, int value, const char* file, int line);
void ncupc_barrier(int has_value, int value, const char* file, int line);

#define NCUPC_NOTIFY() ncupc_notify(0, 0, NCUPC_HERE)
#define NCUPC_NOTIFY_EXPR(...) ncupc_notify(1, (int)(__VA_ARGS__), NCUPC_HERE)
#define NCUPC_WAIT() ncupc_wait(0, 0, NCUPC_HERE)
#define NCUPC_WAIT_EXPR(...) ncupc_wait(1, (int)(__VA_ARGS__), NCUPC_HERE)
#define NCUPC_BARRIER() ncupc_barrier(0, 0, NCUPC_HERE)
#define NCUPC_BARRIER_EXPR(...) ncupc_barrier(1, (int)(__VA_ARGS__), NCUPC_HERE)

/* upc_fence: everything before it is complete, nothing read before it is served after. */
static inline void ncupc_fence(void) {
  ncupc_before_strict();
  if (ncupc_caching) ncupc_drop();
}
#define NCUPC_FENCE() ncupc_fence()

/* ---- upc_forall with an affinity: {NCUPC_FORALL(k); for (...) if (NCUPC_MINE_INT(k, i)) ...}.
 * Inside a controlling upc_forall, any other runs all its iterations; k is true for the controlling
 * one. ---- */

extern int ncupc_forall_depth;
static inline int ncupc_forall_enter(void) { return ncupc_forall_depth++ == 0; }
static inline void ncupc_forall_leave(const int* controls) {
  (void)controls;
  --ncupc_forall_depth;
}
/* Around setjmp, k loops deep in a function that begins with NCUPC_ENTERED(): a longjmp skips the
 * ends of the loops that it leaves. */
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

/* Which thread an integer affinity means: the mathematical remainder. */
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

/* In a loop that counts one by one, the iterations of other threads are skipped at once: i becomes
 * the last one before the next of this thread, or the last one of all. pre: iteration i is another
 * thread's; `left`: how many there are from i on, i included. */
static inline long long ncupc_blocks_until_mine(long long thread) {
  const long long blocks = MYTHREAD - thread;
  return blocks > 0 ? blocks : blocks + THREADS;
}
static inline long long ncupc_until_mine(ncupc_ptr p, size_t block) {
  if (block == 0) return INT64_MAX;
  return (ncupc_blocks_until_mine((long long)ncupc_thread(p)) - 1) * (long long)block +
         (long long)(block - ncupc_phase(p));
}
static inline long long ncupc_least(long long a, long long b) { return a < b ? a : b; }
#define NCUPC_SKIP_INT(i, left) \
  ((i) += ncupc_least(ncupc_blocks_until_mine(NCUPC_MOD_THREADS(i)), (left)) - 1)
#define NCUPC_SKIP_PTR(i, left, p, block) \
  ((i) += ncupc_least(ncupc_until_mine((p), (block)), (left)) - 1)

/* ---- A upc_forall over what lies with the thread, by runs: iterations whose elements follow each
 * other in the thread's memory, and are accessed there as plain C. Iterations are `step` apart;
 * those of a thread are, in a run, `stride` apart, and their elements `unit`. ---- */

/* The own memory at an element. pre: it is this thread's */
#define NCUPC_OWN(T, ...) \
  ((__typeof__(T)*)(void*)(ncupc_near[MYTHREAD] + ncupc_address(__VA_ARGS__)))

/* Whether elements of equal index lie on the same thread, in arrays of one block size. */
static inline int ncupc_begins_alike(ncupc_ptr a, ncupc_ptr b) {
  return ncupc_thread(a) == ncupc_thread(b) && ncupc_phase(a) == ncupc_phase(b);
}
#define NCUPC_BEGINS_ALIKE(a, b) ncupc_begins_alike((a), (b))
#define NCUPC_BEGINS_AT_ZERO(p) ncupc_begins_alike((p), ncupc_make(0, 0, 0))

/* Where each element is a block, the least common multiple of `step` and THREADS. */
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

/* Moves *i on to the first iteration of this thread and says how many follow in its run, this one
 * included; 0: there is none below `end`. Such loops end by themselves, so that they need to serve
 * others only now and then: 16,384 iterations count as one load, so that it is some milliseconds
 * from one time to the next. */
static inline ptrdiff_t ncupc_run(ptrdiff_t* i, ptrdiff_t end, ncupc_ptr base, size_t block,
                                  ptrdiff_t step, ptrdiff_t stride) {
  const ptrdiff_t longest = 1 << 20, counted_once = 1 << 14;
  ptrdiff_t tries = 0;
  while (*i < end) {
    const ncupc_ptr p = ncupc_add(base, *i, 1, block);
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
    /* steps that share a divisor with THREADS never come to some threads */
    if (block == 1 && ++tries == THREADS) return 0;
  }
  return 0;
}

/* What the count is after the loop. */
static inline ptrdiff_t ncupc_after(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t step) {
  return begin < end ? begin + ((end - begin - 1) / step + 1) * step : begin;
}

/* ---- Static shared data. Each variable is an ncupc_ptr of the C program, placed at start by every
 * thread in the same order. ---- */

/* A tentative definition: of several files, one stays. */
#define NCUPC_TENTATIVE __attribute__((weak))
/* One with an initialiser: a second one is the linker's error. */
#define NCUPC_DEFINED __attribute__((nocommon))

/* Gives `*variable` its memory: `count` elements of `size` bytes in blocks of `block`, zeroed.
 * Placed again, from another file, it must be the same; else an error that names both places. */
void ncupc_place(ncupc_ptr* variable, const char* name, size_t size, size_t count, size_t block,
                 const char* file, int line);

/* Stores the first `number` elements from `initial`: each thread those it owns. */
void ncupc_fill(ncupc_ptr variable, const void* initial, size_t number, size_t size, size_t count,
                size_t block);

struct ncupc_module {
  const char* name;
  void (*place)(void);
  void (*initialise)(void);
  int threads; /* -T=n; 0: dynamic */
  int form;    /* of pointers: 1 packed, 2 struct */
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

/* One per file, at file scope: registers the file's static data before main. */
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
