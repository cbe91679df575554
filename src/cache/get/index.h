// SPDX-License-Identifier: BSD-3-Clause

// The index of the get cache: a bucketised cuckoo hash table (Pagh and Rodler; Fotakis et al.;
// CLaMPI, section III.C).
//
// An entry is in one of two buckets. A bucket has eight slots in one cache line of tags and entry
// ids, so a look-up touches at most two lines of index. With eight slots and two choices the table
// fills to more than 95% before an insertion fails.
//
// An index in memory shared between processes is also read without its lock: an entry that is being
// moved may then be missed, and what is found need not be what was sought.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/region.h"
#include "cache/get/entry.h"
#include "cache/published.h"

// The thread sanitizer does not understand vector loads of what other threads write.
#if defined(__SSE2__) && !defined(NEARCACHE_THREAD_SANITIZER)
#define NEARCACHE_INDEX_VECTORS 1
#include <emmintrin.h>
#endif

namespace nearcache {

class Index {
 public:
  static constexpr uint32_t slots_per_bucket = 8;

  static uint64_t bytes_for(uint64_t capacity) { return buckets_for(capacity) * sizeof(Bucket); }

  // pre: `memory` is zero and has room for the largest capacity ever passed to reset_capacity().
  void attach(void* memory, const Entry* entries, uint64_t capacity);

  uint64_t capacity() const { return capacity_; }
  uint64_t bytes() const { return bucket_count_ * sizeof(Bucket); }
  uint64_t used() const { return used_; }
  uint64_t buckets() const { return bucket_count_; }

  EntryId find(uint64_t hash, const Key& key) const {
    const Entry* entry = find_entry(hash, key);
    return entry == nullptr ? no_entry : static_cast<EntryId>(entry - entries_.get());
  }
  // Like find(); returns null if there is none.
  [[gnu::always_inline]] const Entry* find_entry(uint64_t hash, const Key& key) const {
    const uint32_t tag = tag_of(hash);
    const uint32_t first = first_bucket(hash);
    const Entry* entry = find_in(first, tag, key);
    return entry != nullptr ? entry : find_in(other_bucket(first, tag), tag, key);
  }

  // Searches an index without its lock: the one in `memory`, which has or had this many buckets.
  // Calls `look` for each candidate entry until it returns true. Returns whether it did.
  template <class Look>
  [[gnu::always_inline]] static bool look_up(const std::byte* memory, uint64_t buckets,
                                             uint64_t hash, Look look) {
    const auto* all = reinterpret_cast<const Bucket*>(memory);
    const uint32_t tag = tag_of(hash);
    const uint32_t first = reduce(static_cast<uint32_t>(hash), buckets);
    return each(all[first], tag, look) || each(all[other_bucket(first, tag, buckets)], tag, look);
  }

  // Prefetches what look_up() will access.
  static void prefetch(const std::byte* memory, uint64_t buckets, uint64_t hash) {
    const auto* all = reinterpret_cast<const Bucket*>(memory);
    const uint32_t first = reduce(static_cast<uint32_t>(hash), buckets);
    __builtin_prefetch(&all[first], 1);
    __builtin_prefetch(&all[other_bucket(first, tag_of(hash), buckets)], 1);
  }

  // Inserts an entry that is not in the index. Returns false if no slot was found along a bounded
  // path, or the index is full.
  bool insert(uint64_t hash, EntryId id);
  // Returns false if the entry was not there.
  bool erase(uint64_t hash, EntryId id);

  // Stores in `ids` the entries in the buckets of `hash`, the insertion path from which a
  // conflicting access takes its victim, and returns how many they are: at most 16.
  int path(uint64_t hash, EntryId* ids) const;

  // Stores in `ids`, unless that is null, the entries inserted under `hash` or under another hash
  // with the same tag and buckets, and returns how many they are: at most 16.
  int alike(uint64_t hash, EntryId* ids) const;

  void clear();
  // Empties the index and changes its capacity; the caller inserts the entries again.
  void reset_capacity(uint64_t capacity);

  // CLaMPI samples slots.
  uint64_t slot_count() const { return bucket_count_ * slots_per_bucket; }
  // Returns the entry in a slot, counted over all buckets; no_entry if it is empty.
  EntryId at(uint64_t slot) const {
    const Bucket& bucket = buckets_[slot / slots_per_bucket];
    return bucket.tag(slot % slots_per_bucket) == 0 ? no_entry : bucket.id(slot % slots_per_bucket);
  }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  struct alignas(64) Bucket {
    std::atomic<uint32_t> tags[slots_per_bucket];  // 0: empty
    std::atomic<EntryId> ids[slots_per_bucket];

    uint32_t tag(uint32_t slot) const { return tags[slot].load(relaxed); }
    EntryId id(uint32_t slot) const { return ids[slot].load(relaxed); }
    void put(uint32_t slot, uint32_t tag, EntryId id) {
      tags[slot].store(tag, relaxed), ids[slot].store(id, relaxed);
    }
    void empty(uint32_t slot) { tags[slot].store(0, relaxed); }
  };
  static_assert(sizeof(Bucket) == 64);

  static uint64_t buckets_for(uint64_t capacity) {
    return (capacity + slots_per_bucket - 1) / slots_per_bucket;
  }

  // The tag must be independent of the bucket, or all tags in a full bucket would be alike.
  static uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>((hash * 0x9fb21c651e98df25u) >> 32) | 1u;
  }
  uint32_t first_bucket(uint64_t hash) const {
    return reduce(static_cast<uint32_t>(hash), bucket_count_);
  }
  static uint32_t reduce(uint32_t bits, uint64_t buckets) {
    return static_cast<uint32_t>((bits * buckets) >> 32);
  }
  // The two buckets of an entry add up to a number that follows from its tag, so an entry can be
  // moved without reading its key. Otherwise a search for room would miss the processor's caches
  // twice as often.
  uint32_t other_bucket(uint32_t bucket_at, uint32_t tag) const {
    return other_bucket(bucket_at, tag, bucket_count_);
  }
  static uint32_t other_bucket(uint32_t bucket_at, uint32_t tag, uint64_t buckets) {
    const uint32_t sum = reduce(tag * 0x9e3779b1u, buckets);
    return sum >= bucket_at ? sum - bucket_at : sum + static_cast<uint32_t>(buckets) - bucket_at;
  }

  static uint32_t matches(const Bucket& bucket, uint32_t tag) {
#ifdef NEARCACHE_INDEX_VECTORS
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const auto* tags = reinterpret_cast<const __m128i*>(bucket.tags);
    const __m128i low = _mm_cmpeq_epi32(_mm_load_si128(tags), wanted);
    const __m128i high = _mm_cmpeq_epi32(_mm_load_si128(tags + 1), wanted);
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(low))) |
           static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(high))) << 4;
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < slots_per_bucket; ++i)
      mask |= static_cast<uint32_t>(bucket.tag(i) == tag) << i;
    return mask;
#endif
  }

  [[gnu::always_inline]] const Entry* find_in(uint32_t bucket_at, uint32_t tag,
                                              const Key& key) const {
    const Bucket& bucket = buckets_[bucket_at];
    for (uint32_t mask = matches(bucket, tag); mask != 0; mask &= mask - 1) {
      const Entry& entry = entries_[bucket.id(first_of(mask))];
      if (entry.displacement == key.displacement && entry.target == key.target &&
          entry.layout == key.layout)
        return &entry;
    }
    return nullptr;
  }
  template <class Look>
  [[gnu::always_inline]] static bool each(const Bucket& bucket, uint32_t tag, Look look) {
    for (uint32_t mask = matches(bucket, tag); mask != 0; mask &= mask - 1) {
      if (look(bucket.id(first_of(mask)))) return true;
    }
    return false;
  }
  static uint32_t first_of(uint32_t mask) { return static_cast<uint32_t>(__builtin_ctz(mask)); }

  bool place(uint32_t bucket_at, uint32_t tag, EntryId id);
  bool make_room(uint32_t first, uint32_t second, uint32_t* freed);

  uint64_t bucket_count_ = 0;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  Relative<Bucket> buckets_;
  Relative<const Entry> entries_;
};

}  // namespace nearcache
