// SPDX-License-Identifier: BSD-3-Clause

// Row pointers that stay with their owners, in a second window, as in codes whose graph is too
// large to replicate the row pointers on every rank.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "graph/graph.h"
#include "graph/read_window.h"
#include "graph/row_pointers.h"

namespace apps {

/// Locates rows like RowPointers, but with a get of two adjacent offsets (16 bytes) from the owner
/// of the vertex.
class RowWindow {
 public:
  /// Bytes fetched to locate a row of another rank.
  static constexpr std::uint64_t get_bytes = 2 * sizeof(std::uint64_t);

  /// Collective. pre: `graph` outlives the window and does not move.
  RowWindow(MPI_Comm comm, const Graph& graph);

  /// Issues one get and its flush, unless this rank owns `v`. Throws Failure.
  Row locate(Vertex v) {
    const int target = partition_.owner(v);
    const std::uint64_t place = v - partition_.first(target);
    if (target == rank_) return row(target, offsets_ + place);
    std::uint64_t pair[2];
    window_.get(target, place, 2, pair);
    window_.flush(target);
    return row(target, pair);
  }

  /// Starts fetching the two offsets of a vertex of another rank into `pair`; complete after
  /// flush_all().
  void get(Vertex v, std::uint64_t* pair) {
    const int target = partition_.owner(v);
    window_.get(target, v - partition_.first(target), 2, pair);
  }
  void flush_all() { window_.flush_all(); }

  /// Returns the row that a completed get() has fetched.
  Row row_of(Vertex v, const std::uint64_t* pair) const { return row(partition_.owner(v), pair); }
  bool is_own(Vertex v) const { return partition_.owner(v) == rank_; }
  /// pre: is_own(v)
  Row own_row(Vertex v) const { return row(rank_, offsets_ + (v - partition_.first(rank_))); }

  std::uint64_t max_degree() const { return max_degree_; }

 private:
  static Row row(int target, const std::uint64_t* pair) {
    return {target, pair[0], pair[1] - pair[0]};
  }

  Partition partition_;
  int rank_;
  const std::uint64_t* offsets_;  // of this rank's block
  std::uint64_t max_degree_ = 0;
  ReadWindow window_;
};

}  // namespace apps
