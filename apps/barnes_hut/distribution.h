// SPDX-License-Identifier: BSD-3-Clause

// Ownership of the bodies: each rank owns a contiguous piece of the Morton curve, and all pieces
// cost about the same.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "body.h"

namespace barnes_hut {

/// Collective. Returns the smallest cube around all bodies. Fails on all ranks if a position is not
/// finite.
Cube bounding_cube(MPI_Comm comm, const std::vector<Body>& bodies);

/// Collective. Computes every body's key and moves the body to its owner. Afterwards each rank's
/// bodies are sorted by (key, id) and follow those of all lower ranks. The pieces balance
/// Body::work. Bodies with equal keys stay on one rank, so a rank may end up without bodies.
void distribute(MPI_Comm comm, const Cube& root, std::vector<Body>& bodies);

/// Collective. Sends each body to rank `owner(body)`. The order of the returned bodies is
/// unspecified.
std::vector<Body> send_to_owners(MPI_Comm comm, const std::vector<Body>& bodies,
                                 const std::function<int(const Body&)>& owner);

}  // namespace barnes_hut
