// SPDX-License-Identifier: BSD-3-Clause

// A get with the program's arguments.
#pragma once

#include "mpi/coherence/receives.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Counts are widened to MPI_Count.
struct GetCall {
  void* origin;
  MPI_Count origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  MPI_Count target_count;
  MPI_Datatype target_type;
};

// Reports that MPI will write to this rank's memory, which may be part of a window.
inline void note_receives(const GetCall& call) {
  if (receives_are_told()) [[unlikely]]
    tell_received(call.origin, call.origin_count, call.origin_type, true);
}

}  // namespace nearcache::mpi
