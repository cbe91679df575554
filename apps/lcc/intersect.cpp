// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/intersect.h"

namespace lcc {
namespace {

bool contains(std::span<const std::uint32_t> list, std::uint32_t value) {
  const std::uint32_t* base = list.data();
  for (std::size_t size = list.size(); size > 1;) {
    const std::size_t half = size / 2;
    base = base[half] <= value ? base + half : base;  // a conditional move, not a branch
    size -= half;
  }
  return !list.empty() && *base == value;
}

}  // namespace

void Intersector::select(std::span<const std::uint32_t> list) {
  for (const auto v : selected_) bits_[v >> 6] = 0;
  for (const auto v : list) bits_[v >> 6] |= std::uint64_t{1} << (v & 63);
  selected_ = list;
}

std::uint64_t Intersector::count_common(std::span<const std::uint32_t> other) const {
  std::uint64_t count = 0;
  if (selected_.size() * search_cost < other.size()) {
    for (const auto v : selected_) count += contains(other, v);
  } else {
    for (const auto v : other) count += bits_[v >> 6] >> (v & 63) & 1;
  }
  return count;
}

}  // namespace lcc
