/* Checks of the runtime's test programs: failures are printed, and reflected in the program's exit
 * status. */
#ifndef CHECK_H
#define CHECK_H

#include <nearcache/upc_runtime.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

/* No format attribute: a check without a message has an empty format. */
static inline void failed(const char* file, int line, const char* condition, const char* format,
                          ...) {
  if (++failures > 10) return;
  va_list values;
  va_start(values, format);
  fprintf(stderr, "%d: %s:%d: %s: ", MYTHREAD, file, line, condition);
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
}

#define CHECK(condition, ...) \
  ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition, "" __VA_ARGS__))

/* Returns the exit status of a program. */
static inline int verdict(void) {
  if (failures == 0) printf("thread %d of %d: ok\n", MYTHREAD, THREADS);
  return failures != 0;
}

/* Pseudo-random numbers, the same in every run; a thread may have several streams. */
static inline uint64_t next_random(uint64_t* state) {
  uint64_t x = (*state += 0x9e3779b97f4a7c15u);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
static inline size_t below(uint64_t* state, size_t limit) {
  return (size_t)(next_random(state) % limit);
}

#endif
