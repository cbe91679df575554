// SPDX-License-Identifier: BSD-3-Clause

// Computing time that a simulator cannot see. Under SimGrid's SMPI, a rank's clock advances when it
// communicates. With the option `--cfg=smpi/simulate-computation:no`, computation takes no time, so
// every run yields the same times, and the program itself declares what its computation costs. With
// any other MPI these functions do nothing.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "nearcache_calls.h"

#ifdef SMPI_H  // the include guard of SMPI's mpi.h
#include <simgrid/host.h>
#define APPS_VIRTUAL_TIME 1
#else
#define APPS_VIRTUAL_TIME 0
#endif

namespace apps {

/// True if charges have an effect.
inline constexpr bool virtual_time = APPS_VIRTUAL_TIME;

/// Advances this rank's clock by `seconds` of computation. A charge is an event of the simulation
/// and takes some microseconds of real time, so charge all work of a body or a vertex at once, not
/// each operation.
inline void charge_seconds([[maybe_unused]] double seconds) {
#if APPS_VIRTUAL_TIME
  // In flops of the rank's own host: smpi_execute() assumes the host speed set by the option
  // --cfg=smpi/host-speed and ignores anything shorter than a microsecond.
  if (seconds > 0) smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
#endif
}

/// Processor time that a cache costs its own rank, in nanoseconds per hit and per miss, beyond the
/// gets that go to the network.
struct CacheCost {
  double hit_ns = 0, miss_ns = 0;
};

/// Charges Nearcache's work for a window since the last charge. Call this at the end of a phase,
/// before the barrier that ends it: the phase's time then includes the slowest rank's cache.
class CacheCharge {
 public:
  explicit CacheCharge(CacheCost cost) : cost_(cost) {}

  void charge([[maybe_unused]] MPI_Win window) {
#if APPS_VIRTUAL_TIME
    const std::optional<nearcache_stats> now = cache_statistics(window);
    if (!now) return;
    const std::uint64_t hits = now->hits_full + now->hits_pending + now->hits_partial;
    const std::uint64_t misses = now->direct + now->conflicting + now->capacity + now->failing;
    charge_seconds(1e-9 * (static_cast<double>(hits - hits_) * cost_.hit_ns +
                           static_cast<double>(misses - misses_) * cost_.miss_ns));
    hits_ = hits;
    misses_ = misses;
#endif
  }

 private:
  CacheCost cost_;
  [[maybe_unused]] std::uint64_t hits_ = 0, misses_ = 0;  // already charged
};

}  // namespace apps
