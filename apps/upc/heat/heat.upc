/* SPDX-License-Identifier: BSD-3-Clause */
// heat: the diffusion of heat over a square plate, with Jacobi's method on a grid of points.
//
// Rows are distributed in blocks, one block per thread, and every thread reads the rows above and
// below its block where they are stored: no halo is copied, no message is sent, and most of the
// program is the formula.
#include <math.h>
#include <stdlib.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

#include "../common/program.h"

typedef shared [] double *row;  // a whole row has affinity to one thread

shared row directory[2][THREADS];  // start of each thread's block in either grid
shared double change[THREADS];     // the largest change on each thread
shared double largest_change;

static long size;  // points along a side, including the border

static long first_of(int thread) { return size * thread / THREADS; }

// Each thread allocates its own rows; then all threads learn the addresses of all rows.
static row *grid_new(int which) {
  long first = first_of(MYTHREAD), end = first_of(MYTHREAD + 1);
  directory[which][MYTHREAD] = upc_alloc((size_t)(end - first) * (size_t)size * sizeof(double) + 1);
  upc_barrier;
  row *rows = malloc((size_t)size * sizeof(row));
  for (int thread = 0; thread < THREADS; thread++) {
    row begin = directory[which][thread];
    for (long i = first_of(thread); i < first_of(thread + 1); i++) rows[i] = begin + (i - first_of(thread)) * size;
  }
  return rows;
}

static void grid_free(row *rows, int which) {
  upc_barrier;
  upc_free(directory[which][MYTHREAD]);
  free(rows);
}

// The upper edge is hot, somewhat unevenly; everything else is cold.
static double at_start(long i, long j) { return i == 0 ? 100 + 20 * sin(0.1 * (double)j) : 0; }

static double relaxed_point(double up, double left, double here, double right, double down) {
  return here + 0.2 * (up + left + right + down - 4 * here);
}

// Advances this thread's rows by one step; returns the largest change of any point.
static double step(row *from, row *to) {
  double largest = 0;
  for (long i = first_of(MYTHREAD); i < first_of(MYTHREAD + 1); i++) {
    if (i == 0 || i == size - 1) continue;  // the border is constant
    for (long j = 1; j < size - 1; j++) {
      to[i][j] = relaxed_point(from[i - 1][j], from[i][j - 1], from[i][j], from[i][j + 1], from[i + 1][j]);
      largest = fmax(largest, fabs(to[i][j] - from[i][j]));
    }
  }
  return largest;
}

// Performs the same computation in private memory on one thread; returns the grid after `steps`
// steps.
static double *serial(long steps) {
  size_t points = (size_t)size * (size_t)size;
  double *from = malloc(points * sizeof(double)), *to = malloc(points * sizeof(double));
  for (size_t p = 0; p < points; p++) from[p] = to[p] = at_start((long)p / size, (long)p % size);
  for (long k = 0; k < steps; k++) {
    for (long i = 1; i < size - 1; i++)
      for (long j = 1; j < size - 1; j++) {
        double *p = &from[i * size + j];
        to[i * size + j] = relaxed_point(p[-size], p[-1], p[0], p[1], p[size]);
      }
    double *other = from;
    from = to;
    to = other;
  }
  free(to);
  return from;
}

static bool is_right(row *rows, long steps) {
  bool right = true;
  double *expected = serial(steps);
  for (long i = first_of(MYTHREAD); i < first_of(MYTHREAD + 1); i++)
    for (long j = 0; j < size; j++) right = right && fabs(rows[i][j] - expected[i * size + j]) <= 1e-10;
  free(expected);
  return right;
}

int main(int argc, char **argv) {
  long iterations = 20;
  size = 256;
  options_read(argc, argv, (struct choice[]){
    {"size", &size, false, "points a side, with the border"},
    {"iterations", &iterations, false, "steps of time"},
    {0},
  });
  if (size < 3) size = 3;
  row *from = grid_new(0), *to = grid_new(1);
  for (long i = first_of(MYTHREAD); i < first_of(MYTHREAD + 1); i++)
    for (long j = 0; j < size; j++) from[i][j] = to[i][j] = at_start(i, j);
  upc_barrier;

  double begin = seconds_now();
  for (long k = 0; k < iterations; k++) {
    change[MYTHREAD] = step(from, to);
    row *other = from;
    from = to;
    to = other;
    // All threads must be done before any overwrites points that others still read.
    upc_all_reduceD(&largest_change, change, UPC_MAX, THREADS, 1, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  }
  double seconds = seconds_now() - begin;

  bool correct = correct_everywhere(is_right(from, iterations));
  double heat = 0;
  for (long i = first_of(MYTHREAD); i < first_of(MYTHREAD + 1); i++)
    for (long j = 0; j < size; j++) heat += from[i][j];
  heat = sum_of_all(heat);
  json_begin("heat");
  json_long("size", size);
  json_long("iterations", iterations);
  json_double("largest_change", largest_change);
  json_double("heat", heat);
  json_double("seconds", seconds);
  json_end(correct);
  grid_free(from, iterations % 2 ? 1 : 0);
  grid_free(to, iterations % 2 ? 0 : 1);
  return !correct;
}
