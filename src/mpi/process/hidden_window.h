// SPDX-License-Identifier: BSD-3-Clause

// A window of Nearcache's own, for words that the ranks of a group tell each other.
#pragma once

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// It lives longer than the program's communicator, so it has one of its own: MPICH (4.0.2 to 5.0.2)
// takes a window whose communicator has been freed for one of a later communicator, and crashes.
class HiddenWindow {
 public:
  // Allocates memory for each rank of `comm`; null on failure. Collective.
  void* allocate(MPI_Comm comm, MPI_Aint bytes, int unit);
  // Begins an epoch for all ranks, which lasts until free(). Nobody sends anything before all have
  // prepared their memory. Collective.
  void open() const {
    next.Barrier(comm_);
    next.Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  void free() {  // collective
    if (window_ == MPI_WIN_NULL) return;
    next.Win_unlock_all(window_);
    next.Win_free(&window_);
    next.Comm_free(&comm_);
  }
  MPI_Win get() const { return window_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace nearcache::mpi
