// SPDX-License-Identifier: BSD-3-Clause

// The pages of the most recent events, by hash: only a hint.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcache {

// Returns a page of a PE as one number; neighbouring pages have neighbouring numbers.
inline uint64_t page_name(int pe, uint64_t number) {
  return number + (static_cast<uint64_t>(static_cast<uint32_t>(pe)) << 40);
}

template <size_t count>
class RecentPages {
 public:
  void add(uint64_t name) { names_[name % count] = name; }
  bool has(uint64_t name) const { return names_[name % count] == name; }

 private:
  uint64_t names_[count] = {};
};

}  // namespace nearcache
