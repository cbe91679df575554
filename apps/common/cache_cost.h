// SPDX-License-Identifier: BSD-3-Clause

// The processor time that Nearcache costs a rank, for use in virtual time: rounded results of
// `bench/run hit` and `bench/run miss` on an AMD EPYC (Zen 3).
#pragma once

#include <mpi.h>

#include "common/virtual_time.h"

namespace apps {

/// A hit with its flush takes 50 to 60 ns at 8 bytes, a third of which is its share of the calls
/// that drive MPI's progress; a miss adds 1.7% to a get of 11 us.
inline constexpr CacheCost measured_cost{60, 190};

/// Cost of the copy from storage to the program or, after a miss, from the program's buffer to
/// storage: 12.5 GB/s, an assumption between copies within the processor's caches (some 50 GB/s)
/// and copies to memory (14 to 24 GB/s, with other work in between).
inline constexpr double copy_ns_per_byte = 0.08;

/// Charges the cost of all windows' caches on this rank since the last charge, copies included.
class CacheTime {
 public:
  void charge() {
    if constexpr (!virtual_time) return;
    calls_.charge(MPI_WIN_NULL);
    const auto now = cache_statistics(MPI_WIN_NULL);
    if (!now) return;
    const std::uint64_t copied = now->bytes_from_cache + now->bytes_from_network;
    charge_seconds(1e-9 * copy_ns_per_byte * static_cast<double>(copied - copied_));
    copied_ = copied;
  }

 private:
  CacheCharge calls_{measured_cost};
  std::uint64_t copied_ = 0;
};

}  // namespace apps
