// SPDX-License-Identifier: BSD-3-Clause

// The tree traversal for one body.
#pragma once

#include <cstdint>
#include <vector>

#include "body.h"
#include "node.h"

namespace barnes_hut {

/// `Fetch`: see fetch.h. The traversal order depends only on the tree and the body, so every Fetch
/// gives bitwise identical results.
template <class Fetch>
class Traversal {
 public:
  Traversal(Fetch& fetch, double softening) : fetch_(fetch), softening2_(softening * softening) {
    open_.reserve(512);  // enough for 7 siblings on each of 21 levels, and more
  }

  /// Returns the field at a body whose leaf is `self`.
  Field field(const Vector& position, Ref root, Ref self) {
    Field field;
    open_.assign(1, root);
    while (!open_.empty()) {
      const Ref ref = open_.back();
      open_.pop_back();
      if (ref.is_leaf()) {
        if (ref != self) visit_leaf(position, ref, field);
      } else {
        visit_cell(position, ref, field);
      }
    }
    return field;
  }

  /// Totals so far, over all bodies.
  std::uint64_t interactions() const { return interactions_; }
  std::uint64_t visited() const { return visited_; }

 private:
  void visit_leaf(const Vector& position, Ref ref, Field& field) {
    const Leaf& leaf = fetch_.template node<Leaf>(ref);
    const Vector towards = leaf.position - position;
    field.attract(towards, squared(towards), leaf.mass, softening2_);
    ++visited_;
    ++interactions_;
  }

  void visit_cell(const Vector& position, Ref ref, Field& field) {
    const Cell& cell = fetch_.template node<Cell>(ref);
    const Vector towards = cell.centre - position;
    const double distance2 = squared(towards);
    ++visited_;
    if (distance2 > cell.reach2) {
      field.attract(towards, distance2, cell.mass, softening2_);
      ++interactions_;
    } else {
      // In reverse, so that the first child is popped first.
      for (int i = cell.children_count; i-- > 0;) open_.push_back(cell.children[i]);
    }
  }

  Fetch& fetch_;
  double softening2_;
  std::vector<Ref> open_;
  std::uint64_t interactions_ = 0, visited_ = 0;
};

}  // namespace barnes_hut
