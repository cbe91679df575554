// SPDX-License-Identifier: BSD-3-Clause

// What all of these UPC programs share: options, a clock, one line of JSON output, and agreement on
// whether the results are correct on all threads. Everything is in this header, so the command that
// compiles a program names only the program's own files.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

// `--name N`, or `--name` alone for a flag. The initial contents of `value` are the default; a flag
// that is given sets it to 1.
struct choice {
  const char* name;
  long* value;
  bool flag;
  const char* help;
};

static inline void options_help(const char* program, const struct choice* table) {
  printf("%s: options\n", program);
  for (; table->name; table++)
    printf("  --%s%s  %s (%ld)\n", table->name, table->flag ? "" : " N", table->help,
           *table->value);
}

static inline const struct choice* option_named(const struct choice* table, const char* word) {
  if (strncmp(word, "--", 2)) return NULL;
  for (; table->name; table++)
    if (!strcmp(table->name, word + 2)) return table;
  return NULL;
}

// Every thread reads the same command line, so all of them exit here; thread 0 prints the reason.
static inline void options_refuse(const char* program, const char* word, const char* why) {
  if (MYTHREAD == 0) fprintf(stderr, "%s: %s %s\n", program, word, why);
  exit(2);
}

// Reads the command line into the table's values; the table ends with a NULL name. Every thread
// calls this. `--help` prints the table and exits with 0; an unknown option or a value that is not
// a number of at least 0 exits with 2.
static inline void options_read(int argc, char** argv, const struct choice* table) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      if (MYTHREAD == 0) options_help(argv[0], table);
      exit(0);
    }
    const struct choice* option = option_named(table, argv[i]);
    if (!option) options_refuse(argv[0], argv[i], "is no option; --help lists them");
    if (option->flag) {
      *option->value = 1;
      continue;
    }
    char* end = NULL;
    *option->value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (!end || end == argv[i + 1] || *end || *option->value < 0)
      options_refuse(argv[0], argv[i], "needs a number that is not negative");
    i++;
  }
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The json functions print one JSON object as one line on standard output; only thread 0 prints.
// json_begin prints "program" and "threads".
static inline void json_begin(const char* program) {
  if (MYTHREAD == 0) printf("{\"program\": \"%s\", \"threads\": %d", program, THREADS);
}

static inline void json_long(const char* key, long value) {
  if (MYTHREAD == 0) printf(", \"%s\": %ld", key, value);
}

static inline void json_double(const char* key, double value) {
  if (MYTHREAD == 0) printf(", \"%s\": %.17g", key, value);
}

// values[0] must have affinity to thread 0.
static inline void json_doubles(const char* key, shared const double* values, long count) {
  if (MYTHREAD != 0) return;
  printf(", \"%s\": [", key);
  for (long i = 0; i < count; i++) printf("%s%.6g", i ? ", " : "", values[i]);
  printf("]");
}

static inline void json_text(const char* key, const char* value) {
  if (MYTHREAD == 0) printf(", \"%s\": \"%s\"", key, value);
}

// Prints "correct" and ends the object.
static inline void json_end(bool correct) {
  if (MYTHREAD != 0) return;
  printf(", \"correct\": %s}\n", correct ? "true" : "false");
  fflush(stdout);
}

static shared double of_thread[THREADS];
static shared double together;  // a single element, so it has affinity to thread 0

static inline double combined(double value_here, upc_op_t operation) {
  of_thread[MYTHREAD] = value_here;
  upc_all_reduceD(&together, of_thread, operation, THREADS, 1, NULL,
                  UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  double result = together;
  upc_barrier;  // no thread stores its next value before all have read this one
  return result;
}

// Collective: every thread must call these, and all get the same answer.
static inline double sum_of_all(double value_here) { return combined(value_here, UPC_ADD); }

static inline double largest_of_all(double value_here) { return combined(value_here, UPC_MAX); }

static inline bool correct_everywhere(bool correct_here) {
  return sum_of_all(correct_here ? 0 : 1) == 0;
}

// Returns a well-mixed number for every x (SplitMix64's finalizer): data and random indices that
// every thread can compute by itself.
static inline uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Returns a well-mixed number in [0, 1) for every x.
static inline double mixed_unit(uint64_t x) { return (double)(mixed(x) >> 11) * 0x1p-53; }
