// The few calls of Nearcache that a program may want, found at run time: the same binary runs
// without it.
#pragma once

#include <mpi.h>

#include <optional>

#include "nearcache/stats.h"

namespace apps {

/// Ends a read-only phase of a window in mode `user`: what Nearcache holds for it is dropped.
/// Local. Does nothing where Nearcache is neither preloaded nor linked.
void invalidate(MPI_Win window);

/// Nearcache's counters of `window`; none where Nearcache is neither preloaded nor linked.
std::optional<nearcache_stats> cache_statistics(MPI_Win window);

}  // namespace apps
