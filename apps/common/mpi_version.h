#pragma once

#include <string>

namespace apps {

/// The first line of what the MPI library says of itself.
std::string mpi_version();

}  // namespace apps
