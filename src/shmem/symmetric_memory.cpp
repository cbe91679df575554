// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/symmetric_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/round.h"
#include "shmem/hooks.h"
#include "shmem/next.h"
#include "shmem/static_data.h"

namespace nearcache::shmem {
namespace {

bool inside_of(const Extent& extent, uint64_t address, size_t bytes) {
  return address >= extent.begin && address < extent.end && bytes <= extent.end - address;
}

// The first of the sorted ranges that ends after `address`.
auto first_behind(const std::vector<Extent>& ranges, uint64_t address) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [&](const Extent& range) { return range.end <= address; });
}

// Adds a range to sorted ranges, merging it with those that it touches.
void add(std::vector<Extent>* ranges, Extent range) {
  auto from = std::partition_point(ranges->begin(), ranges->end(),
                                   [&](const Extent& r) { return r.end < range.begin; });
  auto to = from;
  for (; to != ranges->end() && to->begin <= range.end; ++to) {
    range.begin = std::min(range.begin, to->begin);
    range.end = std::max(range.end, to->end);
  }
  ranges->insert(ranges->erase(from, to), range);
}

// Merged ranges would lose the ends of blocks, so these stay separate.
void add_apart(std::vector<Extent>* ranges, Extent range) {
  ranges->insert(first_behind(*ranges, range.begin), range);
}

// Cuts neighbours that meet within a line back to whole lines: no line may contain bytes of two
// extents. The bytes cut off belong to no known segment.
void part_at_lines(std::vector<Extent>* extents, uint64_t line) {
  std::sort(extents->begin(), extents->end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < extents->size(); ++i) {
    Extent &before = (*extents)[i - 1], &after = (*extents)[i];
    if ((before.end - 1) / line != after.begin / line) continue;
    before.end = std::max(before.begin, round_down(before.end, line));
    after.begin = std::min(after.end, round_up(after.begin, line));
  }
  std::erase_if(*extents, [](const Extent& extent) { return extent.begin >= extent.end; });
}

}  // namespace

void SymmetricMemory::start(int pes, int own_pe, bool loads_and_stores, size_t line) {
  pes_ = pes;
  own_pe_ = own_pe;
  loads_and_stores_ = loads_and_stores;
  near_ = std::make_unique<std::atomic<uint8_t>[]>(static_cast<size_t>(pes) * kinds);
  line_ = line;
  data_ = static_data();
  part_at_lines(&data_, line);
}

Segment SymmetricMemory::find(uint64_t address, size_t bytes) const {
  const Extent heap = this->heap();
  if (inside_of(heap, address, bytes)) return {MemoryKind::heap, heap};
  const auto data = first_behind(data_, address);
  if (data != data_.end() && inside_of(*data, address, bytes)) return {MemoryKind::data, *data};
  const Ranges* ranges = ranges_.load(std::memory_order_acquire);
  if (ranges != nullptr) {
    const auto block = first_behind(ranges->apart, address);
    if (block != ranges->apart.end() && inside_of(*block, address, bytes))
      return {MemoryKind::hinted, *block};
  }
  return {};
}

SymmetricMemory::Resolved SymmetricMemory::resolve(uint64_t address, size_t bytes) const {
  const Segment segment = find(address, bytes);
  if (segment.kind == MemoryKind::unknown) return {};
  const Ranges* ranges = ranges_.load(std::memory_order_acquire);
  if (ranges == nullptr || ranges->uncached.empty()) return {segment.kind, false, segment.extent};
  Extent extent = segment.extent;
  const auto behind = first_behind(ranges->uncached, address);
  if (behind != ranges->uncached.end()) {
    if (behind->begin < address + bytes) return {segment.kind, true, {}};
    extent.end = std::min(extent.end, behind->begin);
  }
  if (behind != ranges->uncached.begin()) extent.begin = std::max(extent.begin, (behind - 1)->end);
  return {segment.kind, false, extent};
}

bool SymmetricMemory::uncached(uint64_t address, size_t bytes) const {
  const Ranges* ranges = ranges_.load(std::memory_order_acquire);
  if (ranges == nullptr) return false;
  const auto behind = first_behind(ranges->uncached, address);
  return behind != ranges->uncached.end() && behind->begin < address + bytes;
}

bool SymmetricMemory::ask(int pe, MemoryKind kind, uint64_t address) {
  bool is = pe == own_pe_;
  if (!is && loads_and_stores_) {
    const Inside inside_library;
    is = next.ptr(reinterpret_cast<void*>(address), pe) != nullptr;
  }
  near_[static_cast<size_t>(pe) * kinds + static_cast<size_t>(kind)].store(
      is ? is_near : is_far, std::memory_order_relaxed);
  return is;
}

bool SymmetricMemory::near_everywhere(uint64_t address, size_t bytes) const {
  return inside_of(near_everywhere_, address, bytes);
}

bool SymmetricMemory::look_near_everywhere() {
  if (std::exchange(looked_at_, changes()) == changes()) return false;
  const Extent heap = this->heap();
  const bool as_before = heap.begin == near_everywhere_.begin && heap.end == near_everywhere_.end;
  if (heap.begin >= heap.end || as_before) return false;
  near_everywhere_ = {};
  for (int pe = 0; pe < pes_; ++pe) {
    if (!near(pe, MemoryKind::heap, heap.begin)) return false;
  }
  near_everywhere_ = heap;
  return true;
}

std::vector<int64_t> SymmetricMemory::heap_offsets() const {
  std::vector<int64_t> offsets;
  const Inside inside_library;
  for (int pe = 0; pe < pes_; ++pe) {
    const auto offset = [&](uint64_t address) {
      const void* there = next.ptr(reinterpret_cast<void*>(address), pe);
      return there == nullptr ? INT64_MIN
                              : static_cast<int64_t>(reinterpret_cast<uint64_t>(there) - address);
    };
    const int64_t its = pe == own_pe_ ? 0 : offset(near_everywhere_.begin);
    if (its == INT64_MIN || (pe != own_pe_ && its != offset(near_everywhere_.end - 1))) return {};
    offsets.push_back(its);
  }
  return offsets;
}

void SymmetricMemory::replace_ranges(std::unique_ptr<Ranges> ranges) {
  ranges_.store(ranges.get(), std::memory_order_release);
  all_ranges_.push_back(std::move(ranges));
}

void SymmetricMemory::add_uncached(uint64_t address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto ranges = all_ranges_.empty() ? std::make_unique<Ranges>()
                                    : std::make_unique<Ranges>(*all_ranges_.back());
  add(&ranges->uncached, {address, address + bytes});
  replace_ranges(std::move(ranges));
}

void SymmetricMemory::allocated(void* block, size_t bytes, bool hinted) {
  if (block == nullptr || bytes == 0) return;
  const auto begin = reinterpret_cast<uint64_t>(block);
  const Extent range{begin, begin + bytes};
  const std::lock_guard lock(mutex_);
  const uint64_t heap_begin = heap_begin_.load(std::memory_order_relaxed),
                 heap_end = heap_end_.load(std::memory_order_relaxed);
  const bool apart = hinted && (range.begin < heap_begin || range.end > heap_end);
  blocks_[begin] = {bytes, apart, ++allocations_};
  ++changes_;
  if (!apart && first_block_ == 0) first_block_ = begin;
  if (!apart) {
    heap_begin_.store(std::min(heap_begin, range.begin), std::memory_order_relaxed);
    heap_end_.store(std::max(heap_end, range.end), std::memory_order_relaxed);
    return;
  }
  auto ranges = all_ranges_.empty() ? std::make_unique<Ranges>()
                                    : std::make_unique<Ranges>(*all_ranges_.back());
  // the next block may begin in its last line
  const Extent lines{round_up(range.begin, line_), round_down(range.end, line_)};
  if (lines.begin >= lines.end) return;
  add_apart(&ranges->apart, lines);
  replace_ranges(std::move(ranges));
}

void SymmetricMemory::freed(void* block) {
  const auto begin = reinterpret_cast<uint64_t>(block);
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(begin);
  if (found == blocks_.end()) return;
  if (found->second.apart) {
    auto ranges = all_ranges_.empty() ? std::make_unique<Ranges>()
                                      : std::make_unique<Ranges>(*all_ranges_.back());
    const uint64_t end = begin + found->second.bytes;
    std::erase_if(ranges->apart,
                  [&](const Extent& range) { return range.begin >= begin && range.end <= end; });
    replace_ranges(std::move(ranges));
  }
  forget_names(begin, begin + found->second.bytes);
  blocks_.erase(found);
  ++changes_;
}

SymmetricMemory::NumberedBlock SymmetricMemory::block_at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(address);
  if (behind == blocks_.begin()) return {};
  const auto& [begin, block] = *std::prev(behind);
  if (address - begin >= block.bytes) return {};
  return {block.number, begin, block.bytes};
}

// Forgets the names of ranges that overlap [begin, end).
void SymmetricMemory::forget_names(uint64_t begin, uint64_t end) {
  std::erase_if(names_, [&](const auto& entry) {
    return entry.second.begin < end && begin < entry.second.end;
  });
}

void SymmetricMemory::name(uint64_t begin, size_t bytes, const char* name) {
  const std::lock_guard lock(mutex_);
  forget_names(begin, begin + bytes);
  names_[begin] = {name, begin, begin + bytes};
  ++changes_;
}

SymmetricMemory::NamedRange SymmetricMemory::named_at(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto behind = names_.upper_bound(address);
  if (behind == names_.begin() || std::prev(behind)->second.end <= address) return {};
  return std::prev(behind)->second;
}

Extent SymmetricMemory::named_alike(uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto behind = names_.upper_bound(address);
  Extent around{0, behind == names_.end() ? UINT64_MAX : behind->first};
  if (behind == names_.begin()) return around;
  const NamedRange& before = std::prev(behind)->second;
  if (address < before.end) return {before.begin, before.end};
  around.begin = before.end;
  return around;
}

int64_t SymmetricMemory::place(uint64_t address) const {
  constexpr uint64_t segment = uint64_t{1} << 44, granule = 64 << 10;
  const auto from = [&](uint64_t number, uint64_t begin) {
    return static_cast<int64_t>(number * segment + (address - begin / granule * granule));
  };
  const Segment found = find(address, 1);
  if (found.kind == MemoryKind::heap) return from(1, first_block_);
  if (found.kind == MemoryKind::data)
    return from(2 + static_cast<uint64_t>(first_behind(data_, address) - data_.begin()),
                found.extent.begin);
  return static_cast<int64_t>((uint64_t{1} << 60) + address % (uint64_t{1} << 48));
}

bool SymmetricMemory::is_apart(void* block) const {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uint64_t>(block));
  return found != blocks_.end() && found->second.apart;
}

size_t SymmetricMemory::block_bytes(void* block) const {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uint64_t>(block));
  return found == blocks_.end() ? 0 : found->second.bytes;
}

}  // namespace nearcache::shmem
