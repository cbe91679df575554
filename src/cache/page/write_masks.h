// SPDX-License-Identifier: BSD-3-Clause

// The write masks: for every page with written bytes, which of them are dirty and which are in
// flight. Pages are listed in the order of their first writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cache/page/byte_mask.h"

namespace nearcache {

// A page with written bytes takes one of a fixed number of masks, and returns it when none of its
// bytes is dirty or in flight any more. Masks are numbered from 1, which is how pages refer to
// them; 0 is none.
class WriteMasks {
 public:
  // The mask of one page, followed by one bit per byte for dirty bytes, and the same for bytes in
  // flight.
  struct Mask {
    uint32_t page;  // the frame number of its page
    // neighbours in the order of the pages' first writes; free masks are linked by `older`
    uint32_t newer, older;
    uint16_t low, high;  // all set bits of both lie in the words [low, high)
    uint64_t bits[];
  };

  // Returns the bytes of memory that `count` masks for pages of `page` bytes occupy.
  static size_t bytes(size_t count, size_t page);
  // pre: `memory` has bytes(count, page) bytes, all zero, aligned to 8; count is 1 to 65,535.
  void create(void* memory, size_t count, size_t page);

  Mask& operator[](uint32_t i) const {
    return *reinterpret_cast<Mask*>(memory_ + (i - size_t{1}) * mask_bytes_);
  }
  ByteMask dirty(Mask& m) const { return {m.bits, words_, m.low, m.high}; }
  ByteMask flying(Mask& m) const { return {m.bits + words_, words_, m.low, m.high}; }
  // Marks bytes [begin, end) of the page as dirty.
  void set_dirty(Mask& m, size_t begin, size_t end) {
    const auto low = static_cast<uint16_t>(begin / 64),
               high = static_cast<uint16_t>((end - 1) / 64 + 1);
    m.low = std::min(m.low, low);
    m.high = std::max(m.high, high);
    dirty(m).set(begin, end);
  }
  bool written(Mask& m, size_t at) const { return dirty(m).test(at) || flying(m).test(at); }
  // Returns the end of the run at `at` of bytes that are all dirty or all in flight; `at` if that
  // byte is neither.
  size_t written_to(Mask& m, size_t at) const {
    return std::max(dirty(m).next_unset(at), flying(m).next_unset(at));
  }
  // Returns the first byte from `at` on that is dirty or in flight, or the size of a page if there
  // is none.
  size_t next_written(Mask& m, size_t at) const {
    return std::min(dirty(m).next_set(at), flying(m).next_set(at));
  }

  bool full() const { return free_ == 0; }
  bool empty() const { return oldest_ == 0; }
  uint32_t oldest() const { return oldest_; }
  // Takes an empty mask, which becomes the newest. pre: !full()
  uint16_t take(uint32_t page);
  // Returns a mask to the free list if it has no bits set. Returns true if it did.
  bool give_back(uint32_t i);

  // For tests: the number of masks in use; nullptr or what is wrong.
  size_t used() const;
  const char* broken() const;

 private:
  char* memory_ = nullptr;
  size_t mask_bytes_ = 0, words_ = 0, count_ = 0;
  uint32_t newest_ = 0, oldest_ = 0, free_ = 0;
};

}  // namespace nearcache
