// SPDX-License-Identifier: BSD-3-Clause

// The distributed cells: the box is divided into side*side*side cells, each at least as large as
// the reach of the neighbour lists, and each PE owns a block of cells. A cell has `capacity` places
// for atoms; place p of cell c is element c*capacity + p of every array.
#pragma once

#include "common/distributed.h"
#include "minimd/system.h"

typedef struct {
  long side, cells, capacity;
  double box;
  doubles x[3], v[3];
  longs atom;   // the atom's number, for the final check
  longs count;  // number of atoms per cell
} cells;

// Collective. Creates empty cells. The box must have at least 3 cells along each edge; otherwise a
// cell would be its own neighbour.
cells cells_new(const lattice* l);

static inline long place_in(const cells* c, long cell, long index) {
  return cell * c->capacity + index;
}

// Returns the k-th of the 27 cells in and around a cell; the box is periodic.
long cell_near(const cells* c, long cell, int k);
long cell_at(const cells* c, const double x[3]);

static inline void gather(const doubles field[3], long place, double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = double_at(field[d], place);
}
static inline void scatter(const doubles field[3], long place, const double in[3]) {
  for (int d = 0; d < 3; d++) set_double(field[d], place, in[d]);
}

// Adds an atom to a cell of this PE.
void cell_add(const cells* c, long cell, long atom, const double x[3], const double v[3]);

// Collective. Fills `to` with all atoms of `from`, sorted into the cells in which they are now. No
// atom may have moved further than to a neighbouring cell.
void cells_sort(const cells* from, const cells* to);
