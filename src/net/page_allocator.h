// SPDX-License-Identifier: BSD-3-Clause

// Tracks which pages of a range are in use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace nearcache::net {

class PageAllocator {
 public:
  explicit PageAllocator(uint64_t pages) { free_.emplace(0, pages); }

  // Takes this many consecutive pages (at least one) at the lowest place where they fit, and
  // returns the first. Returns none if there is no room.
  std::optional<uint64_t> take(uint64_t pages);
  // Gives back what take() returned. Returns the number of pages.
  uint64_t give_back(uint64_t first);

  uint64_t used() const { return used_; }  // pages

 private:
  std::map<uint64_t, uint64_t> free_;  // length by first page; no two are adjacent
  std::unordered_map<uint64_t, uint64_t> taken_;
  uint64_t used_ = 0;
};

}  // namespace nearcache::net
