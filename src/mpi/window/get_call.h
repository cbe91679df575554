// A get, as the program asked for it.
#pragma once

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Counts as MPI_Count.
struct GetCall {
  void* origin;
  MPI_Count origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  MPI_Count target_count;
  MPI_Datatype target_type;
};

}  // namespace nearcache::mpi
