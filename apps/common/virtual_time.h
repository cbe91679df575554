// Time that a simulator cannot see. Under SimGrid's SMPI a rank's clock moves when it communicates;
// with
// --cfg=smpi/simulate-computation:no computation takes no time, so that every run gives the same
// times, and the program itself says what its computation costs. With any other MPI these functions
// do nothing.
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

/// True where charges count.
inline constexpr bool virtual_time = APPS_VIRTUAL_TIME;

/// This rank computes for so long. A charge is an event of the simulation, some microseconds of
/// real time: charge the work of a body or a vertex together, not each operation.
inline void charge_seconds([[maybe_unused]] double seconds) {
#if APPS_VIRTUAL_TIME
  // In flops of the rank's own host: smpi_execute() counts in those of a host that
  // --cfg=smpi/host-speed describes, and leaves out what is shorter than a microsecond.
  if (seconds > 0) smpi_execute_flops(seconds * sg_host_get_speed(sg_host_self()));
#endif
}

/// What a cache costs its own rank, in nanoseconds of processor time, beyond the gets that go to
/// the network.
struct CacheCost {
  double hit_ns = 0, miss_ns = 0;
};

/// Charges what Nearcache did for a window since the last charge. To be called at the end of a
/// phase, before the barrier that ends it: then the slowest rank's cache is in the phase's time.
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
  [[maybe_unused]] std::uint64_t hits_ = 0, misses_ = 0;  // charged already
};

}  // namespace apps
