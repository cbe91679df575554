// SPDX-License-Identifier: BSD-3-Clause

// Datatypes with more runs than are worth sending with every operation: a target is told the blocks
// of one element once, and from then on only the layout's number.
//
// What a target keeps is bounded: each origin has its share, and withdraws its least recently used
// layouts. What does not fit is sent as runs of memory, in as many messages as that takes. Telling
// and withdrawing layouts are requests like any other and are executed in order, so that an
// operation that waits for a lock still means what it meant.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "rma/wire.h"

namespace nearcache::rma {

// Elements of a datatype at a target. `number` stands for these blocks, this size and this extent
// as long as the process lives.
struct ElementLayout {
  uint64_t number = 0;
  uint64_t size = 0;   // bytes of data
  int64_t extent = 0;  // bytes from one element to the next
  uint64_t blocks = 0;
  const void* context = nullptr;
  Piece (*block)(const void* context, uint64_t which) = nullptr;

  // The run of memory that is block `which` of element `element`.
  Piece run(uint64_t element, uint64_t which) const {
    const Piece piece = block(context, which);
    return {piece.offset + static_cast<int64_t>(element) * extent, piece.length};
  }
  // Calls function(run) with the runs of the first `length` bytes of data, which may end within an
  // element, until a call returns false. Then this returns false, too.
  template <class Function>
  bool each_run(uint64_t length, Function function) const {
    for (uint64_t element = 0; length > 0; ++element) {
      for (uint64_t which = 0; which < blocks && length > 0; ++which) {
        Piece piece = run(element, which);
        piece.length = std::min(piece.length, length);
        length -= piece.length;
        if (!function(piece)) return false;
      }
    }
    return true;
  }
};

// The blocks that one origin may have told one target of a window. All origins together, if they
// are no more than 512, take up to 48 MiB of the target's memory.
inline uint64_t layout_share(int ranks) {
  return std::clamp<uint64_t>((1 << 21) / static_cast<uint64_t>(ranks), 4096, 1 << 20);
}
inline uint64_t layout_cost(uint64_t blocks) { return blocks + 16; }

// At an origin: what one target has been told.
class SentLayouts {
 public:
  // Each operation looks for its layout among all of them.
  static constexpr size_t most = 256;
  struct Sent {
    uint64_t number, blocks;
    uint64_t told = 0;  // blocks told so far
    int users = 0;      // operations not yet issued in full
  };
  // Adds a user of the layout; `take_back` receives the numbers of layouts to withdraw for it.
  // Returns null if there is no room now.
  Sent* use(const ElementLayout& layout, uint64_t share, std::vector<uint64_t>* take_back);
  bool empty() const { return sent_.empty(); }

 private:
  std::list<Sent> sent_;  // most recently used first
  uint64_t cost_ = 0;
};

// At a target: what origins have told. None of it is trusted.
class ToldLayouts {
 public:
  struct Told {
    int64_t extent = 0;
    uint64_t expected = 0, size = 0;
    std::vector<Piece> blocks;
    std::vector<uint64_t> begins;  // where each block begins in the packed data

    // Calls function(offset, length) with the runs of `length` bytes that follow the first `skip`
    // bytes of packed data. Returns false if the layout is incomplete or invalid, or once a call
    // returns false.
    template <class Function>
    bool each_run(uint64_t skip, uint64_t length, Function function) const {
      if (blocks.size() != expected || size == 0) return false;
      uint64_t element = skip / size, within = skip % size;
      size_t which =
          static_cast<size_t>(std::ranges::upper_bound(begins, within) - begins.begin()) - 1;
      for (within -= begins[which]; length > 0; within = 0) {
        const Piece& block = blocks[which];
        int64_t at;
        if (__builtin_mul_overflow(element, extent, &at) ||
            __builtin_add_overflow(at, block.offset, &at) ||
            __builtin_add_overflow(at, within, &at))
          return false;
        const uint64_t bytes = std::min(length, block.length - within);
        if (!function(at, bytes)) return false;
        length -= bytes;
        if (++which == blocks.size()) which = 0, ++element;
      }
      return true;
    }
  };

  explicit ToldLayouts(uint64_t share) : share_(share) {}

  // Takes all blocks of a layout, or the next ones. What exceeds the origin's share is not kept.
  void tell(int from, const Message& message);
  void take_back(int from, uint64_t number);
  void forget(int from) { origins_.erase(from); }
  const Told* find(int from, uint64_t number) const;

 private:
  struct Origin {
    std::map<uint64_t, Told> layouts;
    uint64_t cost = 0;
  };
  uint64_t share_;
  std::unordered_map<int, Origin> origins_;
};

}  // namespace nearcache::rma
