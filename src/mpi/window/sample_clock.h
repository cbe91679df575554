// SPDX-License-Identifier: BSD-3-Clause

// The clock used to sample the cost of gets. Under SimGrid's SMPI it is the simulated clock: the
// real time of a get means nothing there, and a cost that varied from run to run would make the
// cache behave differently, and with it the simulation's result.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#ifdef NEARCACHE_FAMILY_SIMGRID
#include "mpi/mpi_api.h"
#endif

namespace nearcache::mpi {

#ifdef NEARCACHE_FAMILY_SIMGRID
inline uint64_t sample_ticks() { return static_cast<uint64_t>(PMPI_Wtime() * 1e9 + 0.5); }
inline double sample_ns(uint64_t ticks, uint32_t = 1) { return static_cast<double>(ticks); }
#else
inline uint64_t sample_ticks() { return clock_ticks(); }
// The sum of so many intervals, less what their measurement took.
inline double sample_ns(uint64_t ticks, uint32_t intervals = 1) {
  return std::max(ticks_to_ns(ticks) - intervals * clock_reading_ns(), 0.0);
}
#endif

}  // namespace nearcache::mpi
