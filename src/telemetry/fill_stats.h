// SPDX-License-Identifier: BSD-3-Clause

// Converts the counters to the public struct.
#pragma once

#include "nearcache/stats.h"
#include "telemetry/stats.h"

namespace nearcache {

// Copies as many counters as fit into the caller's struct; fields beyond our counters are set to
// zero. Returns false and does nothing if `stats` is null or its size is too small for the header
// fields.
bool fill_stats(nearcache_stats* stats, const Counters& counters);

}  // namespace nearcache
