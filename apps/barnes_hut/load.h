// The bodies at the start, from a model or a file.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// Collective. This rank's share of the bodies; they are numbered over the ranks. Agrees to fail
/// for a file that cannot be read or has no bodies; for a malformed line with its number.
std::vector<Body> load_bodies(MPI_Comm comm, const Options& options);

}  // namespace barnes_hut
