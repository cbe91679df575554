// Local clustering coefficients by one-sided communication (CLaMPI paper, section IV.C).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "adjacency_window.h"
#include "graph.h"
#include "row_pointers.h"

namespace lcc {

/// What one run on one rank cost. Seconds of wall time.
struct Cost {
  double lcc = 0;            // from a barrier before to a barrier behind, the same on all ranks
  double communication = 0;  // locating and fetching lists
  double computation = 0;    // intersecting them
  std::uint64_t gets = 0, bytes = 0;
};

struct Result {
  std::vector<std::uint64_t> triangles;  // of each processed local vertex
  Cost cost;
};

/// The coefficient of a vertex: the part of its pairs of neighbours that are neighbours themselves, 0 below two.
inline double coefficient(std::uint64_t degree, std::uint64_t triangles) {
  return degree < 2 ? 0.0 : 2.0 * static_cast<double>(triangles) / (static_cast<double>(degree) * (degree - 1));
}

/// Collective. Counts the triangles of the first `vertices` local vertices.
Result count_triangles(MPI_Comm comm, const Graph& graph, const RowPointers& rows, AdjacencyWindow& window,
                       std::uint64_t vertices, bool show_progress);

}  // namespace lcc
