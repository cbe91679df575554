// SPDX-License-Identifier: BSD-3-Clause

// R-MAT graphs (Chakrabarti, Zhan, Faloutsos 2004) with the Graph500 parameters .57 .19 .19 .05.
// MPI-free.
#pragma once

#include <cstdint>
#include <utility>

namespace apps {

/// Edge number i depends only on (scale, seed, i), so any rank can generate any edge and the graph
/// does not depend on the number of ranks. A seeded bijection permutes the vertices; without it,
/// all vertices of high degree would be in the first block.
class Rmat {
 public:
  /// pre: 1 <= scale <= 31
  Rmat(int scale, std::uint64_t seed, bool permuted);

  std::pair<std::uint64_t, std::uint64_t> edge(std::uint64_t number) const;

 private:
  std::uint64_t permute(std::uint64_t vertex) const;

  int scale_;
  bool permuted_;
  std::uint64_t mask_;
  std::uint64_t key_;
  std::uint64_t multiplier_[2];
};

}  // namespace apps
