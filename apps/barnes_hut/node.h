// What lies in the window of a rank: the nodes of the octree that it owns. MPI-free.
#pragma once

#include <cstdint>

#include "geometry.h"

namespace barnes_hut {

/// The window's displacement unit, in bytes; every node begins at a multiple of it.
inline constexpr std::uint64_t unit_bytes = 16;

/// Where a node lies, and which kind of node it is.
struct Ref {
  std::int32_t rank = -1;
  std::uint32_t bits = 0;  // the place in units, and in the lowest bit whether it is a leaf

  static Ref to(int rank, std::uint64_t place, bool leaf) {
    return {rank, static_cast<std::uint32_t>(place << 1 | (leaf ? 1 : 0))};
  }
  bool is_leaf() const { return bits & 1; }
  std::uint32_t place() const { return bits >> 1; }
  friend bool operator==(const Ref&, const Ref&) = default;
};
/// More units than a Ref can name (32 GiB of nodes).
inline constexpr std::uint64_t place_end = std::uint64_t{1} << 31;

/// One body as others see it.
struct Leaf {
  Vector position;
  double mass = 0;
};

/// All bodies of a cube of space that holds at least two of them.
struct Cell {
  Vector centre;  // of mass
  double mass = 0;
  // Square of the distance from the centre of mass beyond which the cell counts as one point: side
  // / theta + the distance between centre of mass and middle of the cell (Barnes, 1994). Without
  // the second term a body might be attracted by a cell of which it is itself a part.
  double reach2 = 0;
  std::int32_t children_count = 0, zero = 0;
  Ref children[8];  // those that are not empty, in the order of their octants
};

static_assert(sizeof(Leaf) == 2 * unit_bytes && sizeof(Cell) == 7 * unit_bytes);

/// Deals out places one after another. No node crosses a multiple of `block` bytes, so a cache of
/// blocks needs one transfer for a node, too.
class Placement {
 public:
  Placement() = default;
  /// pre: `block` is a multiple of 128
  explicit Placement(std::uint64_t block, std::uint64_t next = 0) : block_(block), next_(next) {}

  /// A place for `bytes`, in units.
  std::uint64_t take(std::uint64_t bytes) {
    if (next_ % block_ + bytes > block_) next_ = (next_ / block_ + 1) * block_;
    const std::uint64_t at = next_;
    next_ += bytes;
    return at / unit_bytes;
  }
  /// Bytes dealt out so far, gaps included.
  std::uint64_t used() const { return next_; }

 private:
  std::uint64_t block_ = 0, next_ = 0;
};

/// Bytes that the nodes of `bodies` bodies take at most: a cell has two children or more, so there
/// are fewer cells than leaves; at the end of a block up to 96 bytes stay free; and a rank holds a
/// few cells of the top of the tree.
inline std::uint64_t most_node_bytes(std::uint64_t bodies, std::uint64_t block) {
  // one for each level of a rank's right border, 21, is what can happen
  constexpr std::uint64_t top_cells = 64;
  const std::uint64_t nodes = bodies * (sizeof(Leaf) + sizeof(Cell)) + top_cells * sizeof(Cell);
  const std::uint64_t usable = block - (sizeof(Cell) - unit_bytes);
  return (nodes / usable + 2) * block;
}

}  // namespace barnes_hut
