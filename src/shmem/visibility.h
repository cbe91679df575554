// Whether we would see everything that a program does with OpenSHMEM.
//
// Interposition can be bypassed: a tool in front of us calls pshmem_x, Fortran's bindings end
// inside the library, and a newer or vendor's library has functions that no row of entry_points.txt
// names. A cache that misses an ordering call leaves dirty bytes unwritten and serves stale ones,
// so such programs are not cached.
#pragma once

#include <string>

namespace nearcache::shmem {

// The first thing found that passes us by, naming the object and the call; empty if nothing does.
// Looks at what is loaded now.
std::string what_passes_by();

// For the time before that: who starts OpenSHMEM by a call that we do not see, so that we are never
// asked. Empty where nothing that is loaded starts it, or a call that starts it may come to us.
std::string what_starts_past_us();

}  // namespace nearcache::shmem
