/* SPDX-License-Identifier: BSD-3-Clause */
#include "minimd/cells.h"

#include <stdio.h>

cells cells_new(const lattice* l) {
  cells c = {.box = l->box};
  c.side = (long)(c.box / (CUTOFF + SKIN));
  c.cells = c.side * c.side * c.side;
  c.capacity = 2 * l->atoms / c.cells + 16;
  // all places of a cell are on the same PE
  long places = block_of(c.cells) * shmem_n_pes() * c.capacity;
  for (int d = 0; d < 3; d++) {
    c.x[d] = doubles_new(places);
    c.v[d] = doubles_new(places);
  }
  c.atom = longs_new(places);
  c.count = longs_new(c.cells);
  return c;
}

long cell_near(const cells* c, long cell, int k) {
  long at[3] = {cell % c->side, cell / c->side % c->side, cell / c->side / c->side};
  const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
  for (int d = 0; d < 3; d++) at[d] = (at[d] + step[d] + c->side) % c->side;
  return (at[2] * c->side + at[1]) * c->side + at[0];
}

long cell_at(const cells* c, const double x[3]) {
  long at[3];
  for (int d = 0; d < 3; d++) {
    at[d] = (long)(wrapped(x[d], c->box) / c->box * (double)c->side);
    if (at[d] == c->side) at[d]--;
  }
  return (at[2] * c->side + at[1]) * c->side + at[0];
}

void cell_add(const cells* c, long cell, long atom, const double x[3], const double v[3]) {
  long count = long_at(c->count, cell), place = place_in(c, cell, count);
  if (count == c->capacity) {
    fprintf(stderr, "minimd: a cell has more than %ld atoms\n", c->capacity);
    shmem_global_exit(1);
  }
  scatter(c->x, place, x);
  scatter(c->v, place, v);
  set_long(c->atom, place, atom);
  set_long(c->count, cell, count + 1);
}

// Copies the atoms of cell `near` that are now located in `cell`.
static void take(const cells* from, long near, const cells* to, long cell) {
  long count = long_at(from->count, near);
  for (long i = 0; i < count; i++) {
    long place = place_in(from, near, i);
    double x[3], v[3];
    gather(from->x, place, x);
    if (cell_at(from, x) != cell) continue;
    for (int d = 0; d < 3; d++) x[d] = wrapped(x[d], from->box);
    gather(from->v, place, v);
    cell_add(to, cell, long_at(from->atom, place), x, v);
  }
}

void cells_sort(const cells* from, const cells* to) {
  for (long cell = first_here(from->cells); cell < end_here(from->cells); cell++) {
    set_long(to->count, cell, 0);
    for (int k = 0; k < 27; k++) take(from, cell_near(from, cell, k), to, cell);
  }
  shmem_barrier_all();
}
