/* SPDX-License-Identifier: BSD-3-Clause */
#include "minimd/reference.h"

#include <stdlib.h>
#include <string.h>

static double all_forces(long atoms, double (*x)[3], double (*force)[3], double box) {
  double potential = 0;
  memset(force, 0, (size_t)atoms * sizeof *force);
  for (long i = 0; i < atoms; i++)
    for (long j = 0; j < atoms; j++) {
      double difference[3];
      if (i == j) continue;
      double squared = nearest(x[i], x[j], box, difference);
      potential += pair(difference, squared, force[i]);
    }
  return potential;
}

reference reference_run(const lattice* l, long steps) {
  reference r = {.atoms = l->atoms};
  double(*v)[3] = calloc((size_t)r.atoms, sizeof *v),
  (*force)[3] = calloc((size_t)r.atoms, sizeof *force);
  r.x = calloc((size_t)r.atoms, sizeof *r.x);
  for (long i = 0; i < r.atoms; i++) {
    initial_position(l, i, r.x[i]);
    initial_velocity(i, v[i]);
  }
  r.potential = all_forces(r.atoms, r.x, force, l->box);
  for (long s = 0; s < steps; s++) {
    for (long i = 0; i < r.atoms; i++) {
      kick(v[i], force[i]);
      drift(r.x[i], v[i]);
    }
    r.potential = all_forces(r.atoms, r.x, force, l->box);
    for (long i = 0; i < r.atoms; i++) kick(v[i], force[i]);
  }
  for (long i = 0; i < r.atoms; i++)
    for (int d = 0; d < 3; d++) r.kinetic += 0.5 * v[i][d] * v[i][d];
  free(v);
  free(force);
  return r;
}

void reference_free(reference* r) { free(r->x); }
