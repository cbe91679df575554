// The pages that something last happened to, by hash: no more than a hint.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearcache {

// A page of a PE as one number; those of neighbouring pages are neighbours.
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
