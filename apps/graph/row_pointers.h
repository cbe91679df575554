// SPDX-License-Identifier: BSD-3-Clause

// Location of a vertex's adjacency list: its row of the CSR.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace apps {

/// The location of an adjacency list: `degree` entries at `displacement` (in entries) in the window
/// of `target`.
struct Row {
  int target;
  std::uint64_t displacement;
  std::uint64_t degree;
};

/// Replicates the row pointers of the whole graph on every rank, 8 bytes per vertex, so that
/// reading a neighbour's list takes one get instead of two. RowWindow is the alternative.
class RowPointers {
 public:
  /// Bytes fetched to locate a row: none.
  static constexpr std::uint64_t get_bytes = 0;

  /// Collective.
  RowPointers(MPI_Comm comm, const Graph& graph);

  Row locate(Vertex v) const {
    const int target = partition_.owner(v);
    return {target, offsets_[v] - offsets_[partition_.first(target)],
            offsets_[v + std::uint64_t{1}] - offsets_[v]};
  }
  std::uint64_t max_degree() const { return max_degree_; }

 private:
  Partition partition_;
  std::vector<std::uint64_t> offsets_;  // of the whole graph; vertices + 1 elements
  std::uint64_t max_degree_ = 0;
};

}  // namespace apps
