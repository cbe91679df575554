// What every OpenSHMEM program here needs besides its own work: options, a clock, one line of JSON,
// and whether all PEs are right.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// `--name VALUE`, or `--name` alone for a flag. The value is what stands there before, and 1 for a
// flag that is given.
struct option {
  const char* name;
  long* value;
  bool flag;
  const char* help;
};

// Reads the command line into the table's values; the table ends with a name of NULL. `--help`
// prints it and ends the program; what is no option of the table, or no number, ends it with 2. To
// be called before shmem_init().
void options_read(int argc, char** argv, const struct option* table);

double seconds_now(void);

// Sorts the values; count > 0.
double median(double* values, long count);

// One JSON object in one line of standard output, printed by PE 0; the others print nothing.
void json_begin(const char* program);  // with "program" and "pes"
void json_long(const char* key, long value);
void json_double(const char* key, double value);
void json_doubles(const char* key, const double* values, long count);
void json_text(const char* key, const char* value);
void json_end(bool correct);  // "correct"

// Collective: every PE calls them, and all get the same answer.
bool correct_everywhere(bool correct_here);
double sum_of_all(double value_here);
double largest_of_all(double value_here);

// |a - b| is no more than `tolerance` of the larger one, or of 1.
bool nearly(double a, double b, double tolerance);

// A well mixed number for every x (SplitMix64's finisher): data and random indices that every PE
// can compute for itself.
unsigned long mixed(unsigned long x);
