// SPDX-License-Identifier: BSD-3-Clause
#include "cache/page/write_masks.h"

namespace nearcache {
namespace {

size_t bytes_of_one(size_t page) {
  return sizeof(WriteMasks::Mask) + 2 * (page / 64) * sizeof(uint64_t);
}

}  // namespace

size_t WriteMasks::bytes(size_t count, size_t page) { return count * bytes_of_one(page); }

void WriteMasks::create(void* memory, size_t count, size_t page) {
  memory_ = static_cast<char*>(memory);
  mask_bytes_ = bytes_of_one(page);
  words_ = page / 64;
  count_ = count;
  newest_ = oldest_ = free_ = 0;
  for (auto i = static_cast<uint32_t>(count); i > 0; --i) {
    (*this)[i].older = free_;
    free_ = i;
  }
}

// A free mask has no bits set: create() gets zeroed memory, and give_back() accepts only empty
// masks.
uint16_t WriteMasks::take(uint32_t page) {
  const uint32_t i = free_;
  Mask& m = (*this)[i];
  free_ = m.older;
  m.page = page;
  m.low = static_cast<uint16_t>(words_);
  m.high = 0;
  m.older = newest_;
  m.newer = 0;
  (newest_ != 0 ? (*this)[newest_].newer : oldest_) = i;
  newest_ = i;
  return static_cast<uint16_t>(i);
}

bool WriteMasks::give_back(uint32_t i) {
  Mask& m = (*this)[i];
  if (!dirty(m).empty() || !flying(m).empty()) return false;
  (m.newer != 0 ? (*this)[m.newer].older : newest_) = m.older;
  (m.older != 0 ? (*this)[m.older].newer : oldest_) = m.newer;
  m.older = free_;
  free_ = i;
  return true;
}

size_t WriteMasks::used() const {
  size_t masks = 0;
  for (uint32_t i = oldest_; i != 0; i = (*this)[i].newer) ++masks;
  return masks;
}

const char* WriteMasks::broken() const {
  size_t listed = 0, free = 0;
  for (uint32_t i = oldest_; i != 0; i = (*this)[i].newer) {
    if (++listed > count_) return "6: the list of written pages has a circle";
    Mask& m = (*this)[i];
    for (size_t word = 0; word < words_; ++word)
      if ((word < m.low || word >= m.high) && (m.bits[word] | m.bits[words_ + word]) != 0)
        return "7: a written byte lies outside of its mask's bounds";
  }
  for (uint32_t i = free_; i != 0; i = (*this)[i].older)
    if (++free > count_) return "6: the list of free masks has a circle";
  return listed + free == count_ ? nullptr : "6: a mask is lost";
}

}  // namespace nearcache
