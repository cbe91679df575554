// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/fill_stats.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nearcache {

bool fill_stats(nearcache_stats* stats, const Counters& counters) {
  if (stats == nullptr || stats->size < offsetof(nearcache_stats, gets)) return false;
  nearcache_stats full{};
  full.size = stats->size;
  full.version = NEARCACHE_STATS_VERSION;
#define NEARCACHE_COUNTER(name, kind, unit, help) full.name = counters.name;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  const size_t size = stats->size;
  std::memset(stats, 0, size);
  std::memcpy(stats, &full, std::min(size, sizeof full));
  return true;
}

}  // namespace nearcache
