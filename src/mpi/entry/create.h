// SPDX-License-Identifier: BSD-3-Clause

// Shared by the generated entry points of window creation: decides whether and how a new window is
// cached. Implemented in create.cpp.
#pragma once

#include <cstdint>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Reasons why no window of a kind is cached.
enum class Obstacle { none, shared_window };

struct Creation {
  MPI_Info info;
  MPI_Comm comm;
  struct Exposed {  // the memory of this rank; null if not known
    const void* base;
    MPI_Aint bytes;
  } memory;
  int64_t unit;  // displacement unit
  bool dynamic;  // its memory is attached later
  Obstacle obstacle;
  const void* caller;  // return address of the program's call
};

// MPICH 5 returns MPI_SUCCESS from a call that has failed if an error handler of the program's has
// returned. Whether a window was created shows in its handle.
inline void expect_window(MPI_Win* win) {
  if (win != nullptr) *win = MPI_WIN_NULL;
}
inline bool was_created(const MPI_Win* win) { return win != nullptr && *win != MPI_WIN_NULL; }

// Called before the creation of a window with memory of the program's.
void will_expose(const void* base, MPI_Aint bytes);
// Collective; called when the window has been created.
void adopt(MPI_Win handle, const Creation& creation);

}  // namespace nearcache::mpi
