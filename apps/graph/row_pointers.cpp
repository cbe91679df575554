// SPDX-License-Identifier: BSD-3-Clause
#include "graph/row_pointers.h"

#include <algorithm>

#include "common/agreement.h"
#include "graph/node_memory.h"

namespace apps {

RowPointers::RowPointers(MPI_Comm comm, const Graph& graph) : partition_(graph.partition) {
  const int ranks = partition_.ranks();
  require_memory(comm, 8.0 * static_cast<double>(partition_.vertices()), "the row pointers");
  std::vector<std::uint64_t> degrees;
  std::vector<int> counts(ranks), displacements(ranks);
  together(comm, [&] {
    offsets_.resize(partition_.vertices() + 1);
    degrees.resize(graph.local_vertices());
    for (std::uint64_t i = 0; i < degrees.size(); ++i) degrees[i] = graph.degree(i);
  });
  for (int r = 0; r < ranks; ++r) {
    counts[r] = static_cast<int>(partition_.size(r));
    displacements[r] = static_cast<int>(partition_.first(r));
  }
  // Gather the degrees shifted by one element, then compute the prefix sums in place.
  check(MPI_Allgatherv(degrees.data(), counts[graph.rank], MPI_UINT64_T, offsets_.data() + 1,
                       counts.data(), displacements.data(), MPI_UINT64_T, comm),
        "MPI_Allgatherv");
  for (std::size_t v = 1; v < offsets_.size(); ++v) {
    max_degree_ = std::max(max_degree_, offsets_[v]);
    offsets_[v] += offsets_[v - 1];
  }
}

}  // namespace apps
