// SPDX-License-Identifier: BSD-3-Clause

// Construction of the octree. MPI-free.
//
// The tree depends only on the set of all bodies, not on their distribution: a node holds the
// bodies of one cell of the Morton grid, and chains of cells with a single child are collapsed.
// Multipoles are summed over the children in octant order. All ranks together therefore build, bit
// for bit, the tree that one rank would build alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "morton.h"
#include "node.h"

namespace barnes_hut {

/// A node and what its parent needs to know about it.
struct Branch {
  std::uint64_t key = 0;  // of any of its bodies
  Ref node;
  double mass = 0;
  Vector centre;  // of mass
};

/// Returns the cell that contains `children`, which all lie in the cell of `level` that contains
/// `key`. `theta`: see Cell::reach2.
inline Cell cell_around(const std::vector<Branch>& children, const Cube& root, std::uint64_t key,
                        int level, double theta) {
  Cell cell;
  for (const auto& child : children) {
    cell.children[cell.children_count++] = child.node;
    cell.mass += child.mass;
    cell.centre += child.mass * child.centre;
  }
  cell.centre = 1 / cell.mass * cell.centre;
  const double offset = std::sqrt(squared(cell.centre - cell_middle(root, key, level)));
  // infinite for theta = 0: the cell never counts as one point
  const double reach = cell_side(root, level) / theta + offset;
  cell.reach2 = reach * reach;
  return cell;
}

/// Calls `visit(begin, end)` for each octant's part of [first, last), in order. All items lie in
/// the same cell of `level`. pre: sorted by key; level < digits
template <class Item, class Visit>
void for_each_octant(const Item* first, const Item* last, int level, Visit&& visit) {
  while (first != last) {
    const unsigned octant = digit(first->key, level);
    const Item* const end = std::partition_point(
        first, last, [&](const Item& item) { return digit(item.key, level) == octant; });
    visit(first, end);
    first = end;
  }
}

/// Builds the tree of the items [first, last), which are sorted by key and not empty.
/// `single(item)` returns the Branch of one item. `place(cell, first)` stores a cell whose first
/// item is `first` and returns its Ref.
template <class Item, class Single, class Place>
Branch build_tree(const Item* first, const Item* last, const Cube& root, double theta,
                  Single& single, Place& place) {
  if (last - first == 1) return single(*first);
  const int level = common_level(first->key, last[-1].key);
  std::vector<Branch> children;
  children.reserve(8);
  const auto add = [&](const Item* begin, const Item* end) {
    children.push_back(build_tree(begin, end, root, theta, single, place));
  };
  if (level < digits) {
    for_each_octant(first, last, level, add);
  } else {
    // The grid is too coarse to separate these, so split them into up to eight arbitrary parts.
    const auto count = last - first, parts = std::min<std::ptrdiff_t>(count, 8);
    for (std::ptrdiff_t i = 0; i < parts; ++i)
      add(first + count * i / parts, first + count * (i + 1) / parts);
  }
  const Cell cell = cell_around(children, root, first->key, level, theta);
  return {first->key, place(cell, *first), cell.mass, cell.centre};
}

}  // namespace barnes_hut
