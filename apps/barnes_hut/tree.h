// Building the octree. MPI-free.
//
// The tree is that of all bodies and does not depend on how they are distributed: a node's bodies
// are those of one cell of the Morton grid, and chains of cells with one child are left out.
// Multipoles are summed over the children in the order of their octants. So all ranks together
// build, bit for bit, the tree that one rank alone would build.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "morton.h"
#include "node.h"

namespace barnes_hut {

/// A node and what its parent must know of it.
struct Branch {
  std::uint64_t key = 0;  // of any of its bodies
  Ref node;
  double mass = 0;
  Vector centre;  // of mass
};

/// The cell around `children`, all within the cell of `level` that holds `key`. `theta`: see
/// Cell::reach2.
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
  // infinite for theta = 0: never one point
  const double reach = cell_side(root, level) / theta + offset;
  cell.reach2 = reach * reach;
  return cell;
}

/// Calls `visit(begin, end)` for the part of [first, last) that lies in each octant of their common
/// cell of `level`, in order. pre: sorted by key; level < digits
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

/// The tree of the items [first, last), sorted by key and not empty. `single(item)` returns the
/// Branch of one item, `place(cell, first)` stores a cell whose first item is `first` and returns
/// its Ref.
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
    // The grid does not tell these apart: any eight parts will do.
    const auto count = last - first, parts = std::min<std::ptrdiff_t>(count, 8);
    for (std::ptrdiff_t i = 0; i < parts; ++i)
      add(first + count * i / parts, first + count * (i + 1) / parts);
  }
  const Cell cell = cell_around(children, root, first->key, level, theta);
  return {first->key, place(cell, *first), cell.mass, cell.centre};
}

}  // namespace barnes_hut
