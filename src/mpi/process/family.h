// SPDX-License-Identifier: BSD-3-Clause

// The MPI family the process runs with: objects built for one family must not touch the handles of
// another.
#pragma once

namespace nearcache::mpi {

enum class Family { none, mpich, openmpi, abi, unknown };

// The family this object was built for.
Family built_family();

// The family of the loaded MPI library; `none` if none is loaded yet.
Family loaded_family();

const char* family_name(Family family);

}  // namespace nearcache::mpi
