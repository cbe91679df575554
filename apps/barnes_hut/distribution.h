// Who owns which bodies: each rank a block of the Morton curve that costs about as much as any
// other.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "body.h"

namespace barnes_hut {

/// Collective. The smallest cube around all bodies. Agrees to fail if a position is not finite.
Cube bounding_cube(MPI_Comm comm, const std::vector<Body>& bodies);

/// Collective. Gives every body its key and brings it to its rank; then a rank's bodies are sorted
/// by (key, id) and lie behind those of all lower ranks. Blocks balance Body::work, and bodies of
/// equal keys are never apart, so a rank may be left without bodies.
void distribute(MPI_Comm comm, const Cube& root, std::vector<Body>& bodies);

/// Collective. Each body goes to the rank `owner(body)`; what arrives is in no order to rely on.
std::vector<Body> send_to_owners(MPI_Comm comm, const std::vector<Body>& bodies,
                                 const std::function<int(const Body&)>& owner);

}  // namespace barnes_hut
