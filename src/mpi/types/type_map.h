// Reads the type map of a datatype from its constructor calls (MPI_Type_get_envelope and
// _get_contents).
#pragma once

#include <vector>

#include "cache/get/layout.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

struct TypeMap {
  std::vector<Block> blocks;
  int64_t extent = 0;
};

// False if the datatype has a constructor that we do not know, or too many blocks or parts.
bool read_type_map(MPI_Datatype datatype, TypeMap* map);

// A datatype that the program did not build: predefined, or one of the parametrised Fortran types.
// Never freed.
bool is_named(MPI_Datatype datatype);
// How it was made (MPI_COMBINER_...).
int combiner_of(MPI_Datatype datatype);

// The predefined datatype that all parts of this one are; MPI_DATATYPE_NULL if there are several,
// or it cannot be found out.
MPI_Datatype base_type(MPI_Datatype datatype);

inline constexpr size_t most_blocks = 1 << 16;  // of what is cached

// From now on, datatypes of so many blocks are read.
void allow_blocks(size_t most);

}  // namespace nearcache::mpi
