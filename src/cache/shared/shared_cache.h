// SPDX-License-Identifier: BSD-3-Clause

// One cache of a window for all ranks of a node, in memory that they share.
//
// The region begins with what is common to all: sizes, policy, a clock, names of layouts. The
// shards follow (shard.h). This class is one rank's view of the region. Each rank has for itself:
// what it may be served (`is_sure`, `overwritten`), what it has written, and its counts.
//
// Validity. A rank advances the clock when it must no longer be served what was fetched before: at
// an invalidation, an acquire, or the completion of own writes. An entry carries the clock from
// before its get was issued, its stamp. A rank remembers the clock of its last such event, its
// floor. An entry whose stamp is not below the floor was fetched after that event, so it is as good
// as one that this rank would have fetched itself, whoever did. The argument is in
// docs/semantics.md, "A cache for the ranks of a node".
//
// A rank's own writes concern only itself. It recognises data that they overlap by the numbers of
// the writes (write_log.h), and by a few pairs of a number and a clock, which tell which writes had
// been completed when. While some are outstanding, what they overlap is not served, and everything
// else is checked closely.
//
// Hits take no lock and write nothing that others read. A sample of them is reported to the policy
// later. Not thread-safe: the caller protects a rank's view by one lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/copy.h"
#include "base/memory.h"
#include "cache/get/layout.h"
#include "cache/get/write_log.h"
#include "cache/shared/shard.h"
#include "cache/shared/shard_view.h"

namespace nearcache {

class SharedCache {
 public:
  // Decided by the first rank.
  struct Plan {
    uint32_t ranks = 1;         // number of ranks that are to share it
    uint64_t limit = 0;         // bytes that it may take in total
    bool in_bytes = true;       // displacements are in bytes, not in units of targets
    GetCacheSettings settings;  // for all ranks together
  };
  // Returns the address space that the region needs.
  static uint64_t bytes_for(const Plan& plan);
  // Builds a cache in `region`, which is zero, page-aligned, bytes_for(plan) long, and shared by
  // its ranks.
  static void make(std::byte* region, const Plan& plan);

  // Joins as one more rank and returns this process's view. Returns null, and the reason in
  // `*wrong`, if this library cannot use the region, or `budget` has no memory for this rank's part
  // of it.
  static std::unique_ptr<SharedCache> join(std::byte* region, uint64_t bytes, MemoryBudget* budget,
                                           std::string* wrong);
  // Keeps the region alive as long as this view of it.
  void keep(std::shared_ptr<const void> region) { region_ = std::move(region); }
  ~SharedCache();
  SharedCache(const SharedCache&) = delete;
  SharedCache& operator=(const SharedCache&) = delete;

  // --- What this rank may be served. ---

  uint64_t clock() const { return header_->clock.load(std::memory_order_acquire); }
  // Makes everything fetched so far unusable for this rank. Returns the floor.
  uint64_t advance_floor() {
    floor_ = advance();
    note_sure();
    return floor_;
  }
  uint64_t floor() const { return floor_; }
  // Advances the clock and returns it: the new clock is later than all stamps so far.
  uint64_t advance(uint64_t by = 1) {
    return header_->clock.fetch_add(by, std::memory_order_acq_rel) + by;
  }

  // Sets whether own writes without a number are outstanding, or were: then everything found is
  // checked closely.
  void doubt(bool in_doubt) { in_doubt_ = in_doubt, note_sure(); }
  bool in_doubt() const { return in_doubt_; }
  // A write has begun, with the next number.
  void write_begins() { writes_open_ = true, note_sure(); }
  // Writes up to number `up_to` are complete; `now` is the last number assigned.
  void writes_completed(uint32_t up_to, uint32_t now);
  // The numbers start anew: everything fetched so far may be older than a write.
  void forget_writes() {
    marks_.clear();
    writes_open_ = false;
    advance_floor();
  }

  // Returns true if nothing about the data is in doubt.
  [[gnu::always_inline]] bool is_sure(const PublishedEntry::Said& said) const {
    return said.stamp >= sure_;
  }
  // Returns true if this rank has since overwritten a byte of it, as in WriteLog::overwritten.
  bool overwritten(const PublishedEntry::Said& said, int64_t from, int64_t to,
                   const WriteLog& writes) const {
    return writes.overwritten(said.key.target, from, to, completed_by(said.stamp));
  }

  // --- Gets. ---

  using Found = Shard::Found;
  // Finds an entry with all the bytes of a get. Whether this rank may be served it is for the
  // caller to decide.
  [[gnu::always_inline]] bool find(uint64_t hash, const Key& key, uint64_t bytes, Found* found) {
    return find_by_name(hash, key, bytes, found) || find_with_care(hash, key, bytes, found);
  }
  // The fastest way, for most entries; may miss an entry that is there.
  [[gnu::always_inline]] bool find_by_name(uint64_t hash, const Key& key, uint64_t bytes,
                                           Found* found) const {
    return view_.find(shard_number(key), hash, key, bytes, found);
  }
  // Finds what find_by_name() missed: by key, if the index has changed its size, or as part of an
  // entry.
  bool find_with_care(uint64_t hash, const Key& key, uint64_t bytes, Found* found);
  // Copies the bytes to a contiguous buffer. Returns false if they were replaced in the meantime;
  // what was copied is then useless.
  [[gnu::always_inline]] bool copy(const Found& found, uint64_t bytes, void* to) const {
    load_bytes_to(to, found.data + found.offset, bytes);
    return found.is_still_there();
  }
  // Counts a hit that was served.
  [[gnu::always_inline]] void count_hit(const Found& found) {
    hits_of_others_ += found.said.rank != rank_ ? 1 : 0;
    if (--until_sample_ == 0) [[unlikely]]
      sample(shard_number(found.said.key), found.id, found.sequence);
  }
  uint64_t hits_of_others() const { return hits_of_others_; }
  void reset_counts() { hits_of_others_ = 0; }

  // Publishes for all ranks what a get has fetched.
  Shard::Stored publish(const Key& key, uint64_t hash, const std::byte* data, uint64_t bytes,
                        uint64_t stamp, const Shard::Terms& terms);

  // Returns the name of a layout that is common to all ranks; no_name if it has none and must not
  // be cached.
  static constexpr uint32_t no_name = UINT32_MAX;
  uint32_t name(const Layout& layout);

  // --- For reports, and tests. ---

  uint32_t rank() const { return rank_; }  // its number among those that have joined
  uint32_t members() const { return header_->members.load(std::memory_order_relaxed); }
  struct Sizes {
    uint64_t entries = 0, index_entries = 0, storage_bytes = 0, stored_bytes = 0, metadata = 0,
             resets = 0;
  };
  Sizes sizes();  // of the whole cache
  Sizes part();   // this rank's part: the parts of all its ranks add up to the whole
  uint64_t memory() const {
    return static_cast<uint64_t>(header_->memory.load(std::memory_order_relaxed));
  }
  const char* check();
  uint32_t shards() const { return header_->shards; }
  RobustLock& lock_of_shard(uint32_t number) { return shards_[number].lock(); }
  void tell_policy();  // reports the hits that it has not been told of yet

 private:
  struct LayoutName {
    uint64_t first, second;  // 128 bits; 0, 0: none
  };
  static constexpr uint32_t most_layouts = 2048;

  struct Header {
    // written last, by make(): the library's signature, or `no_locks` if the system has no robust
    // locks
    std::atomic<uint64_t> ready;
    uint64_t bytes;
    uint32_t shards, ranks;
    uint64_t shard_bytes, limit;
    Shard::Plan plan;
    alignas(64) std::atomic<uint64_t> clock;
    alignas(64) std::atomic<uint64_t> levels;  // block sizes under which entries are listed
    std::atomic<uint32_t> parts_found;         // changes while ranks find parts
    alignas(64) std::atomic<uint32_t> members;
    std::atomic<int64_t> memory;
    RobustLock lock;  // for the names, and for making shards
    LayoutName layouts[most_layouts];
    Copies copies;
  };
  static constexpr uint64_t no_locks = 2;
  // Identifies libraries that use the same layout of the region.
  static uint64_t signature();
  struct Sizing {
    uint32_t shards;
    Shard::Plan plan;
  };
  static Sizing sizing(const Plan& plan);
  static uint64_t header_bytes();

  SharedCache(std::byte* region, MemoryBudget* budget);

  // Neighbouring bytes of memory are in one shard, so that parts of entries are found.
  static constexpr int block_bits = 14;
  [[gnu::always_inline]] uint64_t shard_number(const Key& key) const {
    const uint64_t block =
        static_cast<uint64_t>(key.displacement >> block_bits) + (uint64_t{key.target} << 42);
    return (block * 0x9e3779b97f4a7c15u) >> shard_shift_;
  }
  [[gnu::always_inline]] const Shard& shard_of(const Key& key) const {
    return shards_[shard_number(key)];
  }
  Shard& shard_of(const Key& key) {
    return const_cast<Shard&>(static_cast<const SharedCache*>(this)->shard_of(key));
  }
  [[gnu::always_inline]] static void load_bytes_to(void* to, const void* from, uint64_t bytes) {
#ifndef NEARCACHE_THREAD_SANITIZER
    copy_word_or_bytes(to, from, bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
#else
    load_bytes(to, from, bytes);
#endif
  }
  bool find_part(const Shard& shard, const Key& key, uint64_t bytes, Found* found);
  void note_sure() {
    sure_ = !in_doubt_ && !writes_open_ ? std::max(floor_, clean_since_) : UINT64_MAX;
  }
  uint32_t completed_by(uint64_t stamp) const;
  void sample(uint64_t shard, EntryId id, uint64_t sequence);
  bool list_parts();
  void settle_memory();

  // Members that a hit accesses come first.
  ShardView view_;
  int shard_shift_ = 63;
  uint32_t rank_ = 0;
  uint64_t sure_ = 0;  // from this stamp on, nothing is in doubt
  uint64_t hits_of_others_ = 0;
  uint32_t until_sample_ = 1;
  Header* header_;
  std::vector<Shard> shards_;
  uint64_t floor_ = 0;
  uint64_t clean_since_ = 0;  // clock at which all own writes had been completed
  bool in_doubt_ = false;
  bool writes_open_ = false;
  std::shared_ptr<const void> region_;

  // Hits to be reported to the policy: one in `interval_`, counted as that many. A report changes
  // lines that others use, too, and costs 0.6 us if these have left the processor's caches. While
  // nothing is evicted, the policy need not know much. It is told before there are `most_untold`
  // hits, since evictions may begin soon.
  static constexpr uint32_t least_interval = 8, most_interval = 256, most_samples = 32,
                            most_untold = 2048;
  struct Sample {
    uint32_t shard;
    Shard::Hits hits;
  };
  std::array<Sample, most_samples> samples_;
  uint32_t sample_count_ = 0;
  uint32_t interval_ = least_interval;
  std::vector<uint64_t> evictions_;  // by shard, as far as known
  uint64_t random_ = 0x9e3779b97f4a7c15u;

  // Look-ups of parts, and how many of them found one: if they find nothing, most are skipped.
  uint32_t part_looks_ = 0, parts_found_ = 0, part_skips_ = 0;
  // And if no rank finds any, most of what is published is not listed for them.
  uint32_t published_ = 0, parts_known_ = 0;
  bool parts_wanted_ = true;
  uint64_t last_level_ = 0;

  // Writes up to `number` were complete at `clock`; the last few, in order.
  struct Mark {
    uint32_t number;
    uint64_t clock;
  };
  static constexpr size_t most_marks = 16;
  std::vector<Mark> marks_;
  MemoryBudget* budget_;
  uint64_t accounted_ = 0;  // part of the region's memory that is counted in the budget
  std::unordered_map<uint32_t, uint32_t> names_;  // by a layout's id in this process
};

}  // namespace nearcache
