// SPDX-License-Identifier: BSD-3-Clause

// The adjacency lists of all ranks, in one MPI window.
#pragma once

#include <mpi.h>

#include "graph/graph.h"
#include "graph/read_window.h"
#include "graph/row_pointers.h"

namespace apps {

class AdjacencyWindow {
 public:
  /// Collective. pre: `graph` outlives the window and does not move.
  AdjacencyWindow(MPI_Comm comm, const Graph& graph)
      : rank_(graph.rank),
        memory_(graph.adjacency.data()),
        window_(comm,
                {memory_, graph.adjacency.size() * sizeof(Vertex), sizeof(Vertex), MPI_UINT32_T},
                "adjacency") {}

  bool is_own(const Row& row) const { return row.target == rank_; }
  const Vertex* own(const Row& row) const { return memory_ + row.displacement; }

  /// Fetches a list of another rank into `into` (row.degree entries); complete on return. Throws
  /// Failure.
  void get(const Row& row, Vertex* into) {
    window_.get(row.target, row.displacement, row.degree, into);
    window_.flush(row.target);
  }

  /// Starts fetching a list of another rank; complete after flush_all(). Throws Failure.
  void start(const Row& row, Vertex* into) {
    window_.get(row.target, row.displacement, row.degree, into);
  }

  /// Starts fetching entry `index` of a list of another rank; complete after flush_all(). Throws
  /// Failure.
  void get_entry(const Row& row, std::uint64_t index, Vertex* into) {
    window_.get(row.target, row.displacement + index, 1, into);
  }
  void flush_all() { window_.flush_all(); }

 private:
  int rank_;
  const Vertex* memory_;
  ReadWindow window_;
};

}  // namespace apps
