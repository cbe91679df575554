// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/family.h"

#include "base/loaded_objects.h"

namespace nearcache::mpi {

Family built_family() {
#if defined(NEARCACHE_FAMILY_MPICH)
  return Family::mpich;
#elif defined(NEARCACHE_FAMILY_OPENMPI)
  return Family::openmpi;
#elif defined(NEARCACHE_FAMILY_ABI)
  return Family::abi;
#else
  return Family::unknown;
#endif
}

// The standard ABI has its own library name, whoever made the library. This name must be checked
// before symbols: MPICH 5 provides MPI_Abi_get_version in its own ABI too, and an Open MPI behind
// the standard ABI has its own objects.
Family loaded_family() {
  Family found = Family::none;
  for (const auto& object : loaded_objects()) {
    if (object.name().starts_with("libnearcache")) continue;
    if (!defines_symbol(object, "PMPI_Init")) continue;
    if (object.name().starts_with("libmpi_abi.so")) return Family::abi;
    if (defines_symbol(object, "ompi_mpi_comm_world"))
      found = Family::openmpi;
    else if (defines_symbol(object, "MPIR_Err_return_comm") ||
             defines_symbol(object, "MPIR_Err_return_win") ||
             object.name().starts_with("libmpich") || object.name().starts_with("libmpi.so.12"))
      found = Family::mpich;  // MPICH, MVAPICH, Intel MPI, Cray MPICH: one ABI
    else if (found == Family::none)
      found = Family::unknown;
  }
  return found;
}

const char* family_name(Family family) {
  switch (family) {
    case Family::none:
      return "no MPI";
    case Family::mpich:
      return "MPICH";
    case Family::openmpi:
      return "Open MPI";
    case Family::abi:
      return "the standard MPI ABI";
    case Family::unknown:
      break;
  }
  return "an unknown MPI";
}

}  // namespace nearcache::mpi
