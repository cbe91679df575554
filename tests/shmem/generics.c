/* The C11 generic calls: each resolves to a typed function, also with a context as its first
 * argument. */
#include <string.h>

#include "say.h"

static shmem_ctx_t ctx;
static int other;

#define GENERICS(T, name)                                                    \
  {                                                                          \
    T *there = shmem_malloc(8 * sizeof(T)), own[8], back[8];                 \
    for (int i = 0; i < 8; i++) own[i] = (T)(i + 3);                         \
    shmem_p(there, (T)7, other);                                             \
    check(shmem_g(there, other) == (T)7, "p, g", #name);                     \
    shmem_put(there, own, 8, other);                                         \
    shmem_get(back, there, 8, other);                                        \
    int good = 1;                                                            \
    for (int i = 0; i < 8; i++) good &= back[i] == own[i];                   \
    check(good, "put, get", #name);                                          \
    shmem_iput(there, own, 2, 1, 4, other);                                  \
    shmem_iget(back, there, 1, 2, 4, other);                                 \
    for (int i = 0; i < 4; i++) good &= back[i] == own[i];                   \
    check(good, "iput, iget", #name);                                        \
    shmem_put_nbi(there, own, 8, other);                                     \
    shmem_quiet();                                                           \
    shmem_get_nbi(back, there, 8, other);                                    \
    shmem_quiet();                                                           \
    for (int i = 0; i < 8; i++) good &= back[i] == own[i];                   \
    check(good, "put_nbi, get_nbi", #name);                                  \
    shmem_barrier_all();                                                     \
    for (int i = 0; i < 8; i++) own[i] = (T)(i + 20);                        \
    shmem_p(ctx, there, own[0], other);                                      \
    check(shmem_g(ctx, there, other) == own[0], "p, g on a context", #name); \
    shmem_put(ctx, there, own, 8, other);                                    \
    shmem_get(ctx, back, there, 8, other);                                   \
    for (int i = 0; i < 8; i++) good &= back[i] == own[i];                   \
    check(good, "put, get on a context", #name);                             \
    shmem_ctx_quiet(ctx);                                                    \
    shmem_barrier_all();                                                     \
    for (int i = 0; i < 8; i++) good &= there[i] == own[i];                  \
    check(good, "what the other wrote", #name);                              \
    shmem_free(there);                                                       \
  }

#define GENERIC_ATOMICS(T, name)                                                       \
  {                                                                                    \
    T* word = shmem_malloc(sizeof(T));                                                 \
    *word = 0;                                                                         \
    shmem_barrier_all();                                                               \
    shmem_p(word, (T)1, other);                                                        \
    shmem_atomic_add(word, (T)2, other);                                               \
    check(shmem_atomic_fetch_add(word, (T)3, other) == 3, "fetch_add", #name);         \
    check(shmem_g(word, other) == 6, "g after fetch_add", #name);                      \
    check(shmem_atomic_swap(ctx, word, (T)9, other) == 6, "swap on a context", #name); \
    shmem_barrier_all();                                                               \
    check(*word == 9, "what the other left", #name);                                   \
    shmem_free(word);                                                                  \
  }

int main(int argc, char** argv) {
  (void)argv;
  shmem_init();
  other = 1 - shmem_my_pe();
  ctx = context_wanted(argc);
  GENERICS(char, char);
  GENERICS(short, short);
  GENERICS(int, int);
  GENERICS(long, long);
  GENERICS(unsigned char, uchar);
  GENERICS(unsigned long, ulong);
  GENERICS(float, float);
  GENERICS(double, double);
  GENERICS(long double, longdouble);
  GENERIC_ATOMICS(int, int);
  GENERIC_ATOMICS(long, long);
  GENERIC_ATOMICS(unsigned long, ulong);
  if (argc > 1) shmem_ctx_destroy(ctx);
  const int code = verdict();
  shmem_finalize();
  return code;
}
