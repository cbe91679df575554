// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/layout.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace nearcache {

const Layout& byte_layout() {
  struct ByteLayout : Layout {
    ByteLayout() {
      size = 1;
      extent = true_ub = 1;
      dense = permanent = true;
      blocks.push_back({0, 1});
    }
  };
  static const ByteLayout& layout = *new ByteLayout;  // needed until the process ends
  return layout;
}

namespace {

struct LayoutTable {
  std::mutex mutex;
  uint32_t next_id = 1;
  std::unordered_multimap<uint64_t, const Layout*> by_content;
};

LayoutTable& layouts() {
  static LayoutTable& table = *new LayoutTable;  // needed until the process ends
  return table;
}

uint64_t content_hash(const Layout& layout) {
  uint64_t hash = static_cast<uint64_t>(layout.extent) * 0x9e3779b97f4a7c15u;
  for (const Block& block : layout.blocks) {
    hash = (hash ^ static_cast<uint64_t>(block.offset)) * 0xff51afd7ed558ccdu;
    hash = (hash ^ block.length) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

const Layout* layout_intern(Layout* layout) {
  LayoutTable& table = layouts();
  const std::lock_guard lock(table.mutex);
  const uint64_t hash = content_hash(*layout);
  const auto [first, last] = table.by_content.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (it->second->extent != layout->extent || it->second->blocks != layout->blocks) continue;
    // A program may build an equivalent of a predefined type: then the predefined layout is used,
    // or the existing one becomes permanent.
    if (layout->permanent) it->second->permanent = true;
    delete layout;
    layout_hold(it->second);
    return it->second;
  }
  if (table.next_id == UINT32_MAX) {
    delete layout;
    return nullptr;
  }
  layout->id = table.next_id++;
  table.by_content.emplace(hash, layout);
  return layout;
}

void layout_hold(const Layout* layout) {
  if (!layout->permanent) layout->references.fetch_add(1, std::memory_order_relaxed);
}

void layout_drop(const Layout* layout) {
  if (layout->permanent) return;
  LayoutTable& table = layouts();
  const std::lock_guard lock(table.mutex);
  if (layout->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const auto [first, last] = table.by_content.equal_range(content_hash(*layout));
  for (auto it = first; it != last; ++it) {
    if (it->second != layout) continue;
    table.by_content.erase(it);
    break;
  }
  delete layout;
}

// Returns the distance of the last element from the first, clamped to a quarter of the address
// space, since no memory can hold more.
static int64_t distance_of_last(const Elements& elements) {
  constexpr int64_t far_away = INT64_MAX / 4;
  int64_t distance = 0;
  if (elements.count - 1 > static_cast<uint64_t>(INT64_MAX) ||
      __builtin_mul_overflow(static_cast<int64_t>(elements.count - 1), elements.layout->extent,
                             &distance))
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

// Calls copy(offset from the address, offset in the packed bytes, length) for each block, up to a
// total of `bytes`.
template <class Copy>
void for_each_block(const Elements& elements, uint64_t bytes, Copy copy) {
  uint64_t done = 0;
  int64_t element = 0;
  for (uint64_t i = 0; i < elements.count && done < bytes;
       ++i, element += elements.layout->extent) {
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

}  // namespace nearcache
