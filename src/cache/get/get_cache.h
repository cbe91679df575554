// SPDX-License-Identifier: BSD-3-Clause

// The get cache: variable-size entries of remote data, after CLaMPI (Di Girolamo, Vella, Hoefler,
// IPDPS 2017).
//
// An entry is named by (target, displacement, layout) and holds the bytes that one get fetched.
// Four parts do the work, each behind its own interface: Index finds an entry in two cache lines,
// Storage holds the bytes, a Policy decides on eviction and admission, the tuner sizes index and
// storage. If no key matches a get, its place in the target's memory is looked up (Ranges). The
// engine knows nothing of MPI: the caller issues the gets, reports when their data has arrived, and
// copies between its buffers and the storage.
//
//        lookup: none                        data arrived         a longer tail is in flight
//   MISSING ----------> insert: PENDING ------------------> CACHED <--------------------> GROWING
//      ^                   |  superseded: ORPHAN                |
//      +-------------------+---- evicted, stale, overwritten ---+
//
// Validity is checked in one place, `fresh`: an entry is valid if it belongs to the current
// generation and this rank has not written to its bytes since. Dropping everything is one
// increment.
//
// All state lies in one region passed in at construction, and is linked by offsets. No call
// allocates, blocks or makes a system call except `adapt`, `purge` and `reset`. Not thread-safe:
// the caller protects an engine by one lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/memory.h"
#include "base/options.h"
#include "cache/get/cost_model.h"
#include "cache/get/entry.h"
#include "cache/get/ghosts.h"
#include "cache/get/index.h"
#include "cache/get/policy/inertia.h"
#include "cache/get/policy/policy.h"
#include "cache/get/policy/queue.h"
#include "cache/get/policy/reuse_rates.h"
#include "cache/get/policy/sketch.h"
#include "cache/get/published_entry.h"
#include "cache/get/ranges.h"
#include "cache/get/storage.h"
#include "cache/get/tuner.h"
#include "cache/get/versions.h"
#include "cache/get/worth.h"
#include "cache/get/write_log.h"

namespace nearcache {

// What policy rate remembers besides the entries.
struct RateMemory {
  EntryId drawn[4] = {};  // descriptors drawn for the current miss
  PriceOfStorage price;
  Inertia inertia;
};

struct GetCacheSettings {
  PolicyKind policy = PolicyKind::rate;
  uint64_t storage_bytes = 1 << 20;
  uint64_t index_capacity = 4096;
  uint32_t sample = 16;  // clampi: index slots examined for a victim
  uint32_t anchors = 4;  // rate: places in storage where victims are sought
  bool ranges = true;    // find contiguous entries by parts of them; displacements are bytes
  TunerSettings tuner;
};

class alignas(64) GetCache {
 public:
  // The largest index and storage that the region will ever hold.
  struct Geometry {
    uint64_t most_index = 0;
    uint64_t most_storage = 0;
  };
  static uint64_t region_bytes(const Geometry& geometry);

  // Builds an engine at the start of `region`, which is zero, page-aligned and
  // region_bytes(geometry) long. Settings beyond the geometry are clamped to it. The region may
  // also be that of an engine with the same most_index that was wiped.
  static GetCache* create(void* region, const Geometry& geometry, const GetCacheSettings& settings);

  uint64_t most_index() const { return geometry_.most_index; }
  // Ends the engine and makes its region zero again, except for the storage.
  void wipe();

  // Returns the memory that an engine of this size takes from the budget.
  static uint64_t memory_for(uint64_t index_capacity, uint64_t storage_bytes);
  uint64_t memory() const { return memory_of(index_.capacity(), storage_.bytes()); }

  enum class Found : uint8_t {
    none,
    full,            // cached: copy `bytes` from data(entry)
    partial,         // cached: has the first `have` bytes
    pending,         // in flight: the record `token` will have all bytes
    pending_partial  // in flight: the record `token` will have the first `have` bytes
  };
  struct Lookup {
    Found found;
    EntryId entry;
    uint32_t token;
    uint64_t have;
  };

  // The fast path of a hit, in two steps with the copy between them. Step one: returns an entry
  // that is cached, belongs to the current generation, is long enough and has seen all own writes;
  // null for everything else, which is left to lookup(). Sets `*absent` if there is no entry at all
  // under this key, so lookup() need not search again.
  [[gnu::always_inline]] const Entry* find_hit(uint64_t hash, const Key& key, uint64_t bytes,
                                               bool* absent) const {
    const Entry* entry = index_.find_entry(hash, key);
    if (entry == nullptr) {
      *absent = true;
      return nullptr;
    }
    const bool serves = entry->state == State::cached && entry->generation == generation_ &&
                        entry->write_seq == writes_.now() && bytes <= entry->size;
    return serves ? entry : nullptr;
  }
  // Step two: counts the hit.
  [[gnu::always_inline]] void count_hit(const Entry* entry, uint64_t bytes) {
    ++now_;
    ++hits_;
    requested_bytes_ += bytes;
    touch(const_cast<Entry*>(entry));  // which find_hit() only reads
  }

  EntryId id_of(const Entry* entry) const { return static_cast<EntryId>(entry - entries_.get()); }

  // Like find_hit(), for bytes inside a longer entry that begins elsewhere. Considers only the
  // entry that was last noted for nearby bytes; its descriptor tells whether it holds these.
  // `*offset`: where they begin in it.
  [[gnu::always_inline]] const Entry* find_part(const Key& key, uint64_t bytes,
                                                uint64_t* offset) const {
    const PartUsed& used = parts_[part_slot(key)];
    const Entry& entry = entries_[used.entry];
    *offset = static_cast<uint64_t>(key.displacement) - static_cast<uint64_t>(entry.displacement);
    const bool serves = used.generation == generation_ && entry.state == State::cached &&
                        entry.generation == generation_ && entry.write_seq == writes_.now() &&
                        entry.target == key.target && (entry.layout | key.layout) == 0 &&
                        *offset < entry.size && bytes <= entry.size - *offset;
    return serves ? &entry : nullptr;
  }
  // Makes `id` the entry that find_part() considers, in the current generation. Called once gets of
  // parts of this entry have nothing more to teach.
  void note_part(const Key& key, EntryId id) {
    parts_[part_slot(key)] = {id, generation_}, parts_noted_ = true;
  }
  [[gnu::always_inline]] void count_part(const Entry* entry, uint64_t bytes) {
    count_hit(entry, bytes);
    ranges_.looked(true);
  }

  // Counts a get that find_hit() found to be absent, as lookup() would.
  void looked_up_absent(uint64_t bytes) {
    ++now_;
    requested_bytes_ += bytes;
  }
  // Looks up a get of `bytes` bytes that touches [from, to) of the target. Counts the access and
  // ages the cache.
  Lookup lookup(uint64_t hash, const Key& key, uint64_t bytes, int64_t from, int64_t to);

  // Which of the bytes [displacement, displacement + bytes) of a target are in contiguous entries,
  // for a get that no key matches.
  struct Overlap {
    Found found = Found::none;  // full, pending: `entry` has all; partial: see below
    EntryId entry = no_entry;
    uint32_t token = 0;   // pending: the record
    uint64_t offset = 0;  // offset in `entry` of the first requested byte
    uint64_t head = 0;    // partial: how many first bytes are in `entry`, 0 for none
    EntryId last_entry = no_entry;
    uint64_t tail = 0;  // partial: how many last bytes are the first of `last_entry`
  };
  // After lookup() or looked_up_absent(): should the ranges be searched for this get?
  bool may_overlap() const { return ranges_.asked(now_); }
  Overlap overlap(const Key& key, uint64_t bytes) {
    uint64_t offset = 0;
    const Entry* part = find_part(key, bytes, &offset);
    if (part == nullptr) return may_overlap() ? search_ranges(key, bytes) : Overlap();
    ranges_.looked(true);
    return {
        .found = Found::full, .entry = id_of(part), .offset = offset, .head = part->size - offset};
  }
  // Tells the cache that more than was requested is being fetched, so gets of parts will follow.
  void expect_overlaps() {
    ranges_.expect_parts();
    if (ranges_.listed() == Ranges::Listed::some) list_ranges(Ranges::Listed::all);
  }
  // Counts the use of a cached entry that overlap() returned.
  void count_overlap(EntryId id) {
    ++hits_;
    touch(&entries_[id]);
  }

  enum class Insert : uint8_t {
    direct,       // there was room
    conflicting,  // an entry on the index path was evicted
    capacity,     // entries were evicted for storage
    no_room,      // not cached: no eviction made room
    not_admitted  // not cached: worth less than what it would displace
  };
  struct Inserted {
    Insert how;
    EntryId entry;  // no_entry if not cached
  };

  // Reserves room for a get that lookup() did not find and that is being issued as record `token`.
  // `due`: it will be hit soon, whatever its past says.
  Inserted insert(uint64_t hash, const Key& key, uint64_t bytes, uint32_t token, bool due = false);
  // Like insert(), but without storage: repeats find the record while the get is in flight, and
  // nothing is kept afterwards.
  EntryId insert_bare(uint64_t hash, const Key& key, uint64_t bytes, uint32_t token);
  // Like insert_bare(), but the entry is listed in the index only if something is looked up before
  // its get is complete; most gets are complete by then. Not for users of find_hit(), which does
  // not list it.
  EntryId insert_bare_unlisted(const Key& key, uint64_t bytes, uint32_t token);
  // Enlarges a cached entry to `bytes` for a tail that is being fetched. The entry may move.
  // Returns no_entry if there is no room; the entry then stays as it is.
  EntryId grow(uint64_t hash, EntryId id, uint64_t bytes, uint32_t token);

  // The get of a pending or growing entry has arrived. keeps() returns whether its data may be
  // stored. If so, store it at data(id) and call complete(); otherwise call abandon(), after which
  // `id` is gone (a growing entry shrinks back).
  bool keeps(EntryId id) const {
    const Entry& entry = entries_[id];
    return entry.state != State::bare && (entry.flags & flag_orphan) == 0 &&
           (entry.generation == generation_ || versions_ != nullptr);
  }
  void complete(EntryId id, uint64_t bytes, uint32_t write_seq);
  void abandon(EntryId id, uint32_t write_seq);
  // Makes sure that an entry, cached or in flight, is no longer found.
  void discard(EntryId id) { forget(id); }
  EntryId find(uint64_t hash, const Key& key) {
    list_last();
    return index_.find(hash, key);
  }
  // Prefetches what insert() of this many bytes accesses, for memory shared between processes. May
  // be called without the lock.
  void prefetch(uint64_t bytes) const;
  // The index for readers without the lock (Index::look_up): its offset in an engine's region, in
  // bytes, and its length.
  static uint64_t index_at();
  uint64_t index_buckets() const { return index_.buckets(); }

  // Makes sure that a pending entry is no longer found, because its bytes have been written.
  void supersede(EntryId id);

  std::byte* data(EntryId id) const { return storage_.data(id); }
  std::byte* data(const Entry& entry) const { return storage_.data(entry); }
  // Copies arrived bytes to the address that data() returned.
  void store(std::byte* to, const std::byte* from, uint64_t bytes) const {
    storage_.store(to, from, bytes);
  }

  // Drops everything in O(1). Gets in flight still complete, but are not kept.
  void invalidate() {
    ++drops_;
    set_generation(given_);
    if (versions_ != nullptr) versions_->forget(generation_);
  }
  // Drops everything if `generation` differs from that of the last call.
  void set_generation(uint32_t generation) {
    given_ = generation;
    if (generation + drops_ == generation_) return;
    generation_ = generation + drops_;
    stale_ = index_.used() != 0 && versions_ == nullptr;
  }
  // Sets the versions that decide whether entries of older generations may be served; null: none
  // may be. Older entries stay until they are looked up.
  void set_versions(Versions* versions) {
    versions_ = versions;
    stale_ = versions == nullptr && index_.used() != 0;
  }
  // Sets the array, indexed by entry number, through which others read entries without a lock
  // (cache/shared). An entry is retired there before it is removed. pre: nothing is published in
  // it.
  void set_published(PublishedEntry* entries) { published_.set(entries), publishes_ = true; }
  // Returns the maximum number of descriptors: of entries and of pieces of free storage.
  static uint64_t most_descriptors(const Geometry& geometry);
  // Counts hits that others had and report only now. pre: the entry is still there.
  void count_hits(EntryId id, uint32_t hits) {
    now_ += hits, hits_ += hits;
    requested_bytes_ += uint64_t{entries_[id].size} * hits;
    Entry& entry = entries_[id];
    touch(&entry);
    entry.hits = static_cast<uint8_t>(std::min<uint32_t>(entry.hits + (hits - 1), UINT8_MAX));
  }
  // Evicts all entries of older generations.
  void drop_older() { purge(); }
  uint32_t generation() const { return generation_; }
  bool empty() const { return index_.used() == 0; }

  // Records an own write; call this before the data may change. Returns false if the write numbers
  // have wrapped and everything was dropped.
  bool record_write(uint32_t target, int64_t from, int64_t to) {
    if (writes_.record(target, from, to)) [[likely]]
      return true;
    number_writes_anew(target, from, to);
    return false;
  }
  WriteLog& writes() { return writes_; }
  const WriteLog& writes() const { return writes_; }

  // Sets the cost of a get, for policies: latency and time per byte.
  void set_costs(double latency_ns, double ns_per_byte) {
    latency_ns_ = latency_ns, ns_per_byte_ = ns_per_byte;
  }
  double cost_ns(uint64_t bytes) const {
    return latency_ns_ + ns_per_byte_ * static_cast<double>(bytes);
  }

  // Returns true if storing a missed get is worth the copy, judging by the fate of others of its
  // size.
  bool worth_storing(uint64_t hash, uint64_t bytes, double copy_ns) {
    return worth_.worth_storing(bytes, sketch_.count(hash) > 0, cost_ns(bytes), copy_ns);
  }

  // Records in the sketch a miss that is not inserted.
  void remember(uint64_t hash) {
    age_sketch();
    sketch_.add(hash, 1);
  }

  bool adapt_is_due() const {
    const uint64_t since = now_ - adapted_at_;
    return ranges_.change_is_due() || since >= tuner_.interval ||
           (turned_away() >= look_at_ && since >= tuner_gap);
  }
  // Evaluates the last interval and resizes within the budget. Returns how many sizes were changed.
  int adapt(MemoryBudget* budget);

  void reset();  // drops everything and forgets what was learned and counted; sizes stay

  uint64_t entries() const { return live_; }
  uint64_t index_capacity() const { return index_.capacity(); }
  uint64_t storage_bytes() const { return storage_.bytes(); }
  void prefer_large_pages() const { storage_.prefer_large_pages(); }
  bool make_large_pages(EntryId id, uint32_t* pages) const {
    return storage_.make_large_pages(id, pages);
  }
  uint64_t stored_bytes() const { return storage_.bytes() - storage_.free_bytes(); }
  uint64_t metadata_bytes() const;
  uint64_t evictions() const { return evictions_; }
  uint64_t write_drops() const { return write_drops_; }

  // Checks that all links, counts and bins agree; for tests. Returns what is wrong, or null.
  const char* check() const;

  const Entry& entry(EntryId id) const { return entries_[id]; }
  const Ranges& ranges() const { return ranges_; }

 private:
  friend class PolicyView;  // what policies may see (policy/policy_view.h)
  GetCache() = default;

  // All zero refers to entry 0, which is harmless: find_part() checks whether it has the bytes.
  struct PartUsed {
    EntryId entry;
    uint32_t generation;
  };
  static constexpr int part_slot_bits = 11;
  static constexpr uint64_t parts_bytes = sizeof(PartUsed) << part_slot_bits;
  // Bytes are nearby if they are in the same 256-byte block of a target.
  static uint64_t part_slot(const Key& key) {
    return ((static_cast<uint64_t>(key.displacement) >> 8) + (uint64_t{key.target} << 40)) *
               0x9e3779b97f4a7c15u >>
           (64 - part_slot_bits);
  }

  const Policy& policy() const { return policy_of(policy_); }
  uint32_t now() const { return static_cast<uint32_t>(now_); }
  // True for one get in eight, in an order unrelated to the program's: its hit is examined closely.
  bool hit_is_sampled() const { return now_ * 0x9e3779b97f4a7c15u >> 61 == 0; }
  uint64_t average_bytes() const { return now_ == 0 ? 0 : requested_bytes_ / now_; }
  bool evictable(EntryId id) const { return entries_[id].state == State::cached; }
  void evict(EntryId id);
  void look_at(EntryId id);
  uint32_t random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<uint32_t>(random_ >> 16);
  }
  // Returns any descriptor, in use or not, and prefetches it.
  EntryId random_descriptor() {
    const auto id =
        static_cast<EntryId>((uint64_t{random()} * storage_.descriptors_touched()) >> 32);
    __builtin_prefetch(&entries_[id]);
    if (publishes_) __builtin_prefetch(&published_[id]);
    return id;
  }
  EntryId random_entry();  // an entry that may be evicted, or no_entry
  const char* check_queues(int count) const;

  void under_way() {
    if (pending_++ == 0) under_way_seq_ = writes_.now();
  }
  void age_sketch() {
    if (sketch_.advance(now_)) reuse_.forget(now());
  }
  bool outlives_acquires(Entry& entry, int64_t from, int64_t to, uint64_t bytes);
  bool fresh(Entry& entry, int64_t from, int64_t to, uint64_t bytes);
  [[gnu::always_inline]] void touch(Entry* entry) {
    if (policy_ == PolicyKind::rate && (entry->flags & flag_was_hit) != 0 &&
        entry->hits != UINT8_MAX && !hit_is_sampled()) {
      ++entry->hits;
      entry->last_hit = Entry::coarse(now() - entry->stamp);
    } else {
      touch_with_care(id_of(entry));
    }
  }
  void touch_with_care(EntryId id);
  void note_gone(const Entry& entry);
  Lookup lookup_pending(const Entry& entry, EntryId id, uint64_t bytes) const;
  Insert make_index_room(uint64_t hash, EntryId id, const Newcomer& newcomer);
  bool allocate(EntryId id, const Newcomer& newcomer, bool* evicted);
  // Fills in the fields that all entries of gets in flight have in common.
  Entry& name_entry(EntryId id, const Key& key, uint64_t bytes, uint32_t token);
  // list() makes an entry findable, unlist() undoes that.
  bool list(uint64_t hash, EntryId id);
  void list_last() {
    if (unlisted_ != no_entry) list_unlisted();
  }
  void list_unlisted();
  void unlist(uint64_t hash, EntryId id);
  void list_ranges(Ranges::Listed which);
  Overlap search_ranges(const Key& key, uint64_t bytes);
  void drop(EntryId id);
  void forget(EntryId id);
  void purge();
  void number_writes_anew(uint32_t target, int64_t from, int64_t to);
  static uint64_t descriptors_for(uint64_t index_capacity);
  uint64_t memory_of(uint64_t index_capacity, uint64_t storage_bytes) const;
  uint64_t turned_away() const { return no_room_ + conflicting_; }
  void note_miss(uint64_t hash);
  TunerView look();
  uint64_t affordable(uint64_t storage, const MemoryBudget& budget) const;
  int apply(TunerAdvice advice, MemoryBudget* budget);
  void resize_index(uint64_t capacity);
  bool resize_storage(uint64_t bytes);

  Index index_;
  uint64_t now_ = 0;  // number of gets looked up
  uint64_t requested_bytes_ = 0;
  // given_ + drops_, so that what was dropped stays dropped whatever the caller's generation is
  uint32_t generation_ = 0;
  uint32_t given_ = 0, drops_ = 0;
  PolicyKind policy_ = PolicyKind::rate;
  bool stale_ = false;            // entries of older generations are still there
  Versions* versions_ = nullptr;  // of this process; not part of what could be shared
  Relative<Entry> entries_;
  uint64_t live_ = 0;            // entries with storage
  uint64_t pending_ = 0;         // entries that gets in flight refer to
  EntryId unlisted_ = no_entry;  // one of these, bare and not listed yet
  uint64_t hits_ = 0;
  uint64_t evictions_ = 0;
  uint64_t write_drops_ = 0;
  uint64_t conflicting_ = 0;
  uint64_t no_room_ = 0;
  uint64_t returning_ = 0;  // misses of keys requested before, extrapolated from a sample
  // over the tuner's last evaluations, with decreasing weight
  double judged_gets_ = 0, judged_returning_ = 0;
  uint64_t adapted_at_ = 0;
  uint64_t look_at_ = UINT64_MAX;  // the tuner runs early once this many gets have been turned away
  uint64_t hits_then_ = 0, conflicting_then_ = 0, no_room_then_ = 0, returning_then_ = 0;
  uint32_t under_way_seq_ = 0;  // own writes when the oldest get in flight was issued
  uint64_t random_ = 0x9e3779b97f4a7c15u;
  double latency_ns_ = 2000;  // until measured: the order of magnitude of a get over any network
  double ns_per_byte_ = 0.2;
  uint32_t sample_ = 16;
  uint32_t anchors_ = 4;
  Geometry geometry_;
  TunerSettings tuner_;
  Storage storage_;
  Ranges ranges_;
  Sketch sketch_;
  Worth worth_;
  ReuseRates reuse_;
  uint64_t observed_at_ = 0;
  Ghosts ghosts_;
  PolicyQueues queues_;
  Relative<QueueLinks> links_;
  RateMemory rate_;
  bool publishes_ = false;
  Relative<PublishedEntry> published_;
  bool parts_noted_ = false;
  Relative<PartUsed> parts_;  // by slot; takes no memory before the first is noted
  WriteLog writes_;
};

}  // namespace nearcache
