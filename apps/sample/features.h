// Feature rows: fixed-size records, one per vertex, whose contents are a function of the vertex
// alone, so that every row that was fetched can be checked without asking anybody. MPI-free.
#pragma once

#include <cstdint>

#include "common/hash.h"
#include "graph/partition.h"

namespace sample {

/// Word `place` of the row of `v`.
inline std::uint64_t feature_word(apps::Vertex v, std::uint64_t place) {
  return apps::mix64((std::uint64_t{v} << 32 | place) ^ 0x5eedf00d5eedf00du);
}

/// Fills the row of `v`, `words` long.
inline void write_row(apps::Vertex v, std::uint64_t* row, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) row[i] = feature_word(v, i);
}

/// True if every word of `row` is that of `v`.
inline bool is_row_of(apps::Vertex v, const std::uint64_t* row, std::uint64_t words) {
  for (std::uint64_t i = 0; i < words; ++i) {
    if (row[i] != feature_word(v, i)) return false;
  }
  return true;
}

/// What a row adds to the checksum: depends on its contents alone.
inline std::uint64_t row_digest(const std::uint64_t* row, std::uint64_t words) {
  std::uint64_t digest = 0;
  for (std::uint64_t i = 0; i < words; ++i) digest = apps::mix64(digest ^ row[i]);
  return digest;
}

}  // namespace sample
