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
    const uint32_t number = all_->index[slot_of(rank)];
    return number == 0 ? nullptr : &entry(number - 1);
  }
  Entry& operator[](int rank) {
    if (Entry* found = find(rank)) return *found;
    if (all_ == nullptr) all_ = std::make_unique<All>();
    if (uint64_t{size_} * 4 >= all_->index.size() * 3) grow();
    if (size_ % of_block == 0) all_->blocks.push_back(std::make_unique<Entry[]>(of_block));
    Entry& added = entry(size_++);
    added.rank = rank;
    all_->index[slot_of(rank)] = size_;
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
  struct All {
    std::vector<std::unique_ptr<Entry[]>> blocks;
    std::vector<uint32_t> index;  // numbers of entries, from 1 on; 0: free. A power of two
  };

  Entry& entry(uint32_t number) const { return all_->blocks[number / of_block][number % of_block]; }
  // The place of the rank in the index, or the free one where it belongs.
  size_t slot_of(int rank) const {
    const std::vector<uint32_t>& index = all_->index;
    const size_t last = index.size() - 1;
    // multiplicative hashing by the golden ratio (Knuth, TAOCP 3, 6.4)
    const uint64_t mixed = static_cast<uint32_t>(rank) * uint64_t{0x9e3779b97f4a7c15};
    size_t slot = static_cast<size_t>(mixed >> 32) & last;
    while (index[slot] != 0 && entry(index[slot] - 1).rank != rank) slot = (slot + 1) & last;
    return slot;
  }
  void grow() {
    std::vector<uint32_t>& index = all_->index;
    std::vector<uint32_t>(index.empty() ? 4 : index.size() * 2).swap(index);
    for (uint32_t number = 0; number < size_; ++number)
      index[slot_of(entry(number).rank)] = number + 1;
  }

  std::unique_ptr<All> all_;  // once there is any
  uint32_t size_ = 0;
};

}  // namespace nearcache::rma
