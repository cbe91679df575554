// SPDX-License-Identifier: BSD-3-Clause
#include "graph/rmat.h"

#include "common/hash.h"

namespace apps {
namespace {

// Upper bounds of the quadrants' intervals in 32-bit fixed point: a, a+b, a+b+c.
constexpr std::uint32_t upper_a = 0.57 * 4294967296.0;
constexpr std::uint32_t upper_b = 0.76 * 4294967296.0;
constexpr std::uint32_t upper_c = 0.95 * 4294967296.0;

struct Quadrant {
  unsigned row, column;
};

inline Quadrant quadrant(std::uint32_t draw) {
  const unsigned row = draw >= upper_b;
  const unsigned column = (draw >= upper_a && draw < upper_b) || draw >= upper_c;
  return {row, column};
}

}  // namespace

Rmat::Rmat(int scale, std::uint64_t seed, bool permuted)
    : scale_(scale),
      permuted_(permuted),
      mask_((std::uint64_t{1} << scale) - 1),
      key_(mix64(seed)),
      multiplier_{mix64(key_ + 1) | 1, mix64(key_ + 2) | 1} {}

std::pair<std::uint64_t, std::uint64_t> Rmat::edge(std::uint64_t number) const {
  std::uint64_t state = mix64(key_ ^ mix64(number));
  std::uint64_t u = 0, v = 0;
  for (int level = 0; level < scale_; level += 2) {
    // One 64-bit draw decides two levels.
    state = mix64(state);
    const auto [row, column] = quadrant(static_cast<std::uint32_t>(state));
    u = u << 1 | row;
    v = v << 1 | column;
    if (level + 1 == scale_) break;
    const auto [next_row, next_column] = quadrant(static_cast<std::uint32_t>(state >> 32));
    u = u << 1 | next_row;
    v = v << 1 | next_column;
  }
  return {permute(u), permute(v)};
}

// Multiplication by an odd number and xor with a right shift are both bijections on `scale` bits.
std::uint64_t Rmat::permute(std::uint64_t vertex) const {
  if (!permuted_) return vertex;
  const int shift = (scale_ + 1) / 2;
  for (const auto multiplier : multiplier_) {
    vertex = (vertex + key_) * multiplier & mask_;
    vertex ^= vertex >> shift;
  }
  return vertex;
}

}  // namespace apps
