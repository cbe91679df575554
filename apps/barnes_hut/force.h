// SPDX-License-Identifier: BSD-3-Clause

// The force phase: every rank traverses the tree for each of its bodies.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "../common/virtual_time.h"
#include "distributed_tree.h"
#include "fetch.h"
#include "options.h"

namespace barnes_hut {

/// The cost of a force phase on this rank.
struct ForceCost {
  double busy = 0;     // seconds until this rank had finished
  double seconds = 0;  // seconds until the slowest rank had finished
  std::uint64_t interactions = 0, visited = 0;
  FetchCount fetch;
};

class ForcePhase {
 public:
  /// Collective. Allocates the native cache if the options ask for it.
  ForcePhase(MPI_Comm comm, const Options& options, NodeWindow& window);

  /// Collective. Sets the field and the work of `bodies`, then ends the reading phase of the
  /// window.
  ForceCost run(const DistributedTree& tree, std::vector<Body>& bodies);

  /// Nearcache's counters at the end of the last phase, before the cache was emptied.
  const std::optional<nearcache_stats>& cache() const { return cache_; }

 private:
  template <class Fetch>
  ForceCost run_with(Fetch& fetch, const DistributedTree& tree, std::vector<Body>& bodies);

  MPI_Comm comm_;
  const Options& options_;
  NodeWindow& window_;
  PlainFetch plain_;
  std::optional<NativeFetch> native_;
  apps::CacheCharge charge_;
  std::optional<nearcache_stats> cache_;
};

}  // namespace barnes_hut
