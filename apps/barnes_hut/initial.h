// SPDX-License-Identifier: BSD-3-Clause

// Initial positions and velocities of the bodies. MPI-free.
#pragma once

#include <cstdint>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// Returns body number `id` of `bodies`, which have a total mass of 1; G = 1. The result depends
/// only on the arguments, so any rank can generate any body.
///
/// plummer: a Plummer sphere in equilibrium, of total energy -1/4 (Aarseth, Henon, Wielen 1974).
/// uniform: a cube of side 1 around the origin, at rest.
Body initial_body(Model model, std::uint64_t bodies, std::uint64_t seed, std::uint64_t id);

}  // namespace barnes_hut
