// SPDX-License-Identifier: BSD-3-Clause

// A window's options, as its info object names them.
#pragma once

#include "base/options.h"
#include "mpi/mpi_api.h"

namespace nearcache::mpi {

// Sets the options that the info object names. Returns whether the mode is one of them.
bool read_info(MPI_Info info, Options* options);

}  // namespace nearcache::mpi
