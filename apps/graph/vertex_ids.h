// SPDX-License-Identifier: BSD-3-Clause

// Maps the arbitrary 64-bit ids of an input to compact ids.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace apps {

/// All ids that occur, in ascending order; a vertex's compact id is its index here. Compact ids
/// therefore depend only on the graph, not on the number of ranks or the order of the edges. Takes
/// 8 bytes per vertex on every rank while the graph is being built, as the replicated row pointers
/// do afterwards.
class VertexIds {
 public:
  /// Collective. `occurring`: the ids in this rank's edges, duplicates allowed.
  VertexIds(MPI_Comm comm, std::vector<std::uint64_t> occurring);

  std::uint64_t size() const { return ids_.size(); }
  /// pre: `id` occurs in the graph
  std::uint64_t compact(std::uint64_t id) const;
  /// Returns the ids of the vertices [first, last).
  std::vector<std::uint64_t> slice(std::uint64_t first, std::uint64_t last) const {
    return {ids_.begin() + first, ids_.begin() + last};
  }

 private:
  std::vector<std::uint64_t> ids_;
  bool contiguous_ = false;  // ids_[i] == ids_[0] + i: no search needed
};

}  // namespace apps
