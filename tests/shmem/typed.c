/* Every typed and sized call by its name, between two PEs: each works on the other's memory, and
 * checks its own afterwards. */
#include <complex.h>
#include <string.h>

#include "say.h"

/* Tables of types keep their layout. */
/* clang-format off */
#define RMA_TYPES(DO)                                                                          \
  DO(char, char) DO(signed char, schar) DO(unsigned char, uchar) DO(short, short)              \
  DO(unsigned short, ushort) DO(int, int) DO(unsigned, uint) DO(long, long)                    \
  DO(unsigned long, ulong) DO(long long, longlong) DO(unsigned long long, ulonglong)           \
  DO(float, float) DO(double, double) DO(long double, longdouble)                              \
  DO(int8_t, int8) DO(int16_t, int16) DO(int32_t, int32) DO(int64_t, int64)                    \
  DO(uint8_t, uint8) DO(uint16_t, uint16) DO(uint32_t, uint32) DO(uint64_t, uint64)            \
  DO(size_t, size) DO(ptrdiff_t, ptrdiff)
/* The types of atomics that Open MPI 4 has. */
#define AMO_TYPES(DO)                                                                          \
  DO(int, int) DO(unsigned, uint) DO(long, long) DO(unsigned long, ulong)                      \
  DO(long long, longlong) DO(unsigned long long, ulonglong)
/* clang-format on */

enum { length = 12, bytes = 4096 };
static char* memory; /* symmetric */
static shmem_ctx_t ctx;
static int other;

/* Transfers of one type. CALL forms the names for the default context or for ctx. */
#define CHECK_TRANSFERS(T, name, CALL, QUIET)                                                   \
  {                                                                                             \
    T *there = (T*)memory, own[length], back[length];                                           \
    for (int i = 0; i < length; i++) own[i] = (T)(i + 40);                                      \
    for (int i = 0; i < length; i++) CALL(name, p)(&there[i], own[i], other);                   \
    int good = 1;                                                                               \
    for (int i = 0; i < length; i++) good &= CALL(name, g)(&there[i], other) == own[i];         \
    check(good, "p, g", #name);                                                                 \
    for (int i = 0; i < length; i++) own[i] = (T)(i + 60);                                      \
    CALL(name, put)(there, own, length, other);                                                 \
    CALL(name, get)(back, there, length, other);                                                \
    check(memcmp(own, back, sizeof own) == 0 || sizeof(T) == 16, "put, get", #name);            \
    CALL(name, iput)                                                                            \
    (there, own, 2, 3, length / 3, other); /* own[0], own[3], ... to there[0], there[2], ... */ \
    CALL(name, iget)(back, there, 1, 2, length / 3, other);                                     \
    good = 1;                                                                                   \
    for (int i = 0; i < length / 3; i++) good &= back[i] == own[3 * i];                         \
    good &=                                                                                     \
        CALL(name, g)(&there[1], other) == own[1] && CALL(name, g)(&there[2], other) == own[3]; \
    check(good, "iput, iget", #name);                                                           \
    for (int i = 0; i < length; i++) own[i] = (T)(i + 80), back[i] = 0;                         \
    CALL(name, put_nbi)(there, own, length, other);                                             \
    QUIET;                                                                                      \
    CALL(name, get_nbi)(back, there, length, other);                                            \
    QUIET;                                                                                      \
    good = 1;                                                                                   \
    for (int i = 0; i < length; i++) good &= back[i] == own[i];                                 \
    check(good, "put_nbi, get_nbi", #name);                                                     \
    shmem_barrier_all();                                                                        \
    good = 1;                                                                                   \
    for (int i = 0; i < length; i++) good &= there[i] == own[i];                                \
    check(good, "what the other wrote", #name);                                                 \
    shmem_barrier_all();                                                                        \
  }
#define PLAIN(name, call) shmem_##name##_##call
#define TRANSFERS(T, name) CHECK_TRANSFERS(T, name, PLAIN, shmem_quiet())

/* The same on a context: functions with the plain signature that add it. */
#define CONTEXT_FORMS(T, name)                                                                     \
  static void on_##name##_p(T* to, T value, int pe) { shmem_ctx_##name##_p(ctx, to, value, pe); }  \
  static T on_##name##_g(const T* from, int pe) { return shmem_ctx_##name##_g(ctx, from, pe); }    \
  static void on_##name##_put(T* to, const T* from, size_t n, int pe) {                            \
    shmem_ctx_##name##_put(ctx, to, from, n, pe);                                                  \
  }                                                                                                \
  static void on_##name##_get(T* to, const T* from, size_t n, int pe) {                            \
    shmem_ctx_##name##_get(ctx, to, from, n, pe);                                                  \
  }                                                                                                \
  static void on_##name##_put_nbi(T* to, const T* from, size_t n, int pe) {                        \
    shmem_ctx_##name##_put_nbi(ctx, to, from, n, pe);                                              \
  }                                                                                                \
  static void on_##name##_get_nbi(T* to, const T* from, size_t n, int pe) {                        \
    shmem_ctx_##name##_get_nbi(ctx, to, from, n, pe);                                              \
  }                                                                                                \
  static void on_##name##_iput(T* to, const T* from, ptrdiff_t a, ptrdiff_t b, size_t n, int pe) { \
    shmem_ctx_##name##_iput(ctx, to, from, a, b, n, pe);                                           \
  }                                                                                                \
  static void on_##name##_iget(T* to, const T* from, ptrdiff_t a, ptrdiff_t b, size_t n, int pe) { \
    shmem_ctx_##name##_iget(ctx, to, from, a, b, n, pe);                                           \
  }
RMA_TYPES(CONTEXT_FORMS)
#define FORM(name, call) on_##name##_##call
#define CONTEXT_TRANSFERS(T, name) CHECK_TRANSFERS(T, name, FORM, shmem_ctx_quiet(ctx))

/* The sized calls move elements of this many bits. */
#define SIZED(bits)                                                                      \
  {                                                                                      \
    char own[256], back[256];                                                            \
    const size_t moved = 5 * (bits) / 8;                                                 \
    memset(own, (bits) / 8 + 1, sizeof own);                                             \
    memset(back, 0, sizeof back);                                                        \
    shmem_put##bits(memory, own, 5, other);                                              \
    shmem_get##bits(back, memory, 5, other);                                             \
    check(memcmp(own, back, moved) == 0 && back[moved] == 0, "put, get", #bits);         \
    memset(own, (bits) / 8 + 2, sizeof own);                                             \
    shmem_ctx_put##bits##_nbi(ctx, memory, own, 5, other);                               \
    shmem_ctx_quiet(ctx);                                                                \
    shmem_ctx_get##bits##_nbi(ctx, back, memory, 5, other);                              \
    shmem_ctx_quiet(ctx);                                                                \
    check(memcmp(own, back, moved) == 0 && back[moved] == 0, "nbi on a context", #bits); \
    shmem_barrier_all();                                                                 \
  }

/* Atomics of one type. The 4-byte compare-and-swap of Open MPI 4.1.4 overwrites the stack, so only
 * the 8-byte one is called. */
#define ATOMICS(T, name)                                                                     \
  {                                                                                          \
    T* word = (T*)memory;                                                                    \
    shmem_##name##_p(word, 1, other); /* cached, for the atomics to find */                  \
    shmem_##name##_atomic_add(word, 4, other);                                               \
    check(shmem_##name##_atomic_fetch(word, other) == 5, "add, fetch", #name);               \
    check(shmem_##name##_atomic_fetch_add(word, 5, other) == 5, "fetch_add", #name);         \
    check(shmem_##name##_g(word, other) == 10, "g after fetch_add", #name);                  \
    shmem_##name##_atomic_inc(word, other);                                                  \
    check(shmem_##name##_g(word, other) == 11, "g after inc", #name);                        \
    check(shmem_##name##_atomic_fetch_inc(word, other) == 11, "fetch_inc", #name);           \
    check(shmem_##name##_atomic_swap(word, 20, other) == 12, "swap", #name);                 \
    shmem_##name##_atomic_set(word, 30, other);                                              \
    check(sizeof(T) < 8 || shmem_##name##_atomic_compare_swap(word, 30, 40, other) == 30,    \
          "compare_swap", #name);                                                            \
    check(shmem_##name##_g(word, other) == (sizeof(T) < 8 ? 30 : 40), "g after all", #name); \
    shmem_##name##_p(word, 50, other);                                                       \
    shmem_quiet(); /* contexts do not order each other */                                    \
    shmem_ctx_##name##_atomic_add(ctx, word, 1, other);                                      \
    check(shmem_ctx_##name##_atomic_fetch(ctx, word, other) == 51, "on a context", #name);   \
    shmem_barrier_all();                                                                     \
  }

static long psync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

/* The other PE sets a flag after its data. A loop of tests alone makes no progress in Open MPI
 * 4.1.4, so the test follows the wait. */
static void check_waits(void) {
  long *data = (long*)memory, *flag = data + 1;
  for (long round = 1; round <= 20; round++) {
    shmem_long_p(data, 100 * round + shmem_my_pe(), other);
    shmem_fence();
    shmem_long_p(flag, round, other);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
    check(shmem_long_test(flag, SHMEM_CMP_GE, round) != 0, "test after wait_until", "test");
    check(*data == 100 * round + other, "data before the flag", "wait_until, test");
    shmem_barrier_all();
  }
}

static void check_collectives(void) {
  static long mine[2], sum[2], all[4];
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
  mine[0] = mine[1] = shmem_my_pe() + 1;
  shmem_barrier_all();
  shmem_long_sum_to_all(sum, mine, 1, 0, 0, 2, work, psync);
  shmem_barrier_all();
  check(sum[0] == 3, "sum", "sum_to_all");
  for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
  shmem_barrier_all();
  shmem_fcollect64(all, mine, 2, 0, 0, 2, psync);
  shmem_barrier_all();
  check(all[0] == 1 && all[2] == 2, "elements", "fcollect64");
}

static void check_lock(void) {
  static long lock, counter;
  for (int i = 0; i < 10; i++) {
    shmem_set_lock(&lock);
    shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  check(shmem_long_g(&counter, 0) == 20, "counter under a lock", "set_lock");
}

int main(int argc, char** argv) {
  (void)argv;
  shmem_init();
  other = 1 - shmem_my_pe();
  memory = shmem_malloc(bytes);
  ctx = context_wanted(argc);
  memset(memory, 0, bytes);
  shmem_barrier_all();
  RMA_TYPES(TRANSFERS)
  RMA_TYPES(CONTEXT_TRANSFERS)
  SIZED(8) SIZED(16) SIZED(32) SIZED(64) SIZED(128) AMO_TYPES(ATOMICS) memset(memory, 0, bytes);
  shmem_barrier_all();
  check_waits();
  check_collectives();
  check_lock();
  if (argc > 1) shmem_ctx_destroy(ctx);
  const int code = verdict();
  shmem_free(memory);
  shmem_finalize();
  return code;
}
