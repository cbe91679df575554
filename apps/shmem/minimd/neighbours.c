/* SPDX-License-Identifier: BSD-3-Clause */
#include "minimd/neighbours.h"

#include <stdlib.h>

neighbours neighbours_new(void) { return (neighbours){0}; }

void neighbours_free(neighbours* n) {
  free(n->start);
  free(n->place);
}

static void add(neighbours* n, long place) {
  long at = n->start[n->atoms + 1]++;
  if (at == n->room) {
    n->room = 2 * n->room + 1024;
    n->place = realloc(n->place, (size_t)n->room * sizeof(long));
  }
  n->place[at] = place;
}

// The contents of the 27 cells in and around a cell, read once for all its atoms.
typedef struct {
  long count;
  long* place;
  double (*x)[3];
} surroundings;

static surroundings look_around(const cells* c, long cell) {
  size_t most = (size_t)(27 * c->capacity);
  surroundings s = {0, malloc(most * sizeof *s.place), malloc(most * sizeof *s.x)};
  for (int k = 0; k < 27; k++) {
    long near = cell_near(c, cell, k), count = long_at(c->count, near);
    for (long i = 0; i < count; i++, s.count++) {
      s.place[s.count] = place_in(c, near, i);
      gather(c->x, s.place[s.count], s.x[s.count]);
    }
  }
  return s;
}

static void find_of_atom(neighbours* n, const cells* c, long place, const surroundings* s) {
  double x[3], difference[3];
  gather(c->x, place, x);
  n->start[n->atoms + 1] = n->start[n->atoms];
  for (long i = 0; i < s->count; i++)
    if (s->place[i] != place &&
        nearest(x, s->x[i], c->box, difference) < (CUTOFF + SKIN) * (CUTOFF + SKIN))
      add(n, s->place[i]);
  n->atoms++;
}

void neighbours_find(neighbours* n, const cells* c) {
  long first = first_here(c->cells), end = end_here(c->cells), atoms = 0;
  for (long cell = first; cell < end; cell++) atoms += long_at(c->count, cell);
  n->start = realloc(n->start, (size_t)(atoms + 1) * sizeof(long));
  n->atoms = 0;
  n->start[0] = 0;
  for (long cell = first; cell < end; cell++) {
    surroundings s = look_around(c, cell);
    for (long i = 0; i < long_at(c->count, cell); i++) find_of_atom(n, c, place_in(c, cell, i), &s);
    free(s.place);
    free(s.x);
  }
}
