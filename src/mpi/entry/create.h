// What the generated entry points of window creation share: whether and how a new window is cached.
// Implemented in create.cpp.
#pragma once

#include <cstdint>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Why no window of a kind is cached.
enum class Obstacle { none, shared_window };

struct Creation {
  MPI_Info info;
  MPI_Comm comm;
  struct Exposed {  // the memory of this rank; null where it is not known
    const void* base;
    MPI_Aint bytes;
  } memory;
  int64_t unit;  // of displacements
  bool dynamic;  // its memory is attached later
  Obstacle obstacle;
  const void* caller;  // where the program's call returns to
};

// Collective, like the creation that has succeeded.
void adopt(MPI_Win handle, const Creation& creation);

}  // namespace nearcache::mpi
