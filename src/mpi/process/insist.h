// Calls on hidden windows, whose errors only we see.
#pragma once

#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Makes a call again that fails, a few times. Whether it has succeeded.
template <class Call>
bool insist(Call call) {
  for (int left = 8; left > 0; --left) {
    if (call() == MPI_SUCCESS) return true;
  }
  return false;
}

}  // namespace nearcache::mpi
