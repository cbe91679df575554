// Puts whose arrival at their target is not known yet, where no cache keeps the program's order: a
// put returns when its source may be used again, and a get or another put of the same memory may
// overtake it. Kept small: lines of 64 bytes hashed into marks, of which a number that grows says
// which are of now; what hashes alike is only completed too early.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class InFlight {
 public:
  // Whether something under way may overlap the range.
  bool overlaps(size_t thread, uint64_t offset, size_t bytes) const;
  // A put to the range starts.
  void add(size_t thread, uint64_t offset, size_t bytes);
  // All have arrived.
  void clear();

 private:
  static constexpr size_t marks = 4096;
  static constexpr uint64_t line = 64;
  // longer ranges are not hashed, but overlap with anything under way
  static constexpr uint64_t most_lines = 64;
  static size_t slot(size_t thread, uint64_t number) {
    return static_cast<size_t>(
        ((number + (static_cast<uint64_t>(thread) << 40)) * 0x9e3779b97f4a7c15u) >> 52);
  }

  uint32_t now_ = 1;
  bool any_ = false;
  bool long_ = false;  // a long range is under way
  uint32_t marks_[marks] = {};
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
