/* What the programs of this suite check with: a condition that does not hold is said on standard
 * error, and main returns check_failures. */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>

static int check_failures;

static inline void check_failed(const char* file, int line, const char* condition, int thread) {
  check_failures++;
  fprintf(stderr, "%s:%d: thread %d: CHECK failed: %s\n", file, line, thread, condition);
}

static inline void check_equal(long long found, long long wanted, const char* file, int line,
                               const char* what, int thread) {
  if (found == wanted) return;
  check_failures++;
  fprintf(stderr, "%s:%d: thread %d: CHECK_EQ failed: %s is %lld, not %lld\n", file, line, thread,
          what, found, wanted);
}

#define CHECK(condition) \
  ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition, MYTHREAD))
#define CHECK_EQ(found, wanted) \
  check_equal((long long)(found), (long long)(wanted), __FILE__, __LINE__, #found, MYTHREAD)

#endif
