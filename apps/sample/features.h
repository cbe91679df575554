// SPDX-License-Identifier: BSD-3-Clause

// Feature rows: fixed-size records, one per vertex. Their contents depend only on the vertex, so
// every fetched row can be verified locally. MPI-free.
#pragma once

#include <cstdint>

#include "common/hash.h"
#include "graph/partition.h"

namespace sample {

/// Returns word `place` of the row of `v`.
inline std::uint64_t feature_word(apps::Vertex v, std::uint64_t place) {
  return apps::mix64((std::uint64_t{v} << 32 | place) ^ 0x5eedf00d5eedf00du);
}

/// Fills the row of `v`, which has `words` words.
inline void write_row(apps::Vertex v, std::uint64_t* row, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) row[i] = feature_word(v, i);
}

/// Returns true if every word of `row` belongs to the row of `v`.
inline bool is_row_of(apps::Vertex v, const std::uint64_t* row, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) {
    if (row[i] != feature_word(v, i)) return false;
  }
  return true;
}

/// Returns the row's contribution to the checksum, which depends only on its contents.
inline std::uint64_t row_digest(const std::uint64_t* row, std::uint64_t words) {
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < words; ++i) digest = apps::mix64(digest ^ row[i]);
  return digest;
}

}  // namespace sample
