/* What the multi-PE test programs share: checks that every PE reports, and named cases. A program prints `ok NAME` on PE 0 and
 * `FAILED NAME: detail` on any PE; it ends with 1 where a check failed. Nearcache's functions (nearcache/shmem.h) do nothing where it is
 * not loaded, so the very same binary shows what the OpenSHMEM library does without it. */
#ifndef NEARCACHE_TESTS_SHMEM_CHECK_H
#define NEARCACHE_TESTS_SHMEM_CHECK_H

#include <shmem.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearcache/shmem.h"

static int me, pes;
static int failures;  // of this PE
static const char *current = "";

#define MOST_FAILURES 20  // printed by a PE

__attribute__((format(printf, 1, 2))) static inline void fail(const char *format, ...) {
  if (++failures > MOST_FAILURES) return;
  char detail[400];
  va_list words;
  va_start(words, format);
  vsnprintf(detail, sizeof detail, format, words);
  va_end(words);
  printf("FAILED %s: PE %d: %s\n", current, me, detail);
  fflush(stdout);
}

#define CHECK(condition) ((condition) ? (void)0 : fail("line %d: %s", __LINE__, #condition))
#define CHECK_EQUAL(found, expected) check_equal(__LINE__, #found, (long)(found), (long)(expected))
static inline void check_equal(int line, const char *what, long found, long expected) {
  if (found != expected) fail("line %d: %s is %ld, not %ld", line, what, found, expected);
}

struct test_case {
  const char *name;
  void (*run)(void);
};

/* Runs cases one after the other, all PEs together; those whose name begins with `only`, if it is not null. */
static inline void run_cases(const struct test_case *cases, size_t count, const char *only) {
  for (size_t i = 0; i < count; ++i) {
    if (only != NULL && strncmp(cases[i].name, only, strlen(only)) != 0) continue;
    const int before = failures;
    current = cases[i].name;
    shmem_barrier_all();
    cases[i].run();
    shmem_barrier_all();
    if (me == 0 && failures == before) printf("ok %s\n", current);
    fflush(stdout);
  }
}

static inline void check_start(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
}

/* Destroys a context. Open MPI 4.1.4 over tcp hangs in finalize if the last that a context did was a get: so it puts something. `word` is
 * symmetric, and nobody's. */
static inline void retire_context(shmem_ctx_t ctx, long *word) {
  for (int pe = 0; pe < pes; ++pe) shmem_ctx_long_p(ctx, word, 0, pe);
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
}

/* The counters of this process; 0 without Nearcache. */
static inline nearcache_stats stats_now(void) {
  nearcache_stats stats = {0};
  stats.size = sizeof stats;
  nearcache_shmem_stats(&stats);
  return stats;
}

static inline int check_end(void) {
  const nearcache_stats stats = stats_now();
  printf("hits %llu\n", (unsigned long long)stats.hits_full);
  shmem_finalize();
  return failures != 0;
}

#endif
