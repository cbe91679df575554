// The distributed cells: the box is cut into side*side*side cells no smaller than the neighbour
// lists' reach, and each PE has a block of them. A cell is `capacity` places for atoms; place p of
// cell c is number c*capacity + p of every array.
#pragma once

#include "common/distributed.h"
#include "minimd/system.h"

typedef struct {
  long side, cells, capacity;
  double box;
  doubles x[3], v[3];
  longs atom;   // the atom's name, for the check
  longs count;  // of atoms, by cell
} cells;

// Collective. No atoms in them. Fewer than 3 along an edge: the box is too small, a cell would be
// its own neighbour.
cells cells_new(const lattice* l);

static inline long place_in(const cells* c, long cell, long index) {
  return cell * c->capacity + index;
}

// The k-th of the 27 cells around a cell, itself among them; the box is periodic.
long cell_near(const cells* c, long cell, int k);
long cell_at(const cells* c, const double x[3]);

static inline void gather(const doubles field[3], long place, double out[3]) {
  for (int d = 0; d < 3; d++) out[d] = double_at(field[d], place);
}
static inline void scatter(const doubles field[3], long place, const double in[3]) {
  for (int d = 0; d < 3; d++) set_double(field[d], place, in[d]);
}

// Adds an atom to one of this PE's cells.
void cell_add(const cells* c, long cell, long atom, const double x[3], const double v[3]);

// Collective: into `to`, all atoms of `from` in the cells where they are now. No atom has moved
// further than to a neighbouring cell.
void cells_sort(const cells* from, const cells* to);
