// Which family of MPI the process runs with: objects built for one family must not touch another's
// handles.
#pragma once

namespace nearcache::mpi {

enum class Family { none, mpich, openmpi, abi, unknown };

// The family this object was built for.
Family built_family();

// The family of the MPI library that is loaded; `none` if there is none yet.
Family loaded_family();

const char* family_name(Family family);

}  // namespace nearcache::mpi
