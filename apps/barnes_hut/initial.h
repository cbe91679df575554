// Where bodies begin. MPI-free.
#pragma once

#include <cstdint>

#include "body.h"
#include "options.h"

namespace barnes_hut {

/// Body number `id` of `bodies` that have mass 1 together; G = 1. A function of its arguments
/// alone, so any rank can make any body.
///
/// plummer: a Plummer sphere in equilibrium, of total energy -1/4 (Aarseth, Henon, Wielen 1974).
/// uniform: a cube of side 1 around the origin, at rest.
Body initial_body(Model model, std::uint64_t bodies, std::uint64_t seed, std::uint64_t id);

}  // namespace barnes_hut
