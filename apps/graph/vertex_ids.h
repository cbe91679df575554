// From the arbitrary 64-bit ids of an input to compact ids.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace apps {

/// All ids that occur, ascending; a vertex's compact id is its place here. So the compact ids
/// depend on the graph alone, not on the number of ranks or the order of the edges. Takes 8 bytes
/// per vertex on every rank while the graph is being built, as the replicated row pointers do
/// afterwards.
class VertexIds {
 public:
  /// Collective. `occurring`: ids of any rank's edges, duplicates allowed.
  VertexIds(MPI_Comm comm, std::vector<std::uint64_t> occurring);

  std::uint64_t size() const { return ids_.size(); }
  /// pre: `id` occurs
  std::uint64_t compact(std::uint64_t id) const;
  /// The ids of the vertices [first, last).
  std::vector<std::uint64_t> slice(std::uint64_t first, std::uint64_t last) const {
    return {ids_.begin() + first, ids_.begin() + last};
  }

 private:
  std::vector<std::uint64_t> ids_;
  bool contiguous_ = false;  // ids_[i] == ids_[0] + i: no search needed
};

}  // namespace apps
