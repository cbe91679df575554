// One cache of a window for the ranks of a node, in memory that they share.
//
// The region begins with what all agree on: sizes, policy, a clock, names of layouts; behind that
// lie its shards (shard.h). This class is one rank's view of it. The rank's own part is apart: what
// it may be served (`is_sure`, `overwritten`), what it has written itself, what it counts.
//
// Validity. The clock is advanced by whoever must not be served any more what was fetched before:
// by an invalidation, an acquire, the completion of own writes. An entry carries the clock as it
// was before its get was issued, its stamp. A rank keeps the clock of its last such event, its
// floor. An entry whose stamp is not below the floor was fetched after it: it is as good as one
// that this rank would have fetched itself since then, whoever fetched it. The argument is in
// docs/semantics.md, "A cache for the ranks of a node".
//
// Own writes mean nothing to others, so a rank tells data that they overlap from the rest by their
// numbers (write_log.h), and by a few pairs of a number and a clock that tell which of them had
// been completed when. While some are outstanding, what they overlap is not served, and the rest is
// checked closely.
//
// Hits take no lock, and write nothing that others read. Some of them are reported to the policy,
// later. Not thread-safe: one lock of the caller's covers one rank's view.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  // What the first rank decides.
  struct Plan {
    uint32_t ranks = 1;         // that are to share it
    uint64_t limit = 0;         // bytes that it may take, all together
    bool in_bytes = true;       // displacements are bytes, not units of targets
    GetCacheSettings settings;  // of all ranks together
  };
  // Address space that its region needs.
  static uint64_t bytes_for(const Plan& plan);
  // Builds one in `region`: zero, aligned to a page, of bytes_for(plan), shared by its ranks.
  static void make(std::byte* region, const Plan& plan);

  // This process' view of it, as one more rank. Null, and why, where the region is none that this
  // library can use, or there is no memory for a part of it within `budget`.
  static std::unique_ptr<SharedCache> join(std::byte* region, uint64_t bytes, MemoryBudget* budget,
                                           std::string* wrong);
  // The region stays as long as this view of it.
  void keep(std::shared_ptr<const void> region) { region_ = std::move(region); }
  ~SharedCache();
  SharedCache(const SharedCache&) = delete;
  SharedCache& operator=(const SharedCache&) = delete;

  // --- What this rank may be served. ---

  uint64_t clock() const { return header_->clock.load(std::memory_order_acquire); }
  // Nothing that was fetched before is for this rank any more. Returns the floor.
  uint64_t advance_floor() {
    floor_ = advance();
    note_sure();
    return floor_;
  }
  uint64_t floor() const { return floor_; }
  // A later clock than any stamp so far.
  uint64_t advance(uint64_t by = 1) {
    return header_->clock.fetch_add(by, std::memory_order_acq_rel) + by;
  }

  // Own writes have no number, or had none: what is found is to be looked at closely.
  void doubt(bool in_doubt) { in_doubt_ = in_doubt, note_sure(); }
  bool in_doubt() const { return in_doubt_; }
  // A write has begun, with the next number.
  void write_begins() { writes_open_ = true, note_sure(); }
  // Writes up to this number are complete, `now` is the last that was given.
  void writes_completed(uint32_t up_to, uint32_t now);
  // The numbers begin anew: all that was fetched may be older than a write.
  void forget_writes() {
    marks_.clear();
    writes_open_ = false;
    advance_floor();
  }

  // Nothing of it is in doubt.
  [[gnu::always_inline]] bool is_sure(const PublishedEntry::Said& said) const {
    return said.stamp >= sure_;
  }
  // Was a byte of it overwritten by this rank since? As of WriteLog::overwritten.
  bool overwritten(const PublishedEntry::Said& said, int64_t from, int64_t to,
                   const WriteLog& writes) const {
    return writes.overwritten(said.key.target, from, to, completed_by(said.stamp));
  }

  // --- Gets. ---

  using Found = Shard::Found;
  // What has all the bytes of a get; whether it is for this rank is the caller's question.
  [[gnu::always_inline]] bool find(uint64_t hash, const Key& key, uint64_t bytes, Found* found) {
    return find_by_name(hash, key, bytes, found) || find_with_care(hash, key, bytes, found);
  }
  // The quickest way to most of it. What it does not find may be there all the same.
  [[gnu::always_inline]] bool find_by_name(uint64_t hash, const Key& key, uint64_t bytes,
                                           Found* found) const {
    return view_.find(shard_number(key), hash, key, bytes, found);
  }
  // The rest: by its name, if the index has another size by now, or by a part.
  bool find_with_care(uint64_t hash, const Key& key, uint64_t bytes, Found* found);
  // Copies them to a row of bytes. False: they were replaced meanwhile, and what was copied is
  // worth nothing.
  [[gnu::always_inline]] bool copy(const Found& found, uint64_t bytes, void* to) const {
    load_bytes_to(to, found.data + found.offset, bytes);
    return found.is_still_there();
  }
  // They were served.
  [[gnu::always_inline]] void count_hit(const Found& found) {
    hits_of_others_ += found.said.rank != rank_ ? 1 : 0;
    if (--until_sample_ == 0) [[unlikely]]
      sample(shard_number(found.said.key), found.id, found.sequence);
  }
  uint64_t hits_of_others() const { return hits_of_others_; }
  void reset_counts() { hits_of_others_ = 0; }

  // What a get has fetched is for all.
  Shard::Stored publish(const Key& key, uint64_t hash, const std::byte* data, uint64_t bytes,
                        uint64_t stamp, const Shard::Terms& terms);

  // A layout's name for all ranks; no_name: it has none, and is not to be cached.
  static constexpr uint32_t no_name = UINT32_MAX;
  uint32_t name(const Layout& layout);

  // --- For reports, and tests. ---

  uint32_t rank() const { return rank_; }  // of those who have joined
  uint32_t members() const { return header_->members.load(std::memory_order_relaxed); }
  struct Sizes {
    uint64_t entries = 0, index_entries = 0, storage_bytes = 0, stored_bytes = 0, metadata = 0,
             resets = 0;
  };
  Sizes sizes();  // of all of it
  Sizes part();   // this rank's: those of all its ranks together are all of it
  uint64_t memory() const {
    return static_cast<uint64_t>(header_->memory.load(std::memory_order_relaxed));
  }
  const char* check();
  uint32_t shards() const { return header_->shards; }
  RobustLock& lock_of_shard(uint32_t number) { return shards_[number].lock(); }
  void tell_policy();  // what it has not been told of hits yet

 private:
  struct LayoutName {
    uint64_t first, second;  // of 128 bits; 0, 0: none
  };
  static constexpr uint32_t most_layouts = 2048;

  struct Header {
    // what this library writes when all else is there; `no_locks` where the system has none
    std::atomic<uint64_t> ready;
    uint64_t bytes;
    uint32_t shards, ranks;
    uint64_t shard_bytes, limit;
    Shard::Plan plan;
    alignas(64) std::atomic<uint64_t> clock;
    alignas(64) std::atomic<uint64_t> levels;  // of blocks under which entries are listed
    std::atomic<uint32_t> parts_found;         // changes while ranks find parts
    alignas(64) std::atomic<uint32_t> members;
    std::atomic<int64_t> memory;
    RobustLock lock;  // of names, and for the making of shards
    LayoutName layouts[most_layouts];
    Copies copies;
  };
  static constexpr uint64_t no_locks = 2;
  // That the region was made by a library that lays it out alike.
  static uint64_t signature();
  struct Sizing {
    uint32_t shards;
    Shard::Plan plan;
  };
  static Sizing sizing(const Plan& plan);
  static uint64_t header_bytes();

  SharedCache(std::byte* region, MemoryBudget* budget);

  // Neighbours in memory are in one shard, so that parts of entries are found.
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
    if (bytes == sizeof(uint64_t)) {  // the commonest get of all: no call
      std::memcpy(to, from, sizeof(uint64_t));
    } else {
      copy_bytes(to, from, bytes);
    }
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

  // What a hit looks at comes first.
  ShardView view_;
  int shard_shift_ = 63;
  uint32_t rank_ = 0;
  uint64_t sure_ = 0;  // from this stamp on nothing is in doubt
  uint64_t hits_of_others_ = 0;
  uint32_t until_sample_ = 1;
  Header* header_;
  std::vector<Shard> shards_;
  uint64_t floor_ = 0;
  uint64_t clean_since_ = 0;  // all own writes had been completed
  bool in_doubt_ = false;
  bool writes_open_ = false;
  std::shared_ptr<const void> region_;

  // Hits that the policy is to be told of: one in `interval_`, for as many. What it is told changes
  // lines that others use, too, and costs 0.6 us where these have left the processor's caches;
  // where nothing is evicted, it need not know well. It is told before `most_untold` hits, as it
  // may not be long until something is.
  static constexpr uint32_t least_interval = 8, most_interval = 256, most_samples = 32,
                            most_untold = 2048;
  struct Sample {
    uint32_t shard;
    Shard::Hits hits;
  };
  std::array<Sample, most_samples> samples_;
  uint32_t sample_count_ = 0;
  uint32_t interval_ = least_interval;
  std::vector<uint64_t> evictions_;  // by shard, as far as is known
  uint64_t random_ = 0x9e3779b97f4a7c15u;

  // Looks for parts, and how many found some: where they find nothing they are mostly left out.
  uint32_t part_looks_ = 0, parts_found_ = 0, part_skips_ = 0;
  // And where nobody finds any, most of what is published cannot be found so.
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
  uint64_t accounted_ = 0;                        // of the region's memory, in the budget
  std::unordered_map<uint32_t, uint32_t> names_;  // by a layout's number in this process
};

}  // namespace nearcache
