// Datatypes with more runs than are worth sending with every operation: a target is told the blocks
// of one element once, and from then on only their number.
//
// What a target keeps is bounded: each origin has its share, and withdraws the least recently used
// layouts. What does not fit is sent as runs of memory, in as many messages as that takes. Telling
// and withdrawing are requests like others, in order, so that an operation that waits for a lock
// still means what it meant.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "rma/wire.h"

namespace nearcache::rma {

// Elements of a datatype at a target. The number names these blocks, this size and extent, as long
// as the process lives.
struct ElementLayout {
  uint64_t number = 0;
  uint64_t size = 0;   // bytes of data
  int64_t extent = 0;  // bytes from one element to the next
  uint64_t blocks = 0;
  const void* context = nullptr;
  Piece (*block)(const void* context, uint64_t which) = nullptr;

  // Of the memory of all elements: the run that is block `which` of element `element`.
  Piece run(uint64_t element, uint64_t which) const {
    const Piece piece = block(context, which);
    return {piece.offset + static_cast<int64_t>(element) * extent, piece.length};
  }
  // Calls with each run of so many bytes, which may end inside an element, until a call returns
  // false; then so does this.
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

// Blocks that one origin may have told one target of a window: 48 MiB of the target's memory for
// all of up to 512.
inline uint64_t layout_share(int ranks) {
  return std::clamp<uint64_t>((1 << 21) / static_cast<uint64_t>(ranks), 4096, 1 << 20);
}
inline uint64_t layout_cost(uint64_t blocks) { return blocks + 16; }

// At an origin: what one target has been told.
class SentLayouts {
 public:
  struct Sent {
    uint64_t number, blocks;
    uint64_t told = 0;  // of the blocks
    int users = 0;      // operations that are not issued in full
  };
  // One more user of the layout, and which others are to be taken back for it; null where it has no
  // place now.
  Sent* use(const ElementLayout& layout, uint64_t share, std::vector<uint64_t>* take_back);

 private:
  std::list<Sent> sent_;  // used last: in front
  uint64_t cost_ = 0;
};

// At a target: what origins have told. Nothing of it is believed.
class ToldLayouts {
 public:
  struct Told {
    int64_t extent = 0;
    uint64_t expected = 0, size = 0;
    std::vector<Piece> blocks;
    std::vector<uint64_t> begins;  // of each block in the packed data

    // Calls with offset and length of each run of so many bytes after `skip` of the packed data.
    // False where there is none, or once a call says so.
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

  // All blocks of a layout, or the next of them. What is too much is not kept.
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
