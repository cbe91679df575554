// The counters as the public struct.
#pragma once

#include "nearcache/stats.h"
#include "telemetry/stats.h"

namespace nearcache {

// Copies as much as the caller's struct has room for; what it has beyond our counters reads as
// zero. False, and nothing is done, if there is no struct or its size is too small to be one.
bool fill_stats(nearcache_stats* stats, const Counters& counters);

}  // namespace nearcache
