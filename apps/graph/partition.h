// SPDX-License-Identifier: BSD-3-Clause

// 1D block partition: rank r owns a contiguous block of vertices; block sizes differ by at most
// one.
#pragma once

#include <cstdint>

namespace apps {

/// A vertex of a graph, a compact id in 0 .. vertices-1.
using Vertex = std::uint32_t;

/// The largest supported number of vertices: counts and displacements of MPI-3 collectives are
/// ints, and the replicated row pointers are gathered by one of these collectives.
inline constexpr std::uint64_t max_vertices = 0x7fffffff;

class Partition {
 public:
  Partition() = default;
  /// pre: ranks >= 1. Throws Failure unless 1 <= vertices <= max_vertices and ranks <= vertices.
  Partition(std::uint64_t vertices, int ranks);

  std::uint64_t vertices() const { return vertices_; }
  int ranks() const { return static_cast<int>(ranks_); }

  /// Returns the first vertex of `rank`; first(ranks()) is vertices().
  std::uint64_t first(int rank) const {
    const auto r = static_cast<std::uint64_t>(rank);
    return r * block_ + (r < larger_ ? r : larger_);
  }
  std::uint64_t size(int rank) const { return first(rank + 1) - first(rank); }

  int owner(Vertex v) const {
    // 32-bit divisions: this is called for every neighbour, and they take half the time of 64-bit
    // ones.
    return static_cast<int>(v < split_ ? v / (block_ + 1) : larger_ + (v - split_) / block_);
  }

 private:
  std::uint64_t vertices_ = 0;
  std::uint32_t ranks_ = 1;
  std::uint32_t block_ = 0;   // size of the smaller blocks, in vertices
  std::uint32_t larger_ = 0;  // number of blocks, the first ones, with one vertex more
  std::uint32_t split_ = 0;   // first vertex of the first smaller block
};

/// The range [first, last) of `count` items that belongs to `rank` of `ranks`.
struct Share {
  std::uint64_t first, last;
};
inline Share share_of(std::uint64_t count, int rank, int ranks) {
  const std::uint64_t each = count / ranks, rest = count % ranks, r = rank;
  const auto at = [&](std::uint64_t i) { return i * each + (i < rest ? i : rest); };
  return {at(r), at(r + 1)};
}

}  // namespace apps
