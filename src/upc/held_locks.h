// SPDX-License-Identifier: BSD-3-Clause

// The locks that this thread holds: a hash table with linear probing, fast for one lock and good
// enough for thousands.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class HeldLocks {
 public:
  struct Entry {
    uint64_t key;  // never 0
    uint64_t node;
  };
  const Entry* find(uint64_t key) const;
  bool add(const Entry& entry);  // false if out of memory
  void remove(uint64_t key);

 private:
  static constexpr size_t first_room = 16;
  size_t home(uint64_t key) const {
    return static_cast<size_t>(key * 0x9e3779b97f4a7c15u >> 20) & (room_ - 1);
  }
  void put(const Entry& entry);

  Entry first_[first_room] = {};
  Entry* entries_ = first_;
  size_t room_ = first_room;  // a power of two
  size_t used_ = 0;
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
