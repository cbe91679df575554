// SPDX-License-Identifier: BSD-3-Clause

// The initial bodies, generated from a model or read from a file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// Collective. Returns this rank's share of the bodies, with ids numbered across the ranks. Fails
/// on all ranks if the file cannot be read, has no bodies or has a malformed line, whose number the
/// message gives.
std::vector<Body> load_bodies(MPI_Comm comm, const Options& options);

}  // namespace barnes_hut
