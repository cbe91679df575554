// Where the elements of a shared array lie that a reduction goes over: `count` elements of `size` bytes from `first` on, in blocks of
// `block` elements (0: all in one thread). The first block begins at first's phase, so it may be short, as the last may be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "upc/collectives.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

class Layout {
 public:
  // Elements of one block that are next to each other in this thread's memory.
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
  // Blocks of the thread that has most.
  size_t rows() const { return (blocks() + threads() - 1) / threads(); }
  // This thread's blocks are those of rows 0 .. my_rows() - 1.
  size_t my_rows() const { return my_column() < blocks() ? (blocks() - my_column() + threads() - 1) / threads() : 0; }
  // The place of this thread's block of `row` among all blocks.
  size_t my_block(size_t row) const { return my_column() + row * threads(); }

  Run run(size_t block) const {
    const size_t begin = std::max(block * block_, phase_), end = std::min((block + 1) * block_, phase_ + count_);
    const size_t row = (thread_ + block) / threads();
    return {base_ + (row * block_ + begin % block_) * size_, end - begin};
  }

 private:
  // A thread's place on the circle from the first thread on.
  size_t my_column() const { return (my_thread() + threads() - thread_) % threads(); }

  size_t thread_, phase_, count_, size_, block_;
  uint64_t base_;  // of the first block, were it whole
};

}  // namespace nearcache::upc
#pragma GCC visibility pop
