// SPDX-License-Identifier: BSD-3-Clause

// Puts that may not have arrived at their target yet, for runs without a cache, which would keep
// the program's order: a put returns when its source may be reused, and a get or another put of the
// same memory may overtake it. The set is small: each line of 64 bytes is hashed to a mark that
// holds the current epoch number, and clearing the set increments that number. A hash collision
// only makes a put complete earlier than necessary.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class InFlight {
 public:
  // True if a put in flight may overlap the range.
  bool overlaps(size_t thread, uint64_t offset, size_t bytes) const;
  // Adds a put to the range.
  void add(size_t thread, uint64_t offset, size_t bytes);
  // All puts have arrived.
  void clear();

 private:
  static constexpr size_t marks = 4096;
  static constexpr uint64_t line = 64;
  // longer ranges are not hashed, and count as overlapping anything in flight
  static constexpr uint64_t most_lines = 64;
  static size_t slot(size_t thread, uint64_t number) {
    return static_cast<size_t>(
        ((number + (static_cast<uint64_t>(thread) << 40)) * 0x9e3779b97f4a7c15u) >> 52);
  }

  uint32_t now_ = 1;
  bool any_ = false;
  bool long_ = false;  // a long range is in flight
  uint32_t marks_[marks] = {};
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
