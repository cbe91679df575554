// SPDX-License-Identifier: BSD-3-Clause

// Calls for objects of our own, whose errors only we see.
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

// Frees a keyval, if it has been created. `free` is the function of its kind of object.
inline void free_keyval(int (*free)(int*), int* keyval) {
  if (*keyval != MPI_KEYVAL_INVALID) free(keyval);
  *keyval = MPI_KEYVAL_INVALID;
}

}  // namespace nearcache::mpi
