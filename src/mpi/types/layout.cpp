#include "mpi/types/layout.h"

#include <algorithm>
#include <cstring>

namespace nearcache::mpi {

const Layout& byte_layout() {
  struct ByteLayout : Layout {
    ByteLayout() {
      size = 1;
      extent = true_ub = 1;
      dense = permanent = true;
      blocks.push_back({0, 1});
    }
  };
  static const ByteLayout layout;
  return layout;
}

int64_t Elements::lowest() const {
  if (count == 0) return 0;
  const int64_t last = static_cast<int64_t>(count - 1) * layout->extent;
  return layout->true_lb + std::min<int64_t>(0, last);
}

int64_t Elements::highest() const {
  if (count == 0) return 0;
  const int64_t last = static_cast<int64_t>(count - 1) * layout->extent;
  return layout->true_ub + std::max<int64_t>(0, last);
}

namespace {

// Calls copy(offset from the address, offset in the packed bytes, length) for every block until `bytes` are done.
template <class Copy>
void for_each_block(const Elements& elements, uint64_t bytes, Copy copy) {
  uint64_t done = 0;
  int64_t element = 0;
  for (uint64_t i = 0; i < elements.count && done < bytes; ++i, element += elements.layout->extent) {
    for (const Block& block : elements.layout->blocks) {
      const uint64_t length = std::min(block.length, bytes - done);
      copy(element + block.offset, done, length);
      done += length;
      if (done == bytes) return;
    }
  }
}

}  // namespace

void unpack(const std::byte* packed, uint64_t bytes, void* address, const Elements& elements) {
  auto* base = static_cast<std::byte*>(address);
  if (elements.contiguous()) {
    std::memmove(base + elements.first_offset(), packed, bytes);
    return;
  }
  for_each_block(elements, bytes, [&](int64_t at, uint64_t from, uint64_t length) {
    std::memmove(base + at, packed + from, length);
  });
}

void pack(const void* address, const Elements& elements, uint64_t bytes, std::byte* packed) {
  const auto* base = static_cast<const std::byte*>(address);
  if (elements.contiguous()) {
    std::memmove(packed, base + elements.first_offset(), bytes);
    return;
  }
  for_each_block(elements, bytes, [&](int64_t at, uint64_t to, uint64_t length) {
    std::memmove(packed + to, base + at, length);
  });
}

}  // namespace nearcache::mpi
