// What the report and the trace say about the MPI that the program runs on.
#pragma once

#include <string>

namespace nearcache::mpi {

// The first line of the MPI library's version.
std::string library_line();

}  // namespace nearcache::mpi
