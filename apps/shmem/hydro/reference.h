// The same steps on one PE in ordinary arrays, to compare with.
#pragma once

#include "mesh.h"

typedef struct {
  double (*x)[3];  // of every node
  double* energy;  // internal, of every element
} reference;

reference reference_run(const mesh* m, bool natural, long steps, double dt);
void reference_free(reference* r);

// What both runs begin with: mass 1 in the cube, energy 1 in the element at the origin and next to
// none elsewhere.
double initial_energy(long element);
double mass_of_node(const mesh* m, long node);
double time_step(const mesh* m);
