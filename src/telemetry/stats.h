// SPDX-License-Identifier: BSD-3-Clause

// The counters of a window, a process or a job, derived from the table nearcache/counters.def.
#pragma once

#include <cstdint>

namespace nearcache {

struct Counters {
#define NEARCACHE_COUNTER(name, kind, unit, help) uint64_t name = 0;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER

  Counters& operator+=(const Counters& other) {
#define NEARCACHE_COUNTER(name, kind, unit, help) name += other.name;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
    return *this;
  }

  // Clears the gauges, which describe something that no longer exists, and keeps the sums.
  void clear_gauges() {
#define NEARCACHE_CLEAR_gauge(name) name = 0;
#define NEARCACHE_CLEAR_sum(name)
#define NEARCACHE_COUNTER(name, kind, unit, help) NEARCACHE_CLEAR_##kind(name)
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  }
};

inline constexpr int counter_count = sizeof(Counters) / sizeof(uint64_t);

}  // namespace nearcache
