// SPDX-License-Identifier: BSD-3-Clause
#include "net/page_allocator.h"

#include <algorithm>
#include <iterator>

namespace nearcache::net {

std::optional<uint64_t> PageAllocator::take(uint64_t pages) {
  const auto found =
      std::ranges::find_if(free_, [&](const auto& hole) { return hole.second >= pages; });
  if (found == free_.end()) return {};
  const auto [first, length] = *found;
  free_.erase(found);
  if (length > pages) free_.emplace(first + pages, length - pages);
  taken_.emplace(first, pages);
  used_ += pages;
  return first;
}

uint64_t PageAllocator::give_back(uint64_t first) {
  const auto found = taken_.find(first);
  const uint64_t pages = found->second;
  taken_.erase(found);
  used_ -= pages;
  const auto hole = free_.emplace(first, pages).first;
  if (const auto next = std::next(hole); next != free_.end() && next->first == first + pages) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole != free_.begin()) {
    const auto before = std::prev(hole);
    if (before->first + before->second == first) {
      before->second += hole->second;
      free_.erase(hole);
    }
  }
  return pages;
}

}  // namespace nearcache::net
