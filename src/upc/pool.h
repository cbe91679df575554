// SPDX-License-Identifier: BSD-3-Clause

// Allocates blocks within chunks of this thread's part of the arena by two-level segregated fit
// (Masmano, Ripoll, Crespo, Real 2004), in constant time.
//
// Every block has a header of 16 bytes before it:
//   id     the block's owner and whether it is allocated; checked when the block is freed, also by
//          another thread (heap.cpp)
//   size   in units of 16 bytes, and two flags: this block is free, the block below is free
// A free block has its list's links at its start and its size in its last word, so that the block
// above can find its header.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

constexpr size_t unit = 16;

class Pool {
 public:
  static constexpr size_t header_bytes = 16;
  // without the header: room for a free block's links and size
  static constexpr size_t smallest_bytes = 32;
  static constexpr size_t chunk_overhead = 2 * header_bytes;

  // `arena` is the address that offsets are relative to.
  void start(char* arena) { arena_ = arena; }

  // Adds [offset, offset + bytes), multiples of 16, to the pool. Merges it with an adjacent chunk.
  void add_chunk(uint64_t offset, size_t bytes);

  // Returns the offset of a block of at least `bytes`; 0 if there is none.
  uint64_t allocate(size_t bytes);

  // Gives up the free whole pages at the lower or upper end of the chunk added last, and returns
  // how many bytes these are; 0, and gives up nothing, if fewer than `least`. The chunk must begin
  // or end at `edge`.
  size_t trim_low(uint64_t edge, size_t page, size_t least);
  size_t trim_high(uint64_t edge, size_t page, size_t least);

  void free(uint64_t block);
  size_t bytes_of(uint64_t block) const { return size_of(block) * unit; }
  bool is_free(uint64_t block) const { return (word(block - 8) & free_flag) != 0; }
  uint64_t& id(uint64_t block) const { return word(block - 16); }

 private:
  static constexpr uint64_t free_flag = 1, below_free_flag = 2;
  // lists per power of two of sizes
  static constexpr int lists_a_row = 16;
  static constexpr int rows = 40;

  uint64_t& word(uint64_t offset) const { return *reinterpret_cast<uint64_t*>(arena_ + offset); }
  uint64_t& size_word(uint64_t block) const { return word(block - 8); }
  // in units, without the header; 0 marks the end of a chunk
  uint64_t size_of(uint64_t block) const { return size_word(block) >> 2; }
  uint64_t above(uint64_t block) const { return block + size_of(block) * unit + header_bytes; }
  void set_size(uint64_t block, uint64_t units) {
    size_word(block) = units << 2 | (size_word(block) & 3);
  }
  uint64_t& next(uint64_t block) const { return word(block); }
  uint64_t& previous(uint64_t block) const { return word(block + 8); }

  static int list_of(uint64_t units);
  // the first non-empty list whose blocks all have at least `units`; -1 if there is none
  int list_at_least(uint64_t units) const;
  uint64_t search(uint64_t units) const;
  void link(uint64_t block);
  void unlink(uint64_t block);
  void make_free(uint64_t block, uint64_t units);
  void split(uint64_t block, uint64_t units);

  char* arena_ = nullptr;
  uint64_t heads_[rows * lists_a_row] = {};
  uint16_t lists_[rows] = {};  // which lists of a row have blocks
  uint64_t rows_used_ = 0;
  uint64_t last_begin_ = 0, last_end_ = 0;  // the chunk added last
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
