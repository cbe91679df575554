// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"

#include <algorithm>

namespace nearcache {

static double calibrate() {
  const uint64_t ns0 = system_ns();
  const uint64_t ticks0 = clock_ticks();
  uint64_t ns1 = ns0;
  while (ns1 - ns0 < 200000) ns1 = system_ns();
  const uint64_t ticks1 = clock_ticks();
  return ticks1 > ticks0 ? static_cast<double>(ns1 - ns0) / static_cast<double>(ticks1 - ticks0)
                         : 1.0;
}

double ns_per_tick() {
  static const double ratio = calibrate();
  return ratio;
}

static double time_readings() {
  constexpr int series = 8, readings = 32;  // the quickest: others may have been interrupted
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < series; ++i) {
    const uint64_t began = clock_ticks();
    uint64_t now = began;
    for (int k = 0; k < readings; ++k) now = clock_ticks();
    least = std::min(least, now - began);
  }
  return ticks_to_ns(least) / readings;
}

double clock_reading_ns() {
  static const double ns = time_readings();
  return ns;
}

}  // namespace nearcache
