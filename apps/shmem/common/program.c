/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_help(const char* program, const struct option* table) {
  printf("%s: options\n", program);
  for (; table->name; table++)
    printf("  --%s%s  %s (%ld)\n", table->name, table->flag ? "" : " N", table->help,
           *table->value);
}

static const struct option* find(const struct option* table, const char* word) {
  if (strncmp(word, "--", 2)) return NULL;
  for (; table->name; table++)
    if (!strcmp(table->name, word + 2)) return table;
  return NULL;
}

static long number(const char* program, const char* name, const char* word) {
  char* end = NULL;
  long value = word ? strtol(word, &end, 10) : 0;
  if (!word || end == word || *end) {
    fprintf(stderr, "%s: --%s needs a number\n", program, name);
    exit(2);
  }
  return value;
}

void options_read(int argc, char** argv, const struct option* table) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      print_help(argv[0], table);
      exit(0);
    }
    const struct option* option = find(table, argv[i]);
    if (!option) {
      fprintf(stderr, "%s: %s is no option; --help lists them\n", argv[0], argv[i]);
      exit(2);
    }
    *option->value = option->flag ? 1 : number(argv[0], option->name, argv[i + 1]);
    i += !option->flag;
  }
}

double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int in_order(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double median(double* values, long count) {
  qsort(values, (size_t)count, sizeof(double), in_order);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static bool printing(void) { return shmem_my_pe() == 0; }

void json_begin(const char* program) {
  if (printing()) printf("{\"program\": \"%s\", \"pes\": %d", program, shmem_n_pes());
}

void json_long(const char* key, long value) {
  if (printing()) printf(", \"%s\": %ld", key, value);
}

void json_double(const char* key, double value) {
  if (printing()) printf(", \"%s\": %.17g", key, value);
}

void json_doubles(const char* key, const double* values, long count) {
  if (!printing()) return;
  printf(", \"%s\": [", key);
  for (long i = 0; i < count; i++) printf("%s%.6g", i ? ", " : "", values[i]);
  printf("]");
}

void json_text(const char* key, const char* value) {
  if (printing()) printf(", \"%s\": \"%s\"", key, value);
}

void json_end(bool correct) {
  if (!printing()) return;
  printf(", \"correct\": %s}\n", correct ? "true" : "false");
  fflush(stdout);
}

// Static and therefore symmetric: every PE stores its own value, and the others read it after a
// barrier.
static double of_this_pe;

static double combined(double value_here, double (*combine)(double, double)) {
  of_this_pe = value_here;
  shmem_barrier_all();
  double result = shmem_double_g(&of_this_pe, 0);
  for (int pe = 1; pe < shmem_n_pes(); pe++)
    result = combine(result, shmem_double_g(&of_this_pe, pe));
  shmem_barrier_all();  // no PE stores its next value before all have read this one
  return result;
}

static double sum(double a, double b) { return a + b; }

double sum_of_all(double value_here) { return combined(value_here, sum); }

double largest_of_all(double value_here) { return combined(value_here, fmax); }

bool correct_everywhere(bool correct_here) {
  return sum_of_all(correct_here ? 0 : 1) == 0 && correct_here;
}

bool nearly(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

unsigned long mixed(unsigned long x) {
  x += 0x9e3779b97f4a7c15UL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9UL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebUL;
  return x ^ (x >> 31);
}
