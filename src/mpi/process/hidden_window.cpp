// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/hidden_window.h"

#include "mpi/process/insist.h"

namespace nearcache::mpi {

void* HiddenWindow::allocate(MPI_Comm comm, MPI_Aint bytes, int unit) {
  int rank = 0;
  void* memory = nullptr;
  next.Comm_rank(comm, &rank);
  // not by MPI_Comm_dup, which calls the program's functions that copy attributes
  if (next.Comm_split(comm, 0, rank, &comm_) != MPI_SUCCESS) return nullptr;
  if (next.Win_allocate(bytes, unit, MPI_INFO_NULL, comm_, &memory, &window_) != MPI_SUCCESS) {
    next.Comm_free(&comm_);
    return nullptr;
  }
  return_errors(window_);
  return memory;
}

}  // namespace nearcache::mpi
