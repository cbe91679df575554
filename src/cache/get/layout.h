// SPDX-License-Identifier: BSD-3-Clause

// Where the bytes of a datatype lie: its type map as a list of blocks. The front end creates the
// layouts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nearcache {

struct Block {
  int64_t offset;
  uint64_t length;
  bool operator==(const Block&) const = default;
};

// One element of a datatype. Blocks are in type-map order, the order in which MPI packs, with
// adjacent blocks merged.
struct Layout {
  uint64_t size = 0;  // bytes of data
  int64_t extent = 0;
  int64_t true_lb = 0, true_ub = 0;
  bool dense = false;              // one block that fills the extent: any count is contiguous
  mutable bool permanent = false;  // of a predefined type: never freed
  uint32_t id = 0;  // identifies this list of blocks and extent in keys; never reused
  std::vector<Block> blocks;
  mutable std::atomic<uint32_t> references{1};
};

// `count` elements of a layout.
struct Elements {
  const Layout* layout = nullptr;
  uint64_t count = 0;

  uint64_t bytes() const { return layout->size * count; }
  // Returns true if the bytes are one run, which begins at first_offset().
  bool contiguous() const { return layout->dense || (count == 1 && layout->blocks.size() == 1); }
  int64_t first_offset() const {
    return layout->blocks.empty() ? 0 : layout->blocks.front().offset;
  }
  // The range of bytes touched, relative to the address: [lowest, highest).
  int64_t lowest() const;
  int64_t highest() const;
};

// Returns the layout of single bytes, for parts of what a datatype describes.
const Layout& byte_layout();
// Returns the one object and id of all layouts equal to this one, so that datatypes that are built
// twice share their entries. The result is held once. Returns null if the ids are used up, which
// takes 2^32 different layouts. Takes ownership of `layout`, which was made by new. The functions
// below are thread-safe.
const Layout* layout_intern(Layout* layout);
void layout_hold(const Layout* layout);
// Releases a layout. It is freed when nobody holds it, unless it is permanent.
void layout_drop(const Layout* layout);

// Copy packed bytes to the places of the elements at `address`, and back. `bytes` may end in the
// middle of an element.
void unpack(const std::byte* packed, uint64_t bytes, void* address, const Elements& elements);
void pack(const void* address, const Elements& elements, uint64_t bytes, std::byte* packed);

}  // namespace nearcache
