// SPDX-License-Identifier: BSD-3-Clause

// Entries by rank, for windows with millions of targets: besides the entry itself, each takes 4 to
// 11 bytes of an index and one byte of a list. None is ever removed, and none moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearcache::rma {

// An Entry has a member `int rank`.
template <class Entry>
class RankMap {
 public:
  bool empty() const { return size_ == 0; }

  // Returns null if there is none.
  Entry* find(int rank) const {
    if (size_ == 0) return nullptr;
    const uint32_t number = index_[slot_of(rank)];
    return number == 0 ? nullptr : &entry(number - 1);
  }
  Entry& operator[](int rank) {
    if (Entry* found = find(rank)) return *found;
    if (uint64_t{size_} * 4 >= index_.size() * 3) grow();
    if (size_ % of_block == 0) blocks_.push_back(std::make_unique<Entry[]>(of_block));
    Entry& added = entry(size_++);
    added.rank = rank;
    index_[slot_of(rank)] = size_;
    return added;
  }

  // Calls visit(entry) with each, in the order in which they were added; also with those that it
  // adds.
  template <class Visit>
  void each(Visit visit) const {
    for (uint32_t number = 0; number < size_; ++number) visit(entry(number));
  }
  template <class Condition>
  bool all_of(Condition condition) const {
    for (uint32_t number = 0; number < size_; ++number) {
      if (!condition(entry(number))) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t of_block = 8;

  Entry& entry(uint32_t number) const { return blocks_[number / of_block][number % of_block]; }
  // The place of the rank in the index, or the free one where it belongs.
  size_t slot_of(int rank) const {
    const size_t last = index_.size() - 1;
    // multiplicative hashing by the golden ratio (Knuth, TAOCP 3, 6.4)
    const uint64_t mixed = static_cast<uint32_t>(rank) * uint64_t{0x9e3779b97f4a7c15};
    size_t slot = static_cast<size_t>(mixed >> 32) & last;
    while (index_[slot] != 0 && entry(index_[slot] - 1).rank != rank) slot = (slot + 1) & last;
    return slot;
  }
  void grow() {
    std::vector<uint32_t>(index_.empty() ? 4 : index_.size() * 2).swap(index_);
    for (uint32_t number = 0; number < size_; ++number)
      index_[slot_of(entry(number).rank)] = number + 1;
  }

  std::vector<std::unique_ptr<Entry[]>> blocks_;
  std::vector<uint32_t> index_;  // numbers of entries, from 1 on; 0: free. A power of two
  uint32_t size_ = 0;
};

}  // namespace nearcache::rma
