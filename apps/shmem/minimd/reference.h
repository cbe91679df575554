// SPDX-License-Identifier: BSD-3-Clause

// The same atoms simulated on one PE: all pairs, no cells, no lists.
#pragma once

#include "minimd/system.h"

typedef struct {
  long atoms;
  double (*x)[3];  // by atom number, not wrapped into the box
  double potential, kinetic;
} reference;

reference reference_run(const lattice* l, long steps);
void reference_free(reference* r);
