// SPDX-License-Identifier: BSD-3-Clause

// Neighbour lists of this PE's atoms: in ordinary local memory, although the listed atoms may be on
// any PE.
#pragma once

#include "minimd/cells.h"

typedef struct {
  // place[start[i]] to place[start[i + 1] - 1] are the neighbours of the i-th atom here, ordered by
  // cell and place
  long* start;
  long* place;
  long atoms, room;
} neighbours;

neighbours neighbours_new(void);
void neighbours_free(neighbours* n);
void neighbours_find(neighbours* n, const cells* c);
