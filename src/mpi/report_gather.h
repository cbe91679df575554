// What the report and the trace say of the program and of the MPI it runs on.
#pragma once

#include <string>

namespace nearcache::mpi {

// The program's file name, "?" if the system does not tell.
std::string program_name();
// The first line of the MPI library's version.
std::string library_line();

}  // namespace nearcache::mpi
