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

// The last element's distance from the first; what no memory can hold counts as a quarter of all addresses.
static int64_t distance_of_last(const Elements& elements) {
  constexpr int64_t far_away = INT64_MAX / 4;
  int64_t distance = 0;
  if (elements.count - 1 > static_cast<uint64_t>(INT64_MAX) ||
      __builtin_mul_overflow(static_cast<int64_t>(elements.count - 1), elements.layout->extent, &distance))
    return elements.layout->extent < 0 ? -far_away : far_away;
  return std::clamp(distance, -far_away, far_away);
}

int64_t Elements::lowest() const {
  if (count == 0) return 0;
  return layout->true_lb + std::min<int64_t>(0, distance_of_last(*this));
}

int64_t Elements::highest() const {
  if (count == 0) return 0;
  return layout->true_ub + std::max<int64_t>(0, distance_of_last(*this));
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
