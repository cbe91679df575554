// The write masks: for every page with written bytes, which of them are dirty and which are in
// flight, in the order of first writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cache/page/byte_mask.h"

namespace nearcache {

// A page with written bytes takes one of a fixed number of masks, and gives it back when nothing of
// it is written any more. Masks are numbered from 1, as a page remembers its own; 0 is none.
class WriteMasks {
 public:
  // Of one page. A bit a byte for dirty ones and the same for those in flight follow it.
  struct Mask {
    uint32_t page;  // whose it is: the number of its frame
    // in the order in which the pages were first written; the free ones by `older`
    uint32_t newer, older;
    uint16_t low, high;  // the words [low, high) of both hold all that is set
    uint64_t bits[];
  };

  // Bytes of memory that `count` masks of pages of `page` bytes take.
  static size_t bytes(size_t count, size_t page);
  // pre: `memory` has that many bytes, all zero, aligned to 8; count is one of 1 to 65,535.
  void create(void* memory, size_t count, size_t page);

  Mask& operator[](uint32_t i) const {
    return *reinterpret_cast<Mask*>(memory_ + (i - size_t{1}) * mask_bytes_);
  }
  ByteMask dirty(Mask& m) const { return {m.bits, words_, m.low, m.high}; }
  ByteMask flying(Mask& m) const { return {m.bits + words_, words_, m.low, m.high}; }
  // Bytes [begin, end) of its page are dirty from now on.
  void set_dirty(Mask& m, size_t begin, size_t end) {
    const auto low = static_cast<uint16_t>(begin / 64),
               high = static_cast<uint16_t>((end - 1) / 64 + 1);
    m.low = std::min(m.low, low);
    m.high = std::max(m.high, high);
    dirty(m).set(begin, end);
  }
  bool written(Mask& m, size_t at) const { return dirty(m).test(at) || flying(m).test(at); }
  // Up to where bytes from `at` on are all dirty or all in flight; `at` if that one is neither.
  size_t written_to(Mask& m, size_t at) const {
    return std::max(dirty(m).next_unset(at), flying(m).next_unset(at));
  }
  // The first byte from `at` on that is dirty or in flight; the size of a page if there is none.
  size_t next_written(Mask& m, size_t at) const {
    return std::min(dirty(m).next_set(at), flying(m).next_set(at));
  }

  bool full() const { return free_ == 0; }
  bool empty() const { return oldest_ == 0; }
  uint32_t oldest() const { return oldest_; }
  // An empty one, which is the newest. pre: !full()
  uint16_t take(uint32_t page);
  // Gives it back if nothing of its page is written. Whether it did.
  bool give_back(uint32_t i);

  // For tests. How many pages have one; nullptr or what is wrong.
  size_t used() const;
  const char* broken() const;

 private:
  char* memory_ = nullptr;
  size_t mask_bytes_ = 0, words_ = 0, count_ = 0;
  uint32_t newest_ = 0, oldest_ = 0, free_ = 0;
};

}  // namespace nearcache
