// SPDX-License-Identifier: BSD-3-Clause
#include "graph/vertex_ids.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/hash.h"
#include "graph/exchange.h"
#include "graph/partition.h"

namespace apps {
namespace {

void sort_unique(std::vector<std::uint64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

VertexIds::VertexIds(MPI_Comm comm, std::vector<std::uint64_t> occurring) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  // Send each id to one rank, which drops its duplicates: the final gather then collects n ids, not
  // n from every rank.
  together(comm, [&] { sort_unique(occurring); });
  auto own = exchange(comm, std::move(occurring),
                      [&](std::uint64_t id) { return static_cast<int>(mix64(id) % ranks); });
  together(comm, [&] { sort_unique(own); });

  std::uint64_t total = own.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  std::vector<int> counts(ranks), displacements(ranks);
  together(comm, [&] {
    if (total > max_vertices) {
      throw Failure(
          fmt::format("the graph has {} vertices, at most {} are supported", total, max_vertices));
    }
    ids_.resize(total);
  });
  const int mine = static_cast<int>(own.size());
  check(MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm), "MPI_Allgather");
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
  check(MPI_Allgatherv(own.data(), mine, MPI_UINT64_T, ids_.data(), counts.data(),
                       displacements.data(), MPI_UINT64_T, comm),
        "MPI_Allgatherv");
  std::sort(ids_.begin(), ids_.end());
  contiguous_ = !ids_.empty() && ids_.back() - ids_.front() == ids_.size() - 1;
}

std::uint64_t VertexIds::compact(std::uint64_t id) const {
  if (contiguous_) return id - ids_.front();
  return std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin();
}

}  // namespace apps
