// SPDX-License-Identifier: BSD-3-Clause

// What is found out about a window when it is created, and never changes.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

struct WindowIdentity {
  int64_t id = 0;  // agreed on by all ranks of the window (telemetry/window_id.h)
  MPI_Win handle = MPI_WIN_NULL;
  int rank = 0, ranks = 1;  // in the window's group
  int64_t unit = 1;         // displacement unit of all ranks, 0 if they differ
  // displacements are addresses of attached memory: nothing is known about what lies around a get
  bool dynamic = false;
  // why this rank's memory may change without a call or a store of this process, or null
  const char* changed_unseen = nullptr;
  bool overlaps = false;     // some rank's memory of this window also belongs to another window
  bool by_engine = false;    // the RMA engine does its one-sided communication
  int64_t least_bytes = 0;   // lower bound on the memory that each rank exposes, all of which
                             // may be read; 0 if unknown
  std::vector<uint8_t> far;  // by rank: it is on another node
};

}  // namespace nearcache::mpi
