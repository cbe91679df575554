// SPDX-License-Identifier: BSD-3-Clause

// What this process knows about symmetric memory: where it is, how much around an access may be
// read, which PEs' memory can be reached by loads and stores, and which ranges the program wants
// left uncached.
//
// There are two kinds: the symmetric heap, defined as the hull of all blocks ever allocated in it,
// and the static data of the program and its libraries. Blocks allocated with hints may lie in a
// heap of their own (another kind of memory): each one outside the hull is a separate extent.
// Accesses to anything else are passed on uncached.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/page/page_transport.h"

namespace nearcache::shmem {

enum class MemoryKind : uint8_t { heap, data, hinted, unknown };

struct Segment {
  MemoryKind kind = MemoryKind::unknown;
  Extent extent;
};

class SymmetricMemory {
 public:
  // `loads_and_stores`: use shmem_ptr to find PEs that need no cache; otherwise only this PE itself
  // counts as near. No cache line of `line` bytes will contain bytes of two segments.
  void start(int pes, int own_pe, bool loads_and_stores, size_t line);

  // The segment around [address, address + bytes), bytes > 0; of kind unknown if the range does not
  // lie within one segment. O(1) for the heap.
  Segment find(uint64_t address, size_t bytes) const;
  // Everything that a miss must know about its range: the kind of its segment, whether any part of
  // it is uncached and, if not, what may be fetched around it.
  struct Resolved {
    MemoryKind kind = MemoryKind::unknown;
    bool uncached = false;
    Extent cacheable;
  };
  Resolved resolve(uint64_t address, size_t bytes) const;

  // True if the memory of `pe` in a segment of this kind can be reached by loads and stores: it is
  // this PE's own, or shmem_ptr of an object in it says so, which is asked once per PE and kind.
  // pre: pe is a PE; `address` lies in such a segment.
  bool near(int pe, MemoryKind kind, uint64_t address) {
    const uint8_t known = near_[static_cast<size_t>(pe) * kinds + static_cast<size_t>(kind)].load(
        std::memory_order_relaxed);
    return known != 0 ? known == is_near : ask(pe, kind, address);
  }

  // True if a range is known to be near at every PE.
  bool near_everywhere(uint64_t address, size_t bytes) const;
  // Finds out whether the heap is, if blocks have come or gone since the last time. Returns true if
  // it has become so, or has grown. Not with several threads.
  bool look_near_everywhere();
  // Where each PE's heap is mapped, relative to this PE's, in bytes; empty if some of it is mapped
  // elsewhere. pre: look_near_everywhere() has just returned true.
  std::vector<int64_t> heap_offsets() const;
  Extent near_heap() const { return near_everywhere_; }

  // True if any part of a range is uncached.
  bool uncached(uint64_t address, size_t bytes) const;

  // Adds a range, already rounded to whole lines.
  void add_uncached(uint64_t address, size_t bytes);

  // Blocks of the heap. Allocation is collective, so every PE has the same ones.
  void allocated(void* block, size_t bytes, bool hinted);
  void freed(void* block);
  size_t block_bytes(void* block) const;  // 0: no block of the heap
  bool is_apart(void* block) const;       // true for a separate extent
  // The block that contains an address, and the number of its allocation, counted from 1 and the
  // same on every PE. 0 bytes: there is no such block.
  struct NumberedBlock {
    uint64_t number = 0, begin = 0;
    size_t bytes = 0;
  };
  NumberedBlock block_at(uint64_t address) const;
  // The program's name for the range that contains an address; empty if it has given none.
  struct NamedRange {
    std::string name;
    uint64_t begin = 0, end = 0;
  };
  void name(uint64_t begin, size_t bytes, const char* name);
  NamedRange named_at(uint64_t address) const;
  // The extent around an address that lies in the same named range or, if in none, between two.
  Extent named_alike(uint64_t address) const;
  // Increases whenever a block or a name is added or removed.
  uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  // The position of an address as a number that is the same on every PE: segments are 2^44 apart,
  // the heap is the first, and its first block begins within its first 64 KiB.
  int64_t place(uint64_t address) const;

  bool valid_pe(int pe) const { return pe >= 0 && pe < pes_; }

 private:
  static constexpr size_t kinds = 3;
  static constexpr uint8_t is_near = 1, is_far = 2;
  struct Block {
    size_t bytes;
    bool apart;  // allocated with hints, and outside the hull
    uint64_t number;
  };
  // Replaced as a whole, so that readers need no lock. Sorted, without overlap.
  struct Ranges {
    std::vector<Extent> apart;
    std::vector<Extent> uncached;
  };

  Extent heap() const {
    return {heap_begin_.load(std::memory_order_relaxed), heap_end_.load(std::memory_order_relaxed)};
  }
  bool ask(int pe, MemoryKind kind, uint64_t address);
  void forget_names(uint64_t begin, uint64_t end);
  void replace_ranges(std::unique_ptr<Ranges> ranges);

  int pes_ = 0;
  int own_pe_ = 0;
  bool loads_and_stores_ = true;
  uint64_t line_ = 64;
  std::unique_ptr<std::atomic<uint8_t>[]> near_;
  Extent near_everywhere_;           // empty unless all of the heap is
  uint64_t looked_at_ = UINT64_MAX;  // changes() at the last look_near_everywhere()
  std::atomic<uint64_t> heap_begin_{UINT64_MAX}, heap_end_{0};  // empty at first
  std::vector<Extent> data_;
  std::atomic<const Ranges*> ranges_{nullptr};  // null: both empty
  mutable std::mutex mutex_;                    // guards the members below
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, NamedRange> names_;  // by start address, without overlap
  uint64_t allocations_ = 0;
  std::atomic<uint64_t> first_block_{0};
  std::atomic<uint64_t> changes_{0};
  // old ones, too, as readers may still use them; there are few
  std::vector<std::unique_ptr<Ranges>> all_ranges_;
};

}  // namespace nearcache::shmem
