/* What the multi-PE test programs share: checks that every PE reports, and named cases. A program
 * prints `ok NAME` on PE 0 and `FAILED NAME: detail` on any PE; it ends with 1 where a check
 * failed. Nearcache's functions (nearcache/shmem.h) do nothing where it is not loaded, so the very
 * same binary shows what the OpenSHMEM library does without it. */
#ifndef NEARCACHE_TESTS_SHMEM_CHECK_H
#define NEARCACHE_TESTS_SHMEM_CHECK_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearcache/shmem.h"

enum { most_failures = 20 }; /* printed by a PE */

extern int me, pes;
extern int failures;        /* of this PE */
extern const char* current; /* what runs now */

__attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

#define CHECK(condition) ((condition) ? (void)0 : fail("line %d: %s", __LINE__, #condition))
#define CHECK_EQUAL(found, expected) check_equal(__LINE__, #found, (long)(found), (long)(expected))
void check_equal(int line, const char* what, long found, long expected);

struct test_case {
  const char* name;
  void (*run)(void);
};
/* Runs cases one after the other, all PEs together; those whose name begins with `only`, if it is
 * not null. */
void run_cases(const struct test_case* cases, size_t count, const char* only);

/* Under SHMEM_THREAD_MULTIPLE if the environment has CHECK_THREADED. */
void check_start(void);
void check_start_threaded(void);
/* Says how much the cache served, and ends. Returns the exit code. */
int check_end(void);

/* Destroys a context. Open MPI 4.1.4 over tcp hangs in finalize if the last that a context did was
 * a get: so it puts something. `word` is symmetric, and nobody's. */
void retire_context(shmem_ctx_t ctx, long* word);

/* The counters of this process; 0 without Nearcache. */
nearcache_stats stats_now(void);

#endif
