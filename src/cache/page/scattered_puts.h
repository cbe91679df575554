// SPDX-License-Identifier: BSD-3-Clause

// Detects that the program's writes are scattered, with a few bytes per page. Small puts then
// bypass the pages.
//
// Such writes gain nothing by waiting in pages, and their pages would evict data that was read.
// They show in pages that give up their masks with hardly any bits set. From then on a put to a
// page without written bytes is issued at once, unless a put to that page or the one before it was
// issued recently: that may be the beginning of a run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/page/recent_pages.h"

namespace nearcache {

class ScatteredPuts {
 public:
  // A page had to give up its mask to another page. `few`: its written bytes span no more than 64
  // bytes.
  void gave_up(bool few) { row_ = few ? std::min(row_ + 1, pages_in_a_row) : 0; }
  bool likely() const { return row_ >= pages_in_a_row; }
  // Decides about a small put to page `number` of `pe`, which has no written bytes. Returns true if
  // the put should bypass the pages.
  bool passes(int pe, uint64_t number) {
    const uint64_t name = page_name(pe, number);
    if (put_to_.has(name) || put_to_.has(name - 1)) return false;
    put_to_.add(name);
    return ++puts_ % puts_a_trial != 0;
  }

 private:
  static constexpr uint32_t pages_in_a_row = 64;
  // One put in this many goes through a page all the same, to check that writes are still
  // scattered.
  static constexpr uint32_t puts_a_trial = 64;

  uint32_t row_ = 0;  // consecutive pages that gave up their masks with a few bytes written
  uint32_t puts_ = 0;
  RecentPages<64> put_to_;  // by puts that bypassed the pages
};

}  // namespace nearcache
