// SPDX-License-Identifier: BSD-3-Clause

// The same time steps on one PE with ordinary arrays, for comparison.
#pragma once

#include "mesh.h"

typedef struct {
  double (*x)[3];  // per node
  double* energy;  // internal energy per element
} reference;

reference reference_run(const mesh* m, bool natural, long steps, double dt);
void reference_free(reference* r);

// Initial conditions of both runs: mass 1 in the cube, energy 1 in the element at the origin and
// almost none elsewhere.
double initial_energy(long element);
double mass_of_node(const mesh* m, long node);
double time_step(const mesh* m);
