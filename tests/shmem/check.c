#include "check.h"

#include <stdarg.h>

int me, pes;
int failures;
const char* current = "";

void fail(const char* format, ...) {
  if (++failures > most_failures) return;
  char detail[400];
  va_list words;
  va_start(words, format);
  vsnprintf(detail, sizeof detail, format, words);
  va_end(words);
  printf("FAILED %s: PE %d: %s\n", current, me, detail);
  fflush(stdout);
}

void check_equal(int line, const char* what, long found, long expected) {
  if (found != expected) fail("line %d: %s is %ld, not %ld", line, what, found, expected);
}

void run_cases(const struct test_case* cases, size_t count, const char* only) {
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

static void started(void) {
  me = shmem_my_pe();
  pes = shmem_n_pes();
}

void check_start(void) {
  if (getenv("CHECK_THREADED") != NULL) return check_start_threaded();
  shmem_init();
  started();
}

void check_start_threaded(void) {
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  started();
  CHECK_EQUAL(provided, SHMEM_THREAD_MULTIPLE);
}

int check_end(void) {
  printf("hits %llu\n", (unsigned long long)stats_now().hits_full);
  fflush(stdout);
  shmem_finalize();
  return failures != 0;
}

void retire_context(shmem_ctx_t ctx, long* word) {
  for (int pe = 0; pe < pes; ++pe) shmem_ctx_long_p(ctx, word, 0, pe);
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
}

nearcache_stats stats_now(void) {
  nearcache_stats stats = {0};
  stats.size = sizeof stats;
  nearcache_shmem_stats(&stats);
  return stats;
}
