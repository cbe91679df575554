// SPDX-License-Identifier: BSD-3-Clause

// Counts the common neighbours of two vertices. MPI-free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace lcc {

/// Intersects one list, set by select(), with many others. The selected list is kept as a bitmap,
/// so an intersection costs one bit test per entry of the other list and has no branches to
/// mispredict (a merge mispredicts on most entries). If the other list is much longer, the selected
/// entries are looked up in it by binary search instead.
class Intersector {
 public:
  /// Lists contain numbers below `universe`; uses universe/8 bytes.
  explicit Intersector(std::uint64_t universe) : bits_(universe / 64 + 1) {}

  /// pre: `list` stays valid and in place until the next select()
  void select(std::span<const std::uint32_t> list);
  /// pre: both lists ascend without duplicates
  std::uint64_t count_common(std::span<const std::uint32_t> other) const;
  /// Returns the number of bit tests that count_common(other) takes, or their equivalent.
  std::uint64_t steps(std::span<const std::uint32_t> other) const {
    return std::min<std::uint64_t>(other.size(), selected_.size() * search_cost);
  }

 private:
  // A binary search costs about as much as 16 bit tests (some 10 dependent steps, compared with
  // independent loads).
  static constexpr std::uint64_t search_cost = 16;

  std::vector<std::uint64_t> bits_;
  std::span<const std::uint32_t> selected_;
};

}  // namespace lcc
