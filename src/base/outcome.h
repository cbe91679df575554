// SPDX-License-Identifier: BSD-3-Clause

// The outcome of a get: the access types of counters.def.
#pragma once

#include <cstdint>

namespace nearcache {

enum class Outcome : uint8_t {
  uncached,
  full,
  pending,
  partial,
  direct,
  conflicting,
  capacity,
  failing,
  bypassed
};
inline constexpr int outcome_count = 9;

}  // namespace nearcache
