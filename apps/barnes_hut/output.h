// The bodies at the end, as a file.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "body.h"

namespace barnes_hut {

/// Collective. A line a body, by id: id, mass, position, velocity, separated by tabs, with the 17
/// digits that give the numbers back exactly. Agrees to fail if the file cannot be written.
void write_bodies(MPI_Comm comm, const std::vector<Body>& bodies, const std::string& path);

}  // namespace barnes_hut
