// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace apps {

/// Returns the first line of the MPI library's version string.
std::string mpi_version();

}  // namespace apps
