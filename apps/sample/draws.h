// SPDX-License-Identifier: BSD-3-Clause

// The random numbers used for sampling. Each depends only on what it is drawn for, not on the order
// of the draws or the number of ranks. MPI-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/hash.h"
#include "graph/partition.h"

namespace sample {

/// Identifies one expansion of a vertex: the same vertex is sampled anew in every minibatch and
/// hop.
struct Expansion {
  std::uint64_t sample_seed, minibatch, hop;
};

/// Draws the indices of `fan_out` distinct entries of a list of length `degree`, in ascending
/// order; all entries if there are no more than that. Floyd's algorithm (Bentley, Floyd 1987): as
/// many draws as entries wanted.
inline void draw_places(const Expansion& what, apps::Vertex v, std::uint64_t degree,
                        std::uint64_t fan_out, std::vector<std::uint64_t>& places) {
  places.clear();
  const std::uint64_t wanted = std::min(degree, fan_out);
  std::uint64_t state =
      apps::mix64(apps::mix64(what.sample_seed ^ what.hop << 48) ^ what.minibatch) ^ v;
  for (std::uint64_t last = degree - wanted; last < degree; ++last) {
    state = apps::mix64(state);
    const std::uint64_t place = state % (last + 1);
    const bool taken = std::find(places.begin(), places.end(), place) != places.end();
    places.push_back(taken ? last : place);
  }
  std::sort(places.begin(), places.end());
}

/// Returns seed vertex `number` of an epoch, any of the `vertices`.
inline apps::Vertex draw_seed(std::uint64_t sample_seed, std::uint64_t number,
                              std::uint64_t vertices) {
  return static_cast<apps::Vertex>(apps::mix64(apps::mix64(sample_seed ^ 0x5a3b1e) ^ number) %
                                   vertices);
}

}  // namespace sample
