/* Shared by the programs of this folder: random numbers that are the same on every thread, delays,
 * and a check that ends the program. */
#ifndef COLL_H
#define COLL_H

#include <nearcache/upc_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t coll_random_state;  /* the same on every thread */
static uint64_t coll_private_state; /* each thread's own */

static inline uint64_t coll_next(uint64_t* state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
/* Returns a random number below n, the same on every thread. */
static inline size_t coll_random(size_t n) { return coll_next(&coll_random_state) % n; }

static inline void coll_seed(uint64_t seed) {
  coll_random_state = seed;
  coll_private_state = seed * 1000 + (uint64_t)MYTHREAD;
}

/* Now and then delays a thread, so that threads get out of step. */
static inline void coll_delay(void) {
  if (coll_next(&coll_private_state) % 8 != 0) return;
  const struct timespec pause = {0, (long)(coll_next(&coll_private_state) % 300000)};
  nanosleep(&pause, NULL);
}

#define COLL_CHECK(condition, ...)                                                         \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "thread %d: %s:%d: %s: ", MYTHREAD, __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                                        \
      fputc('\n', stderr);                                                                 \
      upc_global_exit(1);                                                                  \
    }                                                                                      \
  } while (0)

/* Returns the pointer to `address` on `thread`, with phase 0. */
static inline ncupc_ptr coll_at(int thread, uint64_t address) {
  return ncupc_make(address, (size_t)thread, 0);
}
static inline char* coll_own(uint64_t address) { return ncupc_local(coll_at(MYTHREAD, address)); }

static const int coll_in[] = {UPC_IN_ALLSYNC, UPC_IN_MYSYNC, UPC_IN_NOSYNC};
static const int coll_out[] = {UPC_OUT_ALLSYNC, UPC_OUT_MYSYNC, UPC_OUT_NOSYNC};

#endif
