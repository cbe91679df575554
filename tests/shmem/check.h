/* Shared by the multi-PE test programs: checks that every PE reports, and named cases. A program
 * prints `ok NAME` on PE 0 and `FAILED NAME: detail` on any PE; it exits with 1 if a check failed.
 * Nearcache's functions (nearcache/shmem.h) do nothing where it is not loaded, so the same binary
 * shows what the OpenSHMEM library does without it. */
#ifndef NEARCACHE_TESTS_SHMEM_CHECK_H
#define NEARCACHE_TESTS_SHMEM_CHECK_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearcache/shmem.h"

enum { most_failures = 20 }; /* printed by each PE */

extern int me, pes;
extern int failures;        /* on this PE */
extern const char* current; /* name of the running case */

__attribute__((format(printf, 1, 2))) void fail(const char* format, ...);

#define CHECK(condition) ((condition) ? (void)0 : fail("line %d: %s", __LINE__, #condition))
#define CHECK_EQUAL(found, expected) check_equal(__LINE__, #found, (long)(found), (long)(expected))
void check_equal(int line, const char* what, long found, long expected);

struct test_case {
  const char* name;
  void (*run)(void);
};
/* Runs cases one after the other on all PEs together. If `only` is not null, runs only the cases
 * whose names begin with it. */
void run_cases(const struct test_case* cases, size_t count, const char* only);

/* Initialises OpenSHMEM, with SHMEM_THREAD_MULTIPLE if CHECK_THREADED is in the environment. */
void check_start(void);
void check_start_threaded(void);
/* Reports how much the cache served, finalizes, and returns the exit code. */
int check_end(void);

/* Destroys a context. Open MPI 4.1.4 over tcp hangs in finalize if the last operation of a context
 * was a get, so this puts to `word` first: a symmetric word that nothing else uses. */
void retire_context(shmem_ctx_t ctx, long* word);

/* Returns the counters of this process; all 0 without Nearcache. */
nearcache_stats stats_now(void);

#endif
