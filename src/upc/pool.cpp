// SPDX-License-Identifier: BSD-3-Clause
#include "upc/pool.h"

#include <algorithm>

namespace nearcache::upc {
namespace {

uint64_t units_for(size_t bytes) {
  return (std::max(bytes, Pool::smallest_bytes) + unit - 1) / unit;
}

}  // namespace

// Sizes below 16 units have a list each; above, there are 16 lists between successive powers of
// two.
int Pool::list_of(uint64_t units) {
  if (units < lists_a_row) return static_cast<int>(units);
  const int log = 63 - __builtin_clzll(units);
  return (log - 3) * lists_a_row + static_cast<int>(units >> (log - 4) & (lists_a_row - 1));
}

int Pool::list_at_least(uint64_t units) const {
  // round up to a list's least
  if (units >= lists_a_row) units += (uint64_t{1} << (63 - __builtin_clzll(units) - 4)) - 1;
  const int list = list_of(units);
  int row = list / lists_a_row;
  const unsigned in_row = lists_[row] & (~0u << (list % lists_a_row));
  if (in_row != 0) return row * lists_a_row + __builtin_ctz(in_row);
  const uint64_t higher = rows_used_ & (~uint64_t{0} << 1 << row);
  if (higher == 0) return -1;
  row = __builtin_ctzll(higher);
  return row * lists_a_row + __builtin_ctz(lists_[row]);
}

// If no list guarantees a fit, the list that the size itself belongs to may still have one, so that
// the last memory is used, too.
uint64_t Pool::search(uint64_t units) const {
  const int list = list_at_least(units);
  if (list >= 0) return heads_[list];
  constexpr int most_looks = 64;
  uint64_t block = heads_[list_of(units)];
  for (int i = 0; block != 0 && i < most_looks; ++i, block = next(block)) {
    if (size_of(block) >= units) return block;
  }
  return 0;
}

void Pool::link(uint64_t block) {
  const int list = list_of(size_of(block));
  next(block) = heads_[list];
  previous(block) = 0;
  if (heads_[list] != 0) previous(heads_[list]) = block;
  heads_[list] = block;
  lists_[list / lists_a_row] |= static_cast<uint16_t>(1u << (list % lists_a_row));
  rows_used_ |= uint64_t{1} << (list / lists_a_row);
}

void Pool::unlink(uint64_t block) {
  const int list = list_of(size_of(block));
  const uint64_t after = next(block), before = previous(block);
  if (after != 0) previous(after) = before;
  if (before != 0) {
    next(before) = after;
    return;
  }
  heads_[list] = after;
  if (after != 0) return;
  lists_[list / lists_a_row] &= static_cast<uint16_t>(~(1u << (list % lists_a_row)));
  if (lists_[list / lists_a_row] == 0) rows_used_ &= ~(uint64_t{1} << (list / lists_a_row));
}

// Turns a block, whose flag about the block below is right, into a free one.
void Pool::make_free(uint64_t block, uint64_t units) {
  set_size(block, units);
  size_word(block) |= free_flag;
  word(block + units * unit - 8) = units;
  size_word(above(block)) |= below_free_flag;
  link(block);
}

// Splits a free block that is in no list: the part beyond `units` becomes a separate free block.
void Pool::split(uint64_t block, uint64_t units) {
  const uint64_t rest = size_of(block) - units;
  constexpr uint64_t header_units = header_bytes / unit;
  if (rest < header_units + smallest_bytes / unit) {
    size_word(above(block)) &= ~below_free_flag;
    return;
  }
  set_size(block, units);
  const uint64_t upper = above(block);
  id(upper) = 0;
  size_word(upper) = 0;
  make_free(upper, rest - header_units);
}

uint64_t Pool::allocate(size_t bytes) {
  const uint64_t units = units_for(bytes);
  const uint64_t block = search(units);
  if (block == 0) return 0;
  unlink(block);
  split(block, units);
  size_word(block) &= ~free_flag;
  return block;
}

void Pool::free(uint64_t block) {
  uint64_t units = size_of(block);
  const uint64_t upper = above(block);
  if (is_free(upper)) {
    unlink(upper);
    units += size_of(upper) + header_bytes / unit;
  }
  if ((size_word(block) & below_free_flag) != 0) {
    const uint64_t below_units = word(block - header_bytes - 8);
    const uint64_t below = block - header_bytes - below_units * unit;
    unlink(below);
    units += below_units + header_bytes / unit;
    block = below;
  }
  make_free(block, units);
}

// A chunk is one free block and, above it, a header without a block. The heap's lower end grows up
// and its upper end down, so a new chunk is often adjacent to the last one.
void Pool::add_chunk(uint64_t offset, size_t bytes) {
  const uint64_t end = offset + bytes;
  uint64_t block = offset + header_bytes;
  uint64_t limit = end;
  if (last_end_ == offset) {  // the old chunk's upper header becomes the new block's
    block = offset;
    limit = end;
  } else {
    id(block) = 0;
    size_word(block) = 0;
  }
  if (last_begin_ == end && last_end_ != 0) {  // extends to the old chunk's lowest block
    set_size(block, (end - block) / unit);
    last_begin_ = offset;
  } else {
    const uint64_t top = limit;  // the start of a block above
    id(top) = 0;
    size_word(top) = 0;
    set_size(block, (limit - header_bytes - block) / unit);
    if (last_end_ == offset) {
      last_end_ = end;
    } else {
      last_begin_ = offset;
      last_end_ = end;
    }
  }
  free(block);
}

namespace {

// How many pages of a free block of `bytes` can be given up such that a block remains.
size_t spare(size_t bytes, size_t page, size_t least) {
  if (bytes < Pool::smallest_bytes) return 0;
  const size_t pages = (bytes - Pool::smallest_bytes) / page * page;
  return pages < least ? 0 : pages;
}

}  // namespace

size_t Pool::trim_low(uint64_t edge, size_t page, size_t least) {
  const uint64_t block = edge + header_bytes;
  if (last_end_ == 0 || last_begin_ != edge || !is_free(block)) return 0;
  const uint64_t units = size_of(block);
  const size_t cut = spare(units * unit, page, least);
  if (cut == 0) return 0;
  unlink(block);
  last_begin_ += cut;
  id(block + cut) = 0;
  size_word(block + cut) = 0;
  make_free(block + cut, units - cut / unit);
  return cut;
}

size_t Pool::trim_high(uint64_t edge, size_t page, size_t least) {
  if (last_end_ == 0 || last_end_ != edge || (size_word(edge) & below_free_flag) == 0) return 0;
  const uint64_t units = word(edge - header_bytes - 8);
  const uint64_t block = edge - header_bytes - units * unit;
  const size_t cut = spare(units * unit, page, least);
  if (cut == 0) return 0;
  unlink(block);
  last_end_ -= cut;
  id(last_end_) = 0;
  size_word(last_end_) = 0;
  make_free(block, units - cut / unit);
  return cut;
}

}  // namespace nearcache::upc
