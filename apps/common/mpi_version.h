#pragma once

#include <string>

namespace apps {

/// Returns the first line of the MPI library's version string.
std::string mpi_version();

}  // namespace apps
