// SPDX-License-Identifier: BSD-3-Clause

// Checks whether we see every OpenSHMEM call that a program makes.
//
// Interposition can be bypassed: a tool in front of us calls pshmem_x, Fortran bindings call
// functions inside the library, and a newer or a vendor's library has functions that no row of
// entry_points.txt names. A cache that misses an ordering call leaves dirty bytes unwritten and
// serves stale ones, so such programs are not cached.
#pragma once

#include <string>

namespace nearcache::shmem {

// The first bypass found among the objects loaded now: names the object and the call. Empty if
// there is none.
std::string what_passes_by();

// For the time before initialisation: the object that initialises OpenSHMEM by a call that we do
// not see, so that we are never called. Empty if no loaded object does, or if such a call may reach
// us.
std::string what_starts_past_us();

}  // namespace nearcache::shmem
