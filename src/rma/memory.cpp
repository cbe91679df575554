// SPDX-License-Identifier: BSD-3-Clause
#include "rma/memory.h"

#include <iterator>

namespace nearcache::rma {
namespace {

// The address of empty memory, which is not null to callers. Nothing is read or written there.
std::byte* const somewhere = reinterpret_cast<std::byte*>(alignof(std::max_align_t));

}  // namespace

Memory Memory::fixed(void* base, uint64_t size, int64_t unit) {
  Memory memory;
  memory.fixed_ = memory.certain_ = true;
  memory.base_ = reinterpret_cast<uint64_t>(base);
  memory.size_ = size;
  memory.unit_ = unit;
  return memory;
}

Memory Memory::brought(void* base, uint64_t size, int64_t unit) {
  Memory memory = fixed(base, size, unit);
  memory.certain_ = false;
  return memory;
}

bool Memory::attach(void* base, uint64_t size) {
  const uint64_t from = reinterpret_cast<uint64_t>(base), to = from + size;
  if (to < from) return false;
  if (regions_ == nullptr) regions_ = std::make_unique<std::map<uint64_t, uint64_t>>();
  const auto after = regions_->upper_bound(from);
  if (after != regions_->end() && after->first < to) return false;
  if (after != regions_->begin() &&
      (std::prev(after)->second > from || std::prev(after)->first == from))
    return false;
  regions_->emplace(from, to);
  return true;
}

bool Memory::detach(const void* base) {
  return regions_ != nullptr && regions_->erase(reinterpret_cast<uint64_t>(base)) != 0;
}

// Adjacent regions may be used as one: the program may have attached an object in parts.
bool Memory::attached(uint64_t address, uint64_t length) const {
  const uint64_t end = address + length;
  if (end < address || regions_ == nullptr) return false;
  while (address < end) {
    auto region = regions_->upper_bound(address);
    if (region == regions_->begin()) return false;
    --region;
    if (region->second <= address) return false;
    address = region->second;
  }
  return true;
}

std::byte* Memory::at(int64_t displacement, uint64_t first, int64_t second, uint64_t length) const {
  if (length == 0) return somewhere;
  int64_t from;
  if (__builtin_mul_overflow(displacement, unit_, &from) ||
      __builtin_add_overflow(from, second, &from) || __builtin_add_overflow(from, first, &from)) {
    return nullptr;
  }
  const auto begin = static_cast<uint64_t>(from);
  if (!fixed_) return attached(begin, length) ? reinterpret_cast<std::byte*>(begin) : nullptr;
  if (from < 0 || begin > size_ || length > size_ - begin) return nullptr;
  return reinterpret_cast<std::byte*>(base_ + begin);
}

}  // namespace nearcache::rma
