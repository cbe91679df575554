// SPDX-License-Identifier: BSD-3-Clause

// The contents of a rank's window: the octree nodes that the rank owns. MPI-free.
#pragma once

#include <cstdint>

#include "geometry.h"

namespace barnes_hut {

/// The window's displacement unit in bytes; every node starts at a multiple of it.
inline constexpr std::uint64_t unit_bytes = 16;

/// Location and kind of a node.
struct Ref {
  std::int32_t rank = -1;
  std::uint32_t bits = 0;  // place in units, shifted left by one; the lowest bit is set for a leaf

  static Ref to(int rank, std::uint64_t place, bool leaf) {
    return {rank, static_cast<std::uint32_t>(place << 1 | (leaf ? 1 : 0))};
  }
  bool is_leaf() const { return bits & 1; }
  std::uint32_t place() const { return bits >> 1; }
  friend bool operator==(const Ref&, const Ref&) = default;
};
/// One past the largest place that a Ref can hold (32 GiB of nodes).
inline constexpr std::uint64_t place_end = std::uint64_t{1} << 31;

/// One body as other ranks see it.
struct Leaf {
  Vector position;
  double mass = 0;
};

/// All bodies in a cube of space that contains at least two.
struct Cell {
  Vector centre;  // of mass
  double mass = 0;
  // Square of the distance from the centre of mass beyond which the cell counts as one point: side
  // / theta + the distance between the centre of mass and the middle of the cell (Barnes, 1994).
  // Without the second term, a body might be attracted by a cell that contains it.
  double reach2 = 0;
  std::int32_t children_count = 0, zero = 0;
  Ref children[8];  // the non-empty ones, in octant order
};

static_assert(sizeof(Leaf) == 2 * unit_bytes && sizeof(Cell) == 7 * unit_bytes);

/// Assigns consecutive places. No node crosses a multiple of `block` bytes, so a block cache also
/// needs only one transfer per node.
class Placement {
 public:
  Placement() = default;
  /// pre: `block` is a multiple of 128
  explicit Placement(std::uint64_t block, std::uint64_t next = 0) : block_(block), next_(next) {}

  /// Returns a place, in units, for `bytes` bytes.
  std::uint64_t take(std::uint64_t bytes) {
    if (next_ % block_ + bytes > block_) next_ = (next_ / block_ + 1) * block_;
    const std::uint64_t at = next_;
    next_ += bytes;
    return at / unit_bytes;
  }
  /// Bytes assigned so far, gaps included.
  std::uint64_t used() const { return next_; }

 private:
  std::uint64_t block_ = 0, next_ = 0;
};

/// Returns the most bytes that the nodes of `bodies` bodies can take: every cell has at least two
/// children, so there are fewer cells than leaves; up to 96 bytes stay unused at the end of a
/// block; and a rank stores a few cells of the top of the tree.
inline std::uint64_t most_node_bytes(std::uint64_t bodies, std::uint64_t block) {
  // at most 21 can occur: one for each level of the rank's right border
  constexpr std::uint64_t top_cells = 64;
  const std::uint64_t nodes = bodies * (sizeof(Leaf) + sizeof(Cell)) + top_cells * sizeof(Cell);
  const std::uint64_t usable = block - (sizeof(Cell) - unit_bytes);
  return (nodes / usable + 2) * block;
}

}  // namespace barnes_hut
