/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"

double initial_energy(long element) { return element == 0 ? 1 : 1e-6; }

double mass_of_node(const mesh* m, long node) {
  return (double)(m->corner_start[node + 1] - m->corner_start[node]) / (double)(8 * m->elements);
}

// A tenth of the time that sound takes through the hot element: density 1, pressure (gamma - 1)
// energy / volume.
double time_step(const mesh* m) {
  return 0.1 / (double)m->n / sqrt(GAMMA * (GAMMA - 1) * (double)m->elements);
}

static void step_elements(const mesh* m, reference* r, double (*mean)[3], double (*force)[8][3],
                          double dt, bool first) {
  for (long e = 0; e < m->elements; e++) {
    double x[8][3], u[8][3];
    for (int c = 0; c < 8; c++) {
      memcpy(x[c], r->x[m->corner[e * 8 + c]], sizeof x[c]);
      memcpy(u[c], mean[m->corner[e * 8 + c]], sizeof u[c]);
    }
    if (!first) r->energy[e] -= element_work(force[e], u, dt);
    element_forces(x, r->energy[e], force[e]);
  }
}

static void step_nodes(const mesh* m, reference* r, double (*v)[3], double (*mean)[3],
                       double (*force)[8][3], double dt) {
  for (long node = 0; node < m->nodes; node++) {
    double total[3] = {0};
    for (long k = m->corner_start[node]; k < m->corner_start[node + 1]; k++)
      for (int d = 0; d < 3; d++) total[d] += force[m->corners_of[k] / 8][m->corners_of[k] % 8][d];
    node_step(r->x[node], v[node], mean[node], total, mass_of_node(m, node), dt);
  }
}

reference reference_run(const mesh* m, bool natural, long steps, double dt) {
  size_t nodes = (size_t)m->nodes, elements = (size_t)m->elements;
  reference r = {calloc(nodes, sizeof *r.x), calloc(elements, sizeof *r.energy)};
  double(*v)[3] = calloc(nodes, sizeof *v), (*mean)[3] = calloc(nodes, sizeof *mean);
  double(*force)[8][3] = calloc(elements, sizeof *force);
  for (long node = 0; node < m->nodes; node++) mesh_position(m, natural, node, r.x[node]);
  for (long e = 0; e < m->elements; e++) r.energy[e] = initial_energy(e);
  for (long s = 0; s < steps; s++) {
    step_elements(m, &r, mean, force, dt, s == 0);
    step_nodes(m, &r, v, mean, force, dt);
  }
  free(v);
  free(mean);
  free(force);
  return r;
}

void reference_free(reference* r) {
  free(r->x);
  free(r->energy);
}
