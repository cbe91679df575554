/* Shared by the programs of tests/shmem: checks that count and report failures. */
#ifndef TESTS_SHMEM_SAY_H
#define TESTS_SHMEM_SAY_H
#include <shmem.h>
#include <stdio.h>

static int checks, failures;

static inline void check(int good, const char* what, const char* name) {
  checks++;
  if (good) return;
  failures++;
  printf("FAILED %s %s, PE %d\n", name, what, shmem_my_pe());
  fflush(stdout);
}

/* Returns the context for calls that take one: a new one if the program has the argument `context`,
 * else the default one. Over tcp, created contexts make Open MPI 4.1.4 hang in finalize and where
 * two PEs wait on theirs at the same time. */
static inline shmem_ctx_t context_wanted(int argc) {
  shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
  if (argc > 1) check(shmem_ctx_create(0, &ctx) == 0, "is not made", "context");
  return ctx;
}

/* PE 0 reports how much was checked. Returns the exit code. */
static inline int verdict(void) {
  if (shmem_my_pe() == 0 && !failures) printf("ok %d\n", checks);
  fflush(stdout);
  return failures != 0;
}
#endif
