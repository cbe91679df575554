// What every UPC program here needs besides its own work: options, a clock, one line of JSON, and whether all threads are right.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// `--name N`, or `--name` alone for a flag. The value is what stands there before, and 1 for a flag that is given.
struct choice {
  const char *name;
  long *value;
  bool flag;
  const char *help;
};

// Reads the command line into the table's values; the table ends with a name of NULL. Every thread calls it. `--help` prints the table and
// ends the program; what is no option of the table, or no number, or less than 0, ends it with 2.
void options_read(int argc, char **argv, const struct choice *table);

double seconds_now(void);

// One JSON object in one line of standard output, printed by thread 0; the others print nothing.
void json_begin(const char *program);  // with "program" and "threads"
void json_long(const char *key, long value);
void json_double(const char *key, double value);
void json_doubles(const char *key, shared const double *values, long count);  // values[0] lies on thread 0
void json_text(const char *key, const char *value);
void json_end(bool correct);  // "correct"

// Collective: every thread calls them, and all get the same answer.
bool correct_everywhere(bool correct_here);
double sum_of_all(double value_here);
double largest_of_all(double value_here);

// A well mixed number for every x (SplitMix64's finisher): data and random indices that every thread can compute for itself.
uint64_t mixed(uint64_t x);

// The same between 0 and 1.
double mixed_unit(uint64_t x);
