/* SPDX-License-Identifier: BSD-3-Clause */
// minimd: molecular dynamics of Lennard-Jones atoms with neighbour lists over distributed cells
// (similar to miniMD).
//
// Every PE moves the atoms of its own cells. To compute forces, it reads the positions of their
// neighbours one coordinate at a time, wherever they are; no PE keeps copies of cells beyond its
// border.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/program.h"
#include "minimd/cells.h"
#include "minimd/neighbours.h"
#include "minimd/reference.h"
#include "minimd/system.h"

// Loops over all atoms in this PE's cells: `place` is the atom's place, `number` its index among
// the atoms here.
#define FOR_OWN_ATOMS(c, place, number)                                                        \
  for (long cell_ = first_here((c)->cells), number = 0; cell_ < end_here((c)->cells); cell_++) \
    for (long place = place_in(c, cell_, 0);                                                   \
         place < place_in(c, cell_, long_at((c)->count, cell_)); place++, number++)

static void fill(const cells* c, const lattice* l) {
  for (long atom = 0; atom < l->atoms; atom++) {
    double x[3], v[3];
    initial_position(l, atom, x);
    initial_velocity(atom, v);
    long cell = cell_at(c, x);
    if (cell >= first_here(c->cells) && cell < end_here(c->cells)) cell_add(c, cell, atom, x, v);
  }
  shmem_barrier_all();
}

// Computes the forces on all atoms here; returns their share of the potential energy.
static double forces(const cells* c, const neighbours* n, double (*force)[3]) {
  double potential = 0;
  FOR_OWN_ATOMS(c, place, i) {
    double x[3];
    gather(c->x, place, x);
    for (int d = 0; d < 3; d++) force[i][d] = 0;
    for (long k = n->start[i]; k < n->start[i + 1]; k++) {
      double y[3], difference[3];
      gather(c->x, n->place[k], y);
      double squared = nearest(x, y, c->box, difference);
      potential += pair(difference, squared, force[i]);
    }
  }
  return potential;
}

static void half_kick(const cells* c, double (*force)[3]) {
  FOR_OWN_ATOMS(c, place, i) {
    double v[3];
    gather(c->v, place, v);
    kick(v, force[i]);
    scatter(c->v, place, v);
  }
}

static void move(const cells* c) {
  FOR_OWN_ATOMS(c, place, i) {
    double x[3], v[3];
    gather(c->x, place, x);
    gather(c->v, place, v);
    drift(x, v);
    scatter(c->x, place, x);
  }
}

static double kinetic(const cells* c) {
  double sum = 0;
  FOR_OWN_ATOMS(c, place, i) {
    double v[3];
    gather(c->v, place, v);
    for (int d = 0; d < 3; d++) sum += 0.5 * v[d] * v[d];
  }
  return sum;
}

static bool as_reference(const cells* c, const reference* r) {
  bool right = true;
  long count = 0;
  FOR_OWN_ATOMS(c, place, i) {
    double x[3], difference[3];
    gather(c->x, place, x);
    right = right && nearest(x, r->x[long_at(c->atom, place)], c->box, difference) < 1e-18;
    count = i + 1;
  }
  return sum_of_all((double)count) == (double)r->atoms && right;
}

int main(int argc, char** argv) {
  long size = 6, density = 8442, steps = 2, rebuild = 2, quick = 0;
  options_read(
      argc, argv,
      (struct option[]){
          {"size", &size, false, "lattice cells along an edge of the box, 4 atoms in each"},
          {"density", &density, false, "of atoms, in ten-thousandths"},
          {"steps", &steps, false, "time steps"},
          {"rebuild", &rebuild, false, "steps between new lists"},
          {"quick", &quick, true, "size 4, density 2,500, 2 steps, new lists after each"},
          {0},
      });
  if (quick) size = 4, density = 2500, steps = 2, rebuild = 1;
  lattice l = lattice_of(size, 1e-4 * (double)density);
  if (l.box < 3 * (CUTOFF + SKIN) || rebuild < 1) {
    fprintf(stderr,
            "minimd: the box is too small for the neighbour lists' reach of %g, or --rebuild less "
            "than 1\n",
            CUTOFF + SKIN);
    return 2;
  }
  shmem_init();
  cells buffers[2] = {cells_new(&l), cells_new(&l)}, *now = &buffers[0], *next = &buffers[1];
  neighbours lists = neighbours_new();
  double(*force)[3] = malloc((size_t)l.atoms * sizeof *force);
  fill(now, &l);

  double begin = seconds_now();
  neighbours_find(&lists, now);
  double potential = forces(now, &lists, force);
  for (long step = 1; step <= steps; step++) {
    half_kick(now, force);
    shmem_barrier_all();  // all PEs have read the old positions
    move(now);
    shmem_barrier_all();
    if (step % rebuild == 0) {
      cells_sort(now, next);
      cells* old = now;
      now = next;
      next = old;
      neighbours_find(&lists, now);
    }
    potential = forces(now, &lists, force);
    half_kick(now, force);
  }
  shmem_barrier_all();
  double seconds = seconds_now() - begin;

  potential = sum_of_all(potential);
  double moving = sum_of_all(kinetic(now));
  reference r = reference_run(&l, steps);
  bool correct = as_reference(now, &r) && nearly(potential, r.potential, 1e-10) &&
                 nearly(moving, r.kinetic, 1e-10);
  correct = correct_everywhere(correct);
  json_begin("minimd");
  json_long("atoms", r.atoms);
  json_long("steps", steps);
  json_double("seconds", seconds);
  json_double("potential_energy", potential);
  json_double("kinetic_energy", moving);
  json_end(correct);
  reference_free(&r);
  neighbours_free(&lists);
  free(force);
  shmem_finalize();
  return !correct;
}
