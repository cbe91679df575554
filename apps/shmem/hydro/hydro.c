/* SPDX-License-Identifier: BSD-3-Clause */
// hydro: explicit Lagrangian hydrodynamics on an unstructured mesh of hexahedra (similar to
// LULESH).
//
// A blast wave starts at a corner of a cube. Elements and nodes are distributed in blocks by
// number. An element gathers the positions and velocities of its eight nodes by their numbers,
// wherever these nodes are; a node gathers the forces of its adjacent elements. The mesh is not
// partitioned and no PE keeps copies of another PE's nodes: every access is one get.
#include <shmem.h>
#include <stdlib.h>

#include "common/distributed.h"
#include "common/program.h"
#include "hydro/element.h"
#include "hydro/mesh.h"
#include "hydro/reference.h"

// Distributed arrays, one per component.
typedef struct {
  doubles x[3], v[3], mean_velocity[3];  // per node
  doubles force[3];                      // on the corners of the elements: [element*8 + c]
  doubles energy;                        // internal energy per element
} state;

static state state_new(const mesh* m) {
  state s;
  // all corners of an element are on the same PE
  long corners = block_of(m->elements) * 8 * shmem_n_pes();
  for (int d = 0; d < 3; d++) {
    s.x[d] = doubles_new(m->nodes);
    s.v[d] = doubles_new(m->nodes);
    s.mean_velocity[d] = doubles_new(m->nodes);
    s.force[d] = doubles_new(corners);
  }
  s.energy = doubles_new(m->elements);
  return s;
}

static void gather(const doubles field[3], long i, double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = double_at(field[d], i);
}

static void scatter(const doubles field[3], long i, const double in[3]) {
  for (int d = 0; d < 3; d++) set_double(field[d], i, in[d]);
}

static void initialise(const mesh* m, bool natural, state s) {
  for (long node = first_here(m->nodes); node < end_here(m->nodes); node++) {
    double at[3];
    mesh_position(m, natural, node, at);
    scatter(s.x, node, at);
  }
  for (long e = first_here(m->elements); e < end_here(m->elements); e++)
    set_double(s.energy, e, initial_energy(e));
}

static void step_elements(const mesh* m, state s, double dt, bool first) {
  for (long e = first_here(m->elements); e < end_here(m->elements); e++) {
    double x[8][3], u[8][3], force[8][3];
    for (int c = 0; c < 8; c++) {
      gather(s.x, m->corner[e * 8 + c], x[c]);
      gather(s.mean_velocity, m->corner[e * 8 + c], u[c]);
      gather(s.force, e * 8 + c, force[c]);
    }
    double energy = double_at(s.energy, e);
    if (!first) energy -= element_work(force, u, dt);
    element_forces(x, energy, force);
    set_double(s.energy, e, energy);
    for (int c = 0; c < 8; c++) scatter(s.force, e * 8 + c, force[c]);
  }
}

static void step_nodes(const mesh* m, state s, double dt) {
  for (long node = first_here(m->nodes); node < end_here(m->nodes); node++) {
    double total[3] = {0}, x[3], v[3], mean[3];
    for (long k = m->corner_start[node]; k < m->corner_start[node + 1]; k++) {
      double force[3];
      gather(s.force, m->corners_of[k], force);
      for (int d = 0; d < 3; d++) total[d] += force[d];
    }
    gather(s.x, node, x);
    gather(s.v, node, v);
    node_step(x, v, mean, total, mass_of_node(m, node), dt);
    scatter(s.x, node, x);
    scatter(s.v, node, v);
    scatter(s.mean_velocity, node, mean);
  }
}

static bool as_reference(const mesh* m, bool natural, state s, long steps, double dt) {
  reference r = reference_run(m, natural, steps, dt);
  bool right = true;
  for (long node = first_here(m->nodes); node < end_here(m->nodes); node++)
    for (int d = 0; d < 3; d++)
      right = right && nearly(double_at(s.x[d], node), r.x[node][d], 1e-12);
  for (long e = first_here(m->elements); e < end_here(m->elements); e++)
    right = right && nearly(double_at(s.energy, e), r.energy[e], 1e-12);
  reference_free(&r);
  return right;
}

// Returns the sum of the internal energy, including the work of the last step's forces, and the
// kinetic energy.
static double total_energy(const mesh* m, state s, double dt) {
  double total = 0;
  for (long e = first_here(m->elements); e < end_here(m->elements); e++) {
    double force[8][3], u[8][3];
    for (int c = 0; c < 8; c++) {
      gather(s.force, e * 8 + c, force[c]);
      gather(s.mean_velocity, m->corner[e * 8 + c], u[c]);
    }
    total += double_at(s.energy, e) - element_work(force, u, dt);
  }
  for (long node = first_here(m->nodes); node < end_here(m->nodes); node++)
    for (int d = 0; d < 3; d++) {
      double v = double_at(s.v[d], node);
      total += 0.5 * mass_of_node(m, node) * v * v;
    }
  return sum_of_all(total);
}

int main(int argc, char** argv) {
  long n = 12, steps = 5, natural = 0, quick = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"size", &n, false, "elements along an edge of the cube"},
                   {"steps", &steps, false, "time steps"},
                   {"natural", &natural, true, "nodes numbered as elements"},
                   {"quick", &quick, true, "size 3, 2 steps"},
                   {0},
               });
  if (quick) n = 3, steps = 2;
  shmem_init();
  mesh m = mesh_new(n, natural);
  state s = state_new(&m);
  double dt = time_step(&m);
  initialise(&m, natural, s);
  shmem_barrier_all();

  double begin = seconds_now();
  for (long step = 0; step < steps; step++) {
    step_elements(&m, s, dt, step == 0);
    shmem_barrier_all();
    step_nodes(&m, s, dt);
    shmem_barrier_all();
  }
  double seconds = seconds_now() - begin;

  double begun_with = 1 + 1e-6 * (double)(m.elements - 1), energy = total_energy(&m, s, dt);
  bool correct = correct_everywhere(as_reference(&m, natural, s, steps, dt) &&
                                    nearly(energy, begun_with, 1e-10));
  json_begin("hydro");
  json_long("elements", m.elements);
  json_long("steps", steps);
  json_double("seconds", seconds);
  json_double("total_energy", energy);
  json_end(correct);
  mesh_free(&m);
  shmem_finalize();
  return !correct;
}
