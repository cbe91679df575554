// SPDX-License-Identifier: BSD-3-Clause

// Plans how lists from many ranks are gathered at one rank, by collective calls that count in int
// and without room for all lists at once: in rounds, in each of which every rank sends the same
// amount.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nearcache {

struct GatherPlan {
  uint64_t items;  // items that each rank sends per round
  uint64_t rounds;

  // `longest`: number of items in the longest list. A round brings about 16 MiB to the root, or one
  // item from each rank if that is more.
  static GatherPlan of(uint64_t longest, uint64_t item_bytes, uint64_t ranks) {
    constexpr uint64_t round_bytes = 16 << 20;
    const uint64_t fit = std::max<uint64_t>(round_bytes / (item_bytes * ranks), 1);
    const uint64_t items = std::max<uint64_t>(std::min(fit, longest), 1);
    return {items, (longest + items - 1) / items};
  }
};

}  // namespace nearcache
