// SPDX-License-Identifier: BSD-3-Clause

// A 64-bit mixing function, for reproducible numbers that look random.
#pragma once

#include <cstdint>

namespace apps {

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection in which every output bit
/// depends on every input bit.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace apps
