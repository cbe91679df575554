// SPDX-License-Identifier: BSD-3-Clause

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

// Returns false if the datatype has a constructor that we do not know, or too many blocks or parts.
bool read_type_map(MPI_Datatype datatype, TypeMap* map);

// Whether the program did not build the datatype: it is predefined, or one of the parametrised
// Fortran types. Such types are never freed.
bool is_named(MPI_Datatype datatype);
// The datatype's constructor (MPI_COMBINER_...).
int combiner_of(MPI_Datatype datatype);

// The predefined datatype that all parts of this one have; MPI_DATATYPE_NULL if there are several,
// or it cannot be determined.
MPI_Datatype base_type(MPI_Datatype datatype);

inline constexpr size_t most_blocks = 1 << 16;  // of a datatype that is cached

// Raises the number of blocks up to which datatypes are read to `most`.
void allow_blocks(size_t most);

}  // namespace nearcache::mpi
