// SPDX-License-Identifier: BSD-3-Clause

// Calls on hidden windows, whose errors only we see.
#pragma once

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// The default handler of windows ends the program, whatever the program has chosen for its own.
inline void return_errors(MPI_Win window) { next.Win_set_errhandler(window, MPI_ERRORS_RETURN); }

// Retries a failing call a few times. Returns whether it succeeded.
template <class Call>
bool insist(Call call) {
  for (int left = 8; left > 0; --left) {
    if (call() == MPI_SUCCESS) return true;
  }
  return false;
}

}  // namespace nearcache::mpi
