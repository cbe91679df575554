// SPDX-License-Identifier: BSD-3-Clause

// One part of the cache that the ranks of a node share: an engine (cache/get) in shared memory,
// used under a lock, and what is published of its entries, which is read without the lock.
//
// A shard covers certain blocks of the targets' memory. It is made when something is stored in it
// for the first time: most windows store nothing, and untouched memory costs nothing. Its lock is
// held for bookkeeping and for copies of a few KiB; larger copies are made with the lock released,
// into storage reserved for them. If a process dies holding the lock, the shard loses its contents:
// the next process to take the lock starts afresh, though not while others may be copying into it.
// If the lock cannot be had, nothing is stored.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cache/get/get_cache.h"
#include "cache/get/published_entry.h"
#include "cache/shared/directory.h"
#include "cache/shared/robust_lock.h"

namespace nearcache {

// Fetched data that is to be shared.
struct SharedData {
  Key key;
  uint64_t hash = 0;
  const std::byte* data = nullptr;  // null in a simulation
  uint64_t bytes = 0;
  uint64_t stamp = 0;
  uint32_t rank = 0;  // among those that share
};

// Tells which members are copying without a shard's lock. Each member has a lock for this purpose,
// which the system releases if the member dies; a process id would be useless once it is reused.
class Copies {
 public:
  static constexpr uint32_t most_members = 1024;
  // Called before this member copies anything.
  [[nodiscard]] bool make(uint32_t member) {
    if (!members_[member].lock.make()) return false;
    members_[member].made.store(true, std::memory_order_release);
    return true;
  }
  // Returns false if another member is examining this one at the moment.
  bool begin(uint32_t member) {
    RobustLock& lock = members_[member].lock;
    const RobustLock::Taken taken = lock.try_lock();
    if (taken == RobustLock::Taken::after_a_death) lock.repaired();
    return taken != RobustLock::Taken::no;
  }
  void end(uint32_t member) { members_[member].lock.unlock(); }
  bool is_copying(uint32_t member) {
    if (!members_[member].made.load(std::memory_order_acquire)) return false;
    if (!begin(member)) return true;
    end(member);
    return false;
  }

 private:
  struct Member {
    RobustLock lock;
    std::atomic<bool> made;
  };
  Member members_[most_members];
};

class alignas(64) Shard {
 public:
  static constexpr uint64_t page = 4096;  // its parts begin at page boundaries

  struct Plan {
    GetCache::Geometry geometry;
    GetCacheSettings settings;
  };
  static uint64_t bytes_for(const GetCache::Geometry& geometry);
  // Returns the memory that a shard with these settings takes at first.
  static uint64_t memory_for(const GetCacheSettings& settings);

  // A shard in `memory`, which is page-aligned, and zero until the first member that stores
  // something makes the shard. One member at a time does so, under `making`, one lock for all
  // shards. `members`: their count; members are numbered in the order in which they were counted.
  Shard(std::byte* memory, const Plan& plan, RobustLock* making, Copies* copies,
        const std::atomic<uint32_t>* members);

  // --- Without the lock. ---

  struct Found {
    EntryId id = no_entry;
    uint64_t sequence = 0;
    PublishedEntry::Said said;
    uint64_t offset = 0;  // of the first requested byte
    const std::byte* data = nullptr;
    const PublishedEntry* published = nullptr;

    bool is_still_there() const { return published->is_still(sequence); }
  };
  // Where, in each shard with this geometry, the data lies that is read without the lock.
  struct Places {
    uint64_t published, index;  // offsets in bytes
    uint64_t most_entries;
  };
  static Places places_in(const GetCache::Geometry& geometry);
  // The length of the engine's index.
  uint64_t buckets() const { return state_->buckets.load(std::memory_order_relaxed); }
  // Reads what is published of an entry of the shard in `memory`.
  [[gnu::always_inline]] static bool read(const std::byte* memory, const PublishedEntry& published,
                                          Found* found) {
    found->published = &published;
    const bool is_entry = published.read(&found->said, &found->sequence);
    found->data = memory + uint64_t{found->said.place} * granule_bytes;
    return is_entry;
  }
  // Finds an entry that contains these bytes, among those listed under block sizes in the mask
  // `levels`.
  bool find_part(const Key& key, uint64_t bytes, uint64_t levels, Found* found) const;
  // Returns the mask for an entry of this size.
  static uint64_t levels_of(uint64_t bytes);

  // --- With the lock, which these functions take. ---

  enum class Published : uint8_t {
    stored,
    evicting,  // stored, and entries were evicted for it
    there,     // another rank's is as good, or is being stored
    refused    // there is no room, it is not worth storing, or the shard cannot be used
  };
  struct Terms {
    uint32_t member = 0;      // the calling member, below Copies::most_members
    bool skip_cheap = false;  // store only what seems worth the copy
    double copy_ns = 0;
    double latency_ns = 0, ns_per_byte = 0;  // cost of a get
    uint64_t allowance = 0;                  // bytes by which the shard may grow
    bool parts = true;                       // it is to be found by parts, too
  };
  struct Stored {
    Published how = Published::refused;
    uint32_t evicted = 0;
    int adapted = 0;          // number of sizes that were changed
    uint64_t levels = 0;      // mask under which it can be found by parts
    int64_t more_memory = 0;  // bytes by which the shard's memory has changed
  };
  Stored publish(const SharedData& data, const Terms& terms);

  // Hits of an entry, which may have been replaced since.
  struct Hits {
    EntryId id;
    uint32_t count;
    uint64_t sequence;
  };
  // Reports hits to the policy, unless someone holds the lock. Returns the number of evictions so
  // far, or 0 if nothing was reported.
  uint64_t tell_hits(std::span<const Hits> hits);

  // For reports and tests; takes the lock.
  struct Levels {
    uint64_t entries = 0, index_entries = 0, storage_bytes = 0, stored_bytes = 0, metadata = 0,
             memory = 0, resets = 0;
  };
  Levels levels();
  const char* check();
  // For tests: the caller dies with the lock held, or holds it.
  RobustLock& lock() {
    make();
    return state_->lock;
  }

  static constexpr uint64_t most_copied = 8 << 10;  // with the lock held: under a microsecond

 private:
  struct Commons {
    std::atomic<bool> made;
    bool begun;  // someone is making it, or died doing so
    RobustLock lock;
    std::atomic<uint64_t> published_up_to;  // one more than the highest entry number ever published
    uint64_t resets;
    uint64_t counted;      // its memory, as counted by those that share it
    uint32_t large_pages;  // number of them at the beginning of its storage
    bool miscounted;       // it has started afresh since `counted` was set
    bool broken;           // someone died with the lock while others were copying
    // read by hits; seldom changes
    alignas(64) std::atomic<uint64_t> buckets;  // of the engine's index
    std::atomic<uint64_t> part_buckets;
  };

  bool read(EntryId id, Found* found) const {
    found->id = id;
    return id < places_.most_entries && read(base_, published_[id], found);
  }
  static uint64_t directory_at(const Places& places);
  static uint64_t engine_at(const GetCache::Geometry& geometry, const Places& places);
  bool is_made() const { return state_->made.load(std::memory_order_acquire); }
  bool make();
  void make_engine();
  bool take();
  bool may_be_used(RobustLock::Taken taken);
  void begin_anew();
  bool somebody_copies() const;
  bool left_behind(const Entry& entry) const;
  uint64_t memory() const;
  Stored store(const SharedData& data, const Terms& terms);
  void tell(EntryId id, const SharedData& data, const Terms& terms, Stored* stored);
  void want_large_pages(EntryId id, const SharedData& data);
  void copy(EntryId id, const SharedData& data);
  bool copy_unlocked(EntryId id, const SharedData& data, uint32_t member);
  void give_up_left(uint32_t member);
  void list_part(EntryId id, uint64_t hash);
  uint64_t list_parts(EntryId id, const Key& key, uint64_t bytes);
  void list_anew();
  int adapt(const Terms& terms);
  void count_memory(Stored* stored);
  uint32_t place_of(EntryId id) const;

  std::byte* base_;
  Commons* state_;
  Places places_;
  PublishedEntry* published_;
  std::byte* engine_;
  std::byte* index_;
  Plan plan_;
  bool parts_;  // displacements are in bytes
  RobustLock* making_;
  Copies* copies_;
  const std::atomic<uint32_t>* members_;
  bool waited_in_vain_ = false;  // the last attempt to take the lock failed
  // An entry that this member has copied to and could not complete, as the lock could not be had.
  struct Left {
    EntryId id = no_entry;
    uint64_t resets = 0;
  } left_;
  uint64_t advised_bytes_ = 0;   // storage for which this process has asked for large pages
  bool no_large_pages_ = false;  // the system could make none
  Directory::Bucket* buckets_;
  uint64_t engine_bytes_;
  GetCache* cache_;
  Directory directory_;
};

}  // namespace nearcache
