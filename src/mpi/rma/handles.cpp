// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/handles.h"

#include "mpi/process/next.h"
#include "mpi/rma/layer.h"

namespace nearcache::mpi {

void Handles::begin() {
  MPI_Comm own = MPI_COMM_NULL;
  if (next.Comm_dup(MPI_COMM_SELF, &own) != MPI_SUCCESS) return;
  next.Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  comm_ = own;
}

void Handles::end() {
  const std::lock_guard lock(mutex_);
  if (comm_ != MPI_COMM_SELF) next.Comm_free(&comm_);
  comm_ = MPI_COMM_SELF;
}

bool Handles::make(MPI_Aint bytes, int unit, MPI_Info info, void* base, MPI_Win* handle) {
  const RmaNext& below = below_engine();
  {
    const std::lock_guard lock(mutex_);
    if (below.Win_allocate(bytes, unit, MPI_INFO_NULL, comm_, base, handle) != MPI_SUCCESS)
      return *handle = MPI_WIN_NULL, false;
  }
  return below.Win_lock_all(0, *handle) == MPI_SUCCESS &&
         (info == MPI_INFO_NULL || below.Win_set_info(*handle, info) == MPI_SUCCESS);
}

int Handles::free_one(MPI_Win* handle) {
  below_engine().Win_unlock_all(*handle);
  const int rc = below_engine().Win_free(handle);
  if (rc != MPI_SUCCESS && *handle != MPI_WIN_NULL) below_engine().Win_lock_all(0, *handle);
  return rc;
}

}  // namespace nearcache::mpi
