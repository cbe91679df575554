// SPDX-License-Identifier: BSD-3-Clause

// Writes the final bodies to a file.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "body.h"

namespace barnes_hut {

/// Collective. Writes one line per body, ordered by id: id, mass, position, velocity, separated by
/// tabs, with 17 digits so that the numbers can be read back exactly. Fails on all ranks if the
/// file cannot be written.
void write_bodies(MPI_Comm comm, const std::vector<Body>& bodies, const std::string& path);

}  // namespace barnes_hut
