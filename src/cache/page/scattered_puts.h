// Whether the program's writes are scattered, a few bytes per page: then small puts bypass the
// pages.
//
// Such writes gain nothing by waiting in pages, and their pages would evict what was read. They
// show in pages that give up their masks with hardly any bytes set. From then on a put to a page
// without written bytes is issued at once, unless its page or the one before it was put to just
// now: that may be the beginning of a run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/page/recent_pages.h"

namespace nearcache {

class ScatteredPuts {
 public:
  // A page gives up its mask to another one, before anybody asked for that; `few`: what is written
  // of it spans no more than 64 bytes.
  void gave_up(bool few) { row_ = few ? std::min(row_ + 1, pages_in_a_row) : 0; }
  bool likely() const { return row_ >= pages_in_a_row; }
  // A small put to page `number` of `pe`, of which nothing is written. True: it should go around.
  bool passes(int pe, uint64_t number) {
    const uint64_t name = page_name(pe, number);
    if (put_to_.has(name) || put_to_.has(name - 1)) return false;
    put_to_.add(name);
    return ++puts_ % puts_a_trial != 0;
  }

 private:
  static constexpr uint32_t pages_in_a_row = 64;
  // One put in so many goes through a page all the same, to see whether what was found still holds.
  static constexpr uint32_t puts_a_trial = 64;

  uint32_t row_ = 0;  // pages in a row that were put with a few bytes in them
  uint32_t puts_ = 0;
  RecentPages<64> put_to_;  // past the cache
};

}  // namespace nearcache
