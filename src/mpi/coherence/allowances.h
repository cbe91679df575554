// SPDX-License-Identifier: BSD-3-Clause

// What all windows of a process together may spend on mode coherent, in ticks.
#pragma once

#include "base/allowance.h"

namespace nearcache::mpi {

struct Allowances {
  Allowance closing;   // opening and closing regions of others
  Allowance watching;  // beginning and ending to watch own memory
};

}  // namespace nearcache::mpi
