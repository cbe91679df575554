// SPDX-License-Identifier: BSD-3-Clause

// Rounding to whole units: pages, lines, alignments.
#pragma once

#include <cstdint>

namespace nearcache {

constexpr uint64_t round_down(uint64_t value, uint64_t unit) { return value / unit * unit; }
constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace nearcache
