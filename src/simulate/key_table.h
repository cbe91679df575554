// SPDX-License-Identifier: BSD-3-Clause

// Numbers keys in order of first occurrence. A key is identified by its 64-bit hash (among ten
// million keys, the chance that any two collide is 3 in a million).
#pragma once

#include <cstdint>
#include <vector>

namespace nearcache::simulate {

class KeyTable {
 public:
  // Returns the key's number. A key that occurs for the first time gets the old value of keys().
  uint32_t number_of(uint64_t hash) {
    if ((keys_ + 1) * 2 > slots_.size()) grow();
    size_t at = place(hash);
    while (slots_[at].number != none) {
      if (slots_[at].hash == hash) return slots_[at].number;
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {hash, keys_};
    return keys_++;
  }
  uint32_t keys() const { return keys_; }

 private:
  static constexpr uint32_t none = UINT32_MAX;
  struct Slot {
    uint64_t hash = 0;
    uint32_t number = none;
  };

  size_t place(uint64_t hash) const {
    return (hash * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == none) continue;
      size_t at = place(slot.hash);
      while (slots_[at].number != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  uint32_t keys_ = 0;
};

}  // namespace nearcache::simulate
