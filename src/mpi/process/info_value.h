// SPDX-License-Identifier: BSD-3-Clause

// Reads info objects.
#pragma once

#include <optional>
#include <string>

#include "mpi/mpi_api.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// Returns the value of a key; nothing if the info object does not have it.
inline std::optional<std::string> info_value(MPI_Info info, const char* key) {
  char value[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
  if (info == MPI_INFO_NULL ||
      next.Info_get(info, const_cast<char*>(key), MPI_MAX_INFO_VAL, value, &found) != MPI_SUCCESS ||
      found == 0)
    return std::nullopt;
  return value;
}

}  // namespace nearcache::mpi
