// SPDX-License-Identifier: BSD-3-Clause

// What the report and the trace say about the MPI that the program runs on.
#pragma once

#include <string>

namespace nearcache::mpi {

// The first line of MPI_Get_library_version.
std::string library_line();

}  // namespace nearcache::mpi
