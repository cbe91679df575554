/* SPDX-License-Identifier: BSD-3-Clause */
#include "minimd/system.h"

#include <math.h>

#include "common/program.h"

lattice lattice_of(long size, double density) {
  return (lattice){size, 4 * size * size * size, (double)size * cbrt(4 / density)};
}

void initial_position(const lattice* l, long atom, double x[3]) {
  static const double BASE[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  long cell = atom / 4,
       at[3] = {cell % l->size, cell / l->size % l->size, cell / l->size / l->size};
  for (int d = 0; d < 3; d++)
    x[d] = ((double)at[d] + BASE[atom % 4][d] + 0.25) * l->box / (double)l->size;
}

void initial_velocity(long atom, double v[3]) {
  // Uniform with variance 1.44, the temperature.
  for (int d = 0; d < 3; d++)
    v[d] = ((double)(mixed((unsigned long)(3 * atom + d)) >> 11) * 0x1p-53 - 0.5) * sqrt(12 * 1.44);
}

double nearest(const double x[3], const double y[3], double box, double difference[3]) {
  double squared = 0;
  for (int d = 0; d < 3; d++) {
    difference[d] = x[d] - y[d];
    difference[d] -= box * rint(difference[d] / box);
    squared += difference[d] * difference[d];
  }
  return squared;
}

double wrapped(double x, double box) {
  x -= box * floor(x / box);
  return x < box ? x : 0;  // rounding may have made x equal to box
}

double pair(const double difference[3], double squared, double force[3]) {
  if (squared >= CUTOFF * CUTOFF) return 0;
  double over_r2 = 1 / squared, over_r6 = over_r2 * over_r2 * over_r2;
  double scale = 48 * over_r6 * (over_r6 - 0.5) * over_r2;
  for (int d = 0; d < 3; d++) force[d] += scale * difference[d];
  return 2 * over_r6 * (over_r6 - 1);
}

void kick(double v[3], const double force[3]) {
  for (int d = 0; d < 3; d++) v[d] += 0.5 * TIME_STEP * force[d];
}

void drift(double x[3], const double v[3]) {
  for (int d = 0; d < 3; d++) x[d] += TIME_STEP * v[d];
}
