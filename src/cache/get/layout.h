// Where the bytes of a datatype lie: its type map as a list of blocks. Where layouts come from is
// the front end's business.
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

// One element of a datatype. Blocks are in type-map order, the order in which MPI packs, neighbours
// merged.
struct Layout {
  uint64_t size = 0;  // bytes of data
  int64_t extent = 0;
  int64_t true_lb = 0, true_ub = 0;
  bool dense = false;              // one block that fills the extent: any count is contiguous
  mutable bool permanent = false;  // of a predefined type: never freed
  uint32_t id = 0;  // names this list of blocks and extent in keys; never used for another one
  std::vector<Block> blocks;
  mutable std::atomic<uint32_t> references{1};
};

// `count` elements of a layout.
struct Elements {
  const Layout* layout = nullptr;
  uint64_t count = 0;

  uint64_t bytes() const { return layout->size * count; }
  // One run of bytes, which begins at first_offset().
  bool contiguous() const { return layout->dense || (count == 1 && layout->blocks.size() == 1); }
  int64_t first_offset() const {
    return layout->blocks.empty() ? 0 : layout->blocks.front().offset;
  }
  // The bytes touched, relative to the address: [lowest, highest).
  int64_t lowest() const;
  int64_t highest() const;
};

// Of single bytes, for parts of what a datatype describes.
const Layout& byte_layout();
// Gives equal layouts one object and one id, so that datatypes built twice share their entries;
// held once. Null when the ids are used up, which takes 2^32 different layouts. Takes `layout`,
// made by new. These are thread-safe.
const Layout* layout_intern(Layout* layout);
void layout_hold(const Layout* layout);
// A layout that nobody holds is gone, unless it is permanent.
void layout_drop(const Layout* layout);

// Copies packed bytes to where elements lie at `address`, and back; `bytes` may end inside the
// elements.
void unpack(const std::byte* packed, uint64_t bytes, void* address, const Elements& elements);
void pack(const void* address, const Elements& elements, uint64_t bytes, std::byte* packed);

}  // namespace nearcache
