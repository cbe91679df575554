// SPDX-License-Identifier: BSD-3-Clause

// Morton keys: they order the bodies so that every cell of the octree is one contiguous range.
// MPI-free.
//
// A key has `digits` octal digits, most significant first. Digit l names the octant within the cell
// of level l, so the first l digits identify that cell. Level 0 is the root cube.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "geometry.h"

namespace barnes_hut {

inline constexpr int digits = 21;  // 63 bits: the finest grid that fits one word
inline constexpr std::uint64_t key_end = std::uint64_t{1} << (3 * digits);

/// Spreads the low 21 bits of `v` so that each is followed by two zero bits.
inline std::uint64_t spread_bits(std::uint64_t v) {
  v &= 0x1fffff;
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  v = (v | v << 2) & 0x1249249249249249;
  return v;
}

/// The inverse of spread_bits.
inline std::uint64_t gather_bits(std::uint64_t v) {
  v &= 0x1249249249249249;
  v = (v | v >> 2) & 0x10c30c30c30c30c3;
  v = (v | v >> 4) & 0x100f00f00f00f00f;
  v = (v | v >> 8) & 0x001f0000ff0000ff;
  v = (v | v >> 16) & 0x001f00000000ffff;
  v = (v | v >> 32) & 0x1fffff;
  return v;
}

inline std::uint64_t grid_coordinate(double value, double low, double side) {
  constexpr double cells = 1 << digits;
  return static_cast<std::uint64_t>(std::clamp((value - low) / side * cells, 0.0, cells - 1));
}

inline std::uint64_t morton_key(const Vector& p, const Cube& root) {
  return spread_bits(grid_coordinate(p.x, root.low.x, root.side)) << 2 |
         spread_bits(grid_coordinate(p.y, root.low.y, root.side)) << 1 |
         spread_bits(grid_coordinate(p.z, root.low.z, root.side));
}

/// Returns digit number `level` of a key. pre: level < digits
inline unsigned digit(std::uint64_t key, int level) {
  return key >> (3 * (digits - 1 - level)) & 7;
}

/// Returns the level of the smallest cell that contains both keys.
inline int common_level(std::uint64_t a, std::uint64_t b) {
  return a == b ? digits : (std::countl_zero(a ^ b) - 1) / 3;
}

/// Returns the side length of the cells of a level.
inline double cell_side(const Cube& root, int level) {
  return root.side / static_cast<double>(std::uint64_t{1} << level);
}

/// Returns the middle of the cell of `level` that contains `key`.
inline Vector cell_middle(const Cube& root, std::uint64_t key, int level) {
  const int below = 3 * (digits - level);
  const std::uint64_t corner = below >= 64 ? 0 : key >> below << below;
  const double unit = root.side / (1 << digits), half = cell_side(root, level) / 2;
  const auto coordinate = [&](int shift, double low) {
    return low + static_cast<double>(gather_bits(corner >> shift)) * unit + half;
  };
  return {coordinate(2, root.low.x), coordinate(1, root.low.y), coordinate(0, root.low.z)};
}

}  // namespace barnes_hut
