// Windows of the host on this rank alone, which serve as the handles of the engine's windows:
// names, attributes, info and error handlers are theirs.
//
// Created and freed one at a time, however many threads do so: no two may be in collective calls on
// one communicator, and MPICH corrupts a table if windows are freed concurrently (host defect
// windows_freed_at_once). The communicator is our own, because the program's threads may be in
// calls on MPI_COMM_SELF; and errors on it are returned, because a window that the host rejects is
// not yet an error of the program's.
#pragma once

#include <mutex>

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

class Handles {
 public:
  // While only one thread calls MPI. Without it, the communicator is MPI_COMM_SELF.
  void begin();
  // The end of MPI is next.
  void end();

  // In an epoch that never ends: by a get from nobody it gives out requests that are complete. With
  // memory of that size, whose address is stored at `base`.
  bool make(MPI_Aint bytes, int unit, MPI_Info info, void* base, MPI_Win* handle);
  // `freed` is called before the handle may be another window's. What the host says, as a callback
  // of the program's may have failed: then the handle is left to the program.
  template <class Freed>
  int free(MPI_Win* handle, Freed freed) {
    const std::lock_guard lock(mutex_);
    const int rc = free_one(handle);
    freed();
    return rc;
  }

 private:
  static int free_one(MPI_Win* handle);

  std::recursive_mutex mutex_;  // an attribute of a window may free another when it is deleted
  MPI_Comm comm_ = MPI_COMM_SELF;
};

}  // namespace nearcache::mpi
