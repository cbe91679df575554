// SPDX-License-Identifier: BSD-3-Clause

// What all of these OpenSHMEM programs share: options, a clock, one line of JSON output, and
// agreement on whether the results are correct on all PEs.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// `--name VALUE`, or `--name` alone for a flag. The initial contents of `value` are the default; a
// flag that is given sets it to 1.
struct option {
  const char* name;
  long* value;
  bool flag;
  const char* help;
};

// Reads the command line into the table's values; the table ends with a NULL name. `--help` prints
// the table and exits with 0; an unknown option or a malformed number exits with 2. pre: called
// before shmem_init()
void options_read(int argc, char** argv, const struct option* table);

double seconds_now(void);

// Sorts the values and returns their median; count > 0.
double median(double* values, long count);

// Print one JSON object as one line on standard output. Only PE 0 prints.
void json_begin(const char* program);  // prints "program" and "pes"
void json_long(const char* key, long value);
void json_double(const char* key, double value);
void json_doubles(const char* key, const double* values, long count);
void json_text(const char* key, const char* value);
void json_end(bool correct);  // prints "correct"

// Collective: every PE must call these, and all get the same answer.
bool correct_everywhere(bool correct_here);
double sum_of_all(double value_here);
double largest_of_all(double value_here);

// Returns whether |a - b| is at most `tolerance` times the larger of |a|, |b| and 1.
bool nearly(double a, double b, double tolerance);

// Returns a well-mixed number for every x (SplitMix64's finalizer): data and random indices that
// every PE can compute by itself.
unsigned long mixed(unsigned long x);
