// One part of the cache that ranks of a node share: an engine (cache/get) in shared memory, used
// under a lock, and what is published of its entries, which is read without.
//
// A shard covers certain blocks of the targets' memory. It is made when something is stored in it
// for the first time: most windows store nothing, and memory that nobody touches is none. Its lock
// is held for bookkeeping and for copies of a few KiB; larger copies are made with the lock
// released, into storage reserved for them. A process that dies holding the lock costs the shard
// its contents: the next one to take the lock starts afresh, but not while others are about to copy
// into it. If the lock cannot be had, nothing is stored.
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

// What a get fetched that is to be shared.
struct SharedData {
  Key key;
  uint64_t hash = 0;
  const std::byte* data = nullptr;  // none in a simulation
  uint64_t bytes = 0;
  uint64_t stamp = 0;
  uint32_t rank = 0;  // of those who share
};

// Who copies without a shard's lock: each member has a lock for that. The system takes it from one
// that dies; a number of its process would say nothing once it is another's.
class Copies {
 public:
  static constexpr uint32_t most_members = 1024;
  // Before this member copies anything.
  [[nodiscard]] bool make(uint32_t member) {
    if (!members_[member].lock.make()) return false;
    members_[member].made.store(true, std::memory_order_release);
    return true;
  }
  // False: somebody is looking at it just now.
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
  static constexpr uint64_t page = 4096;  // its parts begin with one

  struct Plan {
    GetCache::Geometry geometry;
    GetCacheSettings settings;
  };
  static uint64_t bytes_for(const GetCache::Geometry& geometry);
  // What one of these sizes takes at first.
  static uint64_t memory_for(const GetCacheSettings& settings);

  // A shard in `memory`, which is aligned to a page, and zero until the first one who stores
  // something makes it. One at a time does so: `making` is one lock for all shards. Its members are
  // numbered in the order in which they are counted.
  Shard(std::byte* memory, const Plan& plan, RobustLock* making, Copies* copies,
        const std::atomic<uint32_t>* members);

  // --- Without the lock. ---

  struct Found {
    EntryId id = no_entry;
    uint64_t sequence = 0;
    PublishedEntry::Said said;
    uint64_t offset = 0;  // of the first byte asked for
    const std::byte* data = nullptr;
    const PublishedEntry* published = nullptr;

    bool is_still_there() const { return published->is_still(sequence); }
  };
  // Where what is read without the lock lies in each shard of these sizes.
  struct Places {
    uint64_t published, index;  // bytes from its begin
    uint64_t most_entries;
  };
  static Places places_in(const GetCache::Geometry& geometry);
  // Of the engine's index.
  uint64_t buckets() const { return state_->buckets.load(std::memory_order_relaxed); }
  // What is published of an entry of the shard in `memory`.
  [[gnu::always_inline]] static bool read(const std::byte* memory, const PublishedEntry& published,
                                          Found* found) {
    found->published = &published;
    const bool is_entry = published.read(&found->said, &found->sequence);
    found->data = memory + uint64_t{found->said.place} * granule_bytes;
    return is_entry;
  }
  // One that has these bytes within, by blocks of the sizes in the mask `levels`.
  bool find_part(const Key& key, uint64_t bytes, uint64_t levels, Found* found) const;
  // The mask of an entry of this size.
  static uint64_t levels_of(uint64_t bytes);

  // --- What takes the lock. ---

  enum class Published : uint8_t {
    stored,
    evicting,  // stored: entries went for it
    there,     // another rank's is as good, or is about to be
    refused    // there is no room, it is not worth it, or the shard cannot be used
  };
  struct Terms {
    uint32_t member = 0;      // who asks, below Copies::most_members
    bool skip_cheap = false;  // not stored unless that seems worth the copy
    double copy_ns = 0;
    double latency_ns = 0, ns_per_byte = 0;  // of a get
    uint64_t allowance = 0;                  // bytes by which the shard may grow
    bool parts = true;                       // it is to be found by parts, too
  };
  struct Stored {
    Published how = Published::refused;
    uint32_t evicted = 0;
    int adapted = 0;          // sizes that changed
    uint64_t levels = 0;      // under which it can be found by parts
    int64_t more_memory = 0;  // that the shard takes now
  };
  Stored publish(const SharedData& data, const Terms& terms);

  // Hits that were had of an entry, which may be gone by now.
  struct Hits {
    EntryId id;
    uint32_t count;
    uint64_t sequence;
  };
  // Not if somebody holds the lock. Returns how many entries have been evicted so far, 0 if nothing
  // was told.
  uint64_t tell_hits(std::span<const Hits> hits);

  // For reports and tests; the lock is taken.
  struct Levels {
    uint64_t entries = 0, index_entries = 0, storage_bytes = 0, stored_bytes = 0, metadata = 0,
             memory = 0, resets = 0;
  };
  Levels levels();
  const char* check();
  // For tests: whoever calls this dies with the lock held, or has it.
  RobustLock& lock() {
    make();
    return state_->lock;
  }

  static constexpr uint64_t most_copied = 8 << 10;  // with the lock held: less than a microsecond

 private:
  struct Commons {
    std::atomic<bool> made;
    bool begun;  // somebody died making it, or is
    RobustLock lock;
    std::atomic<uint64_t> published_up_to;  // numbers of entries that ever were
    uint64_t resets;
    uint64_t counted;      // of its memory, by those who share it
    uint32_t large_pages;  // in which its storage begins
    bool miscounted;       // it began anew since
    bool broken;           // somebody died with the lock; others were copying
    // what hits read; it seldom changes
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
  bool parts_;  // displacements are bytes
  RobustLock* making_;
  Copies* copies_;
  const std::atomic<uint32_t>* members_;
  bool waited_in_vain_ = false;  // for the lock, the last time
  uint64_t advised_bytes_ = 0;   // of the storage, of which the system knows in this process
  bool no_large_pages_ = false;  // could be had
  Directory::Bucket* buckets_;
  uint64_t engine_bytes_;
  GetCache* cache_;
  Directory directory_;
};

}  // namespace nearcache
