// SPDX-License-Identifier: BSD-3-Clause
#include "force.h"

#include "../common/agreement.h"
#include "traversal.h"

namespace barnes_hut {
namespace {

FetchCount difference(const FetchCount& now, const FetchCount& before) {
  return {now.remote - before.remote, now.gets - before.gets, now.bytes - before.bytes,
          now.hits - before.hits};
}

}  // namespace

ForcePhase::ForcePhase(MPI_Comm comm, const Options& options, NodeWindow& window)
    : comm_(comm),
      options_(options),
      window_(window),
      plain_(window),
      charge_({options.cache_hit_ns, options.cache_miss_ns}) {
  apps::together(comm, [&] {
    if (options.fetch == Fetch::native) native_.emplace(window, comm, options);
  });
}

ForceCost ForcePhase::run(const DistributedTree& tree, std::vector<Body>& bodies) {
  return native_ ? run_with(*native_, tree, bodies) : run_with(plain_, tree, bodies);
}

template <class Fetch>
ForceCost ForcePhase::run_with(Fetch& fetch, const DistributedTree& tree,
                               std::vector<Body>& bodies) {
  const FetchCount before = fetch.count();
  Traversal<Fetch> traversal(fetch, options_.softening);
  const double start = MPI_Wtime();
  const std::string error = apps::error_of([&] {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto visited = traversal.visited(), interactions = traversal.interactions();
      const auto hits = fetch.count().hits;
      bodies[i].field = traversal.field(bodies[i].position, tree.root, tree.leaves[i]);
      bodies[i].work = traversal.visited() - visited + 1;
      if constexpr (apps::virtual_time) {
        const double own =
            static_cast<double>(traversal.interactions() - interactions) * options_.interaction_ns;
        apps::charge_seconds(
            1e-9 * (own + static_cast<double>(fetch.count().hits - hits) * options_.native_hit_ns));
      }
    }
  });
  charge_.charge(MPI_WIN_NULL);
  ForceCost cost;
  cost.busy = MPI_Wtime() - start;
  apps::agree(comm_, error);  // also a barrier
  cost.seconds = MPI_Wtime() - start;
  cost.interactions = traversal.interactions();
  cost.visited = traversal.visited();
  cost.fetch = difference(fetch.count(), before);
  cache_ = apps::cache_statistics(MPI_WIN_NULL);
  window_.end_reading();
  fetch.end_phase();
  return cost;
}

}  // namespace barnes_hut
