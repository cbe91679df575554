// SPDX-License-Identifier: BSD-3-Clause

// Local clustering coefficients with one-sided communication (CLaMPI paper, section IV.C).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "graph/adjacency_window.h"
#include "graph/graph.h"
#include "graph/row_pointers.h"
#include "graph/row_window.h"

namespace lcc {

using namespace apps;

/// The cost of one run on one rank; times are wall time in seconds.
struct Cost {
  double lcc = 0;            // from the barrier before to the barrier after; the same on all ranks
  double communication = 0;  // locating and fetching lists
  double computation = 0;    // intersecting them
  std::uint64_t gets = 0, bytes = 0;  // of lists, and of offsets if rows are located by gets
};

struct Result {
  std::vector<std::uint64_t> triangles;  // of each processed local vertex
  Cost cost;
};

/// Returns the clustering coefficient of a vertex: the fraction of the pairs of its neighbours that
/// are neighbours of each other; 0 if the degree is below two.
inline double coefficient(std::uint64_t degree, std::uint64_t triangles) {
  return degree < 2
             ? 0.0
             : 2.0 * static_cast<double>(triangles) / (static_cast<double>(degree) * (degree - 1));
}

/// Collective. Counts the triangles of the first `vertices` local vertices. Rows are located either
/// in a replica of all row pointers or by gets from their owners.
Result count_triangles(MPI_Comm comm, const Graph& graph, const RowPointers& rows,
                       AdjacencyWindow& window, std::uint64_t vertices, bool show_progress);
Result count_triangles(MPI_Comm comm, const Graph& graph, RowWindow& rows, AdjacencyWindow& window,
                       std::uint64_t vertices, bool show_progress);

}  // namespace lcc
