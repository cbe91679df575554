// SPDX-License-Identifier: BSD-3-Clause

// Windows of the host MPI on this rank alone. They serve as the handles of the engine's windows,
// and provide their names, attributes, info and error handlers.
//
// They are created and freed one at a time, even by concurrent threads: two threads must not be in
// collective calls on the same communicator, and MPICH corrupts a table if windows are freed
// concurrently (host defect windows_freed_at_once). They use a communicator of our own, because the
// program's threads may be in calls on MPI_COMM_SELF, and errors on it are returned, because a
// window that the host rejects is not yet an error of the program's.
#pragma once

#include <mutex>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Handles {
 public:
  // Must be called while only one thread calls MPI. If it is not called, MPI_COMM_SELF is used.
  void begin();
  // Called before the end of MPI.
  void end();

  // Creates a window with `bytes` bytes of memory, whose address is stored at `base`. The window is
  // in an epoch that never ends, so that a get from MPI_PROC_NULL on it yields requests that are
  // complete.
  bool make(MPI_Aint bytes, int unit, MPI_Info info, void* base, MPI_Win* handle);
  // Calls `freed` before the handle may be reused. Returns the host's result; if that is an error,
  // as when a callback of the program failed, the handle remains as it was.
  template <class Freed>
  int free(MPI_Win* handle, Freed freed) {
    const std::lock_guard lock(mutex_);
    const int rc = free_one(handle);
    freed();
    return rc;
  }

 private:
  static int free_one(MPI_Win* handle);

  std::recursive_mutex mutex_;  // deleting a window's attribute may free another window
  MPI_Comm comm_ = MPI_COMM_SELF;
};

}  // namespace nearcache::mpi
