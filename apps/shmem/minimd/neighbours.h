// Neighbour lists of this PE's atoms: ordinary local memory; what they name may be on any PE.
#pragma once

#include "minimd/cells.h"

typedef struct {
  // start[i] to start[i + 1] - 1 in `place` are the neighbours of the i-th atom here, in the order
  // of cells and places
  long* start;
  long* place;
  long atoms, room;
} neighbours;

neighbours neighbours_new(void);
void neighbours_free(neighbours* n);
void neighbours_find(neighbours* n, const cells* c);
