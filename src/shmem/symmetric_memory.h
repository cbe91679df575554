// What this process knows about symmetric memory: where it is, how much around an access may be
// read, which PEs reach it by loads and stores, and which ranges the program wants left alone.
//
// There are two kinds: the symmetric heap, taken as the hull of all blocks that were ever allocated
// in it, and the static data of the program and its libraries. Blocks allocated with hints may lie
// in a heap of their own (another kind of memory): each one outside the hull is an extent by
// itself. Everything else is passed on uncached.
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
  // `loads_and_stores`: use shmem_ptr to find PEs that need no cache; else only the own PE counts
  // as near. No line of the cache, `line` bytes, will have bytes of two segments.
  void start(int pes, int own_pe, bool loads_and_stores, size_t line);

  // What surrounds [address, address + bytes), bytes > 0; kind unknown if the range is not inside
  // of one segment. O(1) for the heap.
  Segment find(uint64_t address, size_t bytes) const;
  // All that a miss needs to know of its range: its segment's kind, whether any of it is uncached,
  // and else what may be fetched around it.
  struct Resolved {
    MemoryKind kind = MemoryKind::unknown;
    bool uncached = false;
    Extent cacheable;
  };
  Resolved resolve(uint64_t address, size_t bytes) const;

  // Whether the memory of `pe` in a segment of this kind is loads and stores away: the own PE, or
  // shmem_ptr of an object in it says so. Asked once for each PE and kind. pre: pe is a PE;
  // `address` lies in such a segment.
  bool near(int pe, MemoryKind kind, uint64_t address) {
    const uint8_t known = near_[static_cast<size_t>(pe) * kinds + static_cast<size_t>(kind)].load(
        std::memory_order_relaxed);
    return known != 0 ? known == is_near : ask(pe, kind, address);
  }

  // Adds a range, already rounded to whole lines.
  void add_uncached(uint64_t address, size_t bytes);

  // Blocks of the heap. What they tell is the same on every PE, as allocation is collective.
  void allocated(void* block, size_t bytes, bool hinted);
  void freed(void* block);
  size_t block_bytes(void* block) const;  // 0: not ours
  bool is_apart(void* block) const;       // an extent by itself
  // The block that holds an address, and which allocation it was, counted from 1: the same on every
  // PE. No bytes: there is none.
  struct NumberedBlock {
    uint64_t number = 0, begin = 0;
    size_t bytes = 0;
  };
  NumberedBlock block_at(uint64_t address) const;
  // What the program called the range that holds an address. No name: nothing.
  struct NamedRange {
    std::string name;
    uint64_t begin = 0, end = 0;
  };
  void name(uint64_t begin, size_t bytes, const char* name);
  NamedRange named_at(uint64_t address) const;
  // All around an address that is in the same range, or else between two.
  Extent named_alike(uint64_t address) const;
  // Grows whenever a block or a name comes or goes.
  uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  // Where an address lies, in numbers that are the same on every PE: segments are 2^44 apart, the
  // heap is the first, and its first block begins in the first 64 KiB of it.
  int64_t place(uint64_t address) const;

  bool valid_pe(int pe) const { return pe >= 0 && pe < pes_; }

 private:
  static constexpr size_t kinds = 3;
  static constexpr uint8_t is_near = 1, is_far = 2;
  struct Block {
    size_t bytes;
    bool apart;  // hinted, and outside of the hull
    uint64_t number;
  };
  // Replaced as a whole, so that readers need no lock. Sorted, without overlap.
  struct Ranges {
    std::vector<Extent> apart;
    std::vector<Extent> uncached;
  };

  bool ask(int pe, MemoryKind kind, uint64_t address);
  void forget_names(uint64_t begin, uint64_t end);
  void replace_ranges(std::unique_ptr<Ranges> ranges);

  int pes_ = 0;
  int own_pe_ = 0;
  bool loads_and_stores_ = true;
  uint64_t line_ = 64;
  std::unique_ptr<std::atomic<uint8_t>[]> near_;
  std::atomic<uint64_t> heap_begin_{UINT64_MAX}, heap_end_{0};  // empty at first
  std::vector<Extent> data_;
  std::atomic<const Ranges*> ranges_{nullptr};  // null: both empty
  mutable std::mutex mutex_;                    // covers what follows
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, NamedRange> names_;  // by their begin, without overlap
  uint64_t allocations_ = 0;
  std::atomic<uint64_t> first_block_{0};
  std::atomic<uint64_t> changes_{0};
  // readers may still look at old ones; there are few
  std::vector<std::unique_ptr<Ranges>> all_ranges_;
};

}  // namespace nearcache::shmem
