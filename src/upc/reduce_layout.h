// SPDX-License-Identifier: BSD-3-Clause

// Where the elements of a shared array lie that a reduction goes over: `count` elements of `size`
// bytes from `first` on, in blocks of `block` elements (0: all in one thread). The first block
// begins at first's phase, so it may be short, as the last may be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "upc/collectives.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class Layout {
 public:
  // Elements of one block, adjacent in this thread's memory.
  struct Run {
    uint64_t address;
    size_t count;
  };

  Layout(ncupc_ptr first, size_t count, size_t size, size_t block)
      : thread_(ncupc_thread(first)),
        phase_(block != 0 ? ncupc_phase(first) : 0),
        count_(count),
        size_(size),
        block_(block != 0 ? block : count),
        base_(ncupc_address(first) - phase_ * size) {}

  size_t block() const { return block_; }
  size_t first_thread() const { return thread_; }
  size_t blocks() const { return count_ == 0 ? 0 : (phase_ + count_ + block_ - 1) / block_; }
  // The number of blocks of the thread that has most.
  size_t rows() const { return (blocks() + threads() - 1) / threads(); }
  // This thread's blocks are those of rows 0 .. my_rows() - 1.
  size_t my_rows() const {
    return my_column() < blocks() ? (blocks() - my_column() + threads() - 1) / threads() : 0;
  }
  // The index of this thread's block of `row` among all blocks.
  size_t my_block(size_t row) const { return my_column() + row * threads(); }

  // True if every element i is on the same thread, at the same place in its block, in both layouts.
  bool fits(const Layout& other) const {
    return thread_ == other.thread_ && phase_ == other.phase_;
  }
  // The index of a block's first element among all elements.
  size_t first_element(size_t block) const { return std::max(block * block_, phase_) - phase_; }

  // Calls f(pointer, number of elements) for each adjacent part of the `count` elements from
  // `first` on, in order.
  template <class F>
  void for_pieces(size_t first, size_t count, F f) const {
    while (count != 0) {
      const size_t place = phase_ + first, block = place / block_, inside = place % block_,
                   piece = std::min(count, block_ - inside);
      const size_t row = (thread_ + block) / threads();
      f(at(thread_after(thread_, block % threads()), base_ + (row * block_ + inside) * size_),
        piece);
      first += piece, count -= piece;
    }
  }

  Run run(size_t block) const {
    const size_t begin = std::max(block * block_, phase_),
                 end = std::min((block + 1) * block_, phase_ + count_);
    const size_t row = (thread_ + block) / threads();
    return {base_ + (row * block_ + begin % block_) * size_, end - begin};
  }

 private:
  // This thread's position on the circle that starts at the first thread.
  size_t my_column() const { return (my_thread() + threads() - thread_) % threads(); }

  size_t thread_, phase_, count_, size_, block_;
  uint64_t base_;  // the address of the first block if it were whole
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
