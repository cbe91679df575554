/* SPDX-License-Identifier: BSD-3-Clause */
// cpi: pi as the integral of 4 / (1 + x^2) from 0 to 1, by the midpoint rule.
//
// The smallest complete UPC program: upc_forall distributes the iterations, every thread sums its
// own, and a collective adds the sums.
#include <math.h>
#include <stdlib.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

#include "../common/program.h"

shared double partial[THREADS];  // element i has affinity to thread i
shared double pi;                // on thread 0

static double height(long i, long intervals) {
  double x = ((double)i + 0.5) / (double)intervals;
  return 4 / (1 + x * x);
}

// The affinity expression is an integer, so thread i % THREADS executes iteration i.
static double area_of_mine(long intervals) {
  double sum = 0;
  long i;
  upc_forall(i = 0; i < intervals; i++; i) sum += height(i, intervals);
  return sum / (double)intervals;
}

// The error of the midpoint rule is h^2/24 * (f'(1) - f'(0)) = h^2/12 here; anything beyond that is
// rounding in the sums.
static bool is_pi(double value, long intervals) {
  double h = 1 / (double)intervals;
  return fabs(value - M_PI) <= h * h / 6 + 1e-12 * sqrt((double)intervals);
}

static double serial_area(long intervals) {
  double sum = 0;
  for (long i = 0; i < intervals; i++) sum += height(i, intervals);
  return sum / (double)intervals;
}

int main(int argc, char **argv) {
  long intervals = 10000000, repetitions = 1;
  options_read(argc, argv, (struct choice[]){
    {"intervals", &intervals, false, "of the integral"},
    {"repetitions", &repetitions, false, "of the integration"},
    {0},
  });
  if (intervals < 1) intervals = 1;
  upc_barrier;
  double begin = seconds_now();
  for (long k = 0; k < repetitions; k++) {
    partial[MYTHREAD] = area_of_mine(intervals);
    upc_all_reduceD(&pi, partial, UPC_ADD, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  }
  double seconds = seconds_now() - begin;

  begin = seconds_now();
  double serial = serial_area(intervals);
  double serial_seconds = seconds_now() - begin;
  bool correct = correct_everywhere(is_pi(pi, intervals) && fabs(pi - serial) <= 1e-11);
  json_begin("cpi");
  json_long("intervals", intervals);
  json_double("pi", pi);
  json_double("error", pi - M_PI);
  json_double("seconds", seconds);
  json_double("serial_seconds", serial_seconds);
  json_end(correct);
  return !correct;
}
