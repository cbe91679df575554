// Which of a number of pages are in use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace nearcache::net {

class PageAllocator {
 public:
  explicit PageAllocator(uint64_t pages) { free_.emplace(0, pages); }

  // The first of so many pages in a row, at least one, as low as possible; none if there is no
  // place for them.
  std::optional<uint64_t> take(uint64_t pages);
  // What was taken; returns how many pages that is.
  uint64_t give_back(uint64_t first);

  uint64_t used() const { return used_; }  // pages

 private:
  std::map<uint64_t, uint64_t> free_;  // lengths by beginning; no two touch
  std::unordered_map<uint64_t, uint64_t> taken_;
  uint64_t used_ = 0;
};

}  // namespace nearcache::net
