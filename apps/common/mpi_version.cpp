// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_version.h"

#include <mpi.h>

namespace apps {

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of("\r\n"));
}

}  // namespace apps
