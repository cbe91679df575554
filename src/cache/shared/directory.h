// SPDX-License-Identifier: BSD-3-Clause

// Finds a shard's entries by parts of them, without its lock: maps the hash of a block of memory to
// the numbers of entries that may lie in it. What is published of these entries (published_entry.h)
// is decisive, so nothing here need be right: an entry that is not found is fetched again, one that
// does not match is skipped.
//
// Buckets have eight words in one cache line: a tag, and an entry's number plus 1. They are written
// under the lock. An entry is listed under the one or two blocks that it lies in.
#pragma once

#include <atomic>
#include <cstdint>

#include "cache/get/entry.h"

namespace nearcache {

class Directory {
 public:
  static constexpr uint32_t slots_per_bucket = 8;
  // Three places per entry: two for its blocks, and one spare.
  static constexpr uint64_t places = 3;
  static uint64_t buckets_for(uint64_t entries) {
    return (entries * places + slots_per_bucket - 1) / slots_per_bucket;
  }
  static uint64_t bytes_for(uint64_t entries) { return buckets_for(entries) * sizeof(Bucket); }

  struct alignas(64) Bucket {
    std::atomic<uint64_t> slots[slots_per_bucket];
  };

  // `count`: the number of buckets; changed only by begin() and resize().
  Directory(Bucket* buckets, std::atomic<uint64_t>* count) : buckets_(buckets), count_(count) {}

  // Calls `look` for each candidate entry until it returns true. Returns whether it did.
  template <class Look>
  bool find(uint64_t hash, Look look) const {
    const Bucket& bucket = bucket_of(hash);
    const uint64_t tag = tag_of(hash);
    for (const std::atomic<uint64_t>& slot : bucket.slots) {
      const uint64_t word = slot.load(std::memory_order_relaxed);
      if ((word ^ tag) >> 32 == 0 && look(static_cast<EntryId>(word) - 1)) return true;
    }
    return false;
  }

  // --- With the lock held. ---

  // Lists an entry. If the bucket is full, another entry in it is no longer found. `stale` tells
  // whether an entry may be replaced first.
  template <class Stale>
  void add(uint64_t hash, EntryId id, Stale stale) {
    Bucket& bucket = bucket_of(hash);
    const uint64_t word = tag_of(hash) | (id + 1);
    std::atomic<uint64_t>* free = nullptr;
    for (std::atomic<uint64_t>& slot : bucket.slots) {
      const uint64_t there = slot.load(std::memory_order_relaxed);
      if (there == word) return;
      if (free == nullptr && (there == 0 || stale(static_cast<EntryId>(there) - 1))) free = &slot;
    }
    if (free == nullptr) free = &bucket.slots[hash % slots_per_bucket];
    free->store(word, std::memory_order_relaxed);
  }

  // Starts in zeroed memory, without touching it.
  void begin(uint64_t buckets) { count_->store(buckets, std::memory_order_release); }
  void resize(uint64_t buckets) {
    for (uint64_t at = 0; at < buckets; ++at) {
      for (std::atomic<uint64_t>& slot : buckets_[at].slots)
        slot.store(0, std::memory_order_relaxed);
    }
    begin(buckets);
  }
  uint64_t buckets() const { return count_->load(std::memory_order_relaxed); }

 private:
  // Uses other bits of the hash than those that select the bucket.
  static uint64_t tag_of(uint64_t hash) {
    return ((hash * 0x9fb21c651e98df25u) | (uint64_t{1} << 32)) & ~uint64_t{UINT32_MAX};
  }
  Bucket& bucket_of(uint64_t hash) const {
    const uint64_t count = count_->load(std::memory_order_acquire);
    return buckets_[((hash & UINT32_MAX) * count) >> 32];
  }

  Bucket* buckets_;
  std::atomic<uint64_t>* count_;
};

}  // namespace nearcache
