// SPDX-License-Identifier: BSD-3-Clause
#include "base/clock.h"

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

}  // namespace nearcache
