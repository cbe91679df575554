#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

static void print_help(const char *program, const struct choice *table) {
  printf("%s: options\n", program);
  for (; table->name; table++) printf("  --%s%s  %s (%ld)\n", table->name, table->flag ? "" : " N", table->help, *table->value);
}

static const struct choice *find(const struct choice *table, const char *word) {
  if (strncmp(word, "--", 2)) return NULL;
  for (; table->name; table++)
    if (!strcmp(table->name, word + 2)) return table;
  return NULL;
}

// Every thread reads the same command line, so all of them end here, and thread 0 says why.
static void refuse(const char *program, const char *word, const char *why) {
  if (MYTHREAD == 0) fprintf(stderr, "%s: %s %s\n", program, word, why);
  exit(2);
}

void options_read(int argc, char **argv, const struct choice *table) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      if (MYTHREAD == 0) print_help(argv[0], table);
      exit(0);
    }
    const struct choice *option = find(table, argv[i]);
    if (!option) refuse(argv[0], argv[i], "is no option; --help lists them");
    if (option->flag) {
      *option->value = 1;
      continue;
    }
    char *end = NULL;
    *option->value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
    if (!end || end == argv[i + 1] || *end || *option->value < 0) refuse(argv[0], argv[i], "needs a number that is not negative");
    i++;
  }
}

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void json_begin(const char *program) {
  if (MYTHREAD == 0) printf("{\"program\": \"%s\", \"threads\": %d", program, THREADS);
}

void json_long(const char *key, long value) {
  if (MYTHREAD == 0) printf(", \"%s\": %ld", key, value);
}

void json_double(const char *key, double value) {
  if (MYTHREAD == 0) printf(", \"%s\": %.17g", key, value);
}

void json_doubles(const char *key, shared const double *values, long count) {
  if (MYTHREAD != 0) return;
  printf(", \"%s\": [", key);
  for (long i = 0; i < count; i++) printf("%s%.6g", i ? ", " : "", values[i]);
  printf("]");
}

void json_text(const char *key, const char *value) {
  if (MYTHREAD == 0) printf(", \"%s\": \"%s\"", key, value);
}

void json_end(bool correct) {
  if (MYTHREAD != 0) return;
  printf(", \"correct\": %s}\n", correct ? "true" : "false");
  fflush(stdout);
}

static shared double of_thread[THREADS];
static shared double together;  // one element: it lies on thread 0

static double combined(double value_here, upc_op_t operation) {
  of_thread[MYTHREAD] = value_here;
  upc_all_reduceD(&together, of_thread, operation, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  double result = together;
  upc_barrier;  // nobody stores the next one before all have read this one
  return result;
}

double sum_of_all(double value_here) { return combined(value_here, UPC_ADD); }

double largest_of_all(double value_here) { return combined(value_here, UPC_MAX); }

bool correct_everywhere(bool correct_here) { return sum_of_all(correct_here ? 0 : 1) == 0; }

uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

double mixed_unit(uint64_t x) { return (double)(mixed(x) >> 11) * 0x1p-53; }
