// SPDX-License-Identifier: BSD-3-Clause

// The few Nearcache calls that a program may want, looked up at run time so that the same binary
// also runs without Nearcache.
#pragma once

#include <mpi.h>

#include <optional>

#include "nearcache/stats.h"

namespace apps {

/// Local. Ends a read-only phase of a window in mode `user`: Nearcache drops the window's cached
/// data. Does nothing if Nearcache is neither preloaded nor linked.
void invalidate(MPI_Win window);

/// Returns Nearcache's counters of `window`, or nothing if Nearcache is neither preloaded nor
/// linked.
std::optional<nearcache_stats> cache_statistics(MPI_Win window);

}  // namespace apps
