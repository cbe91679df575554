// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/get_cache.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/round.h"
#include "cache/get/policy/policy_view.h"

namespace nearcache {
namespace {

constexpr uint64_t page_bytes = 4096;
// Each part of a region begins at a page.
constexpr uint64_t in_pages(uint64_t bytes) { return round_up(bytes, page_bytes); }

}  // namespace

// Pieces of free storage need descriptors, too. A quarter more than there are entries is enough for
// storage that is reasonably full.
uint64_t GetCache::descriptors_for(uint64_t index_capacity) {
  return index_capacity + index_capacity / 4 + 16;
}

uint64_t GetCache::most_descriptors(const Geometry& geometry) {
  return descriptors_for(std::max<uint64_t>(geometry.most_index, 1));
}

uint64_t GetCache::region_bytes(const Geometry& g) {
  return in_pages(sizeof(GetCache)) + parts_bytes + in_pages(Index::bytes_for(g.most_index)) +
         in_pages(Ranges::bytes_for(g.most_index)) + in_pages(Sketch::bytes_for(g.most_index)) +
         in_pages(descriptors_for(g.most_index) * (sizeof(Entry) + sizeof(QueueLinks))) +
         page_bytes + Region::large_page + in_pages(Storage::backed_bytes(g.most_storage));
}

uint64_t GetCache::index_at() { return in_pages(sizeof(GetCache)) + in_pages(parts_bytes); }

uint64_t GetCache::memory_for(uint64_t index_capacity, uint64_t storage_bytes) {
  return sizeof(GetCache) + parts_bytes + Index::bytes_for(index_capacity) +
         Ranges::bytes_for(index_capacity) + Sketch::bytes_for(index_capacity) +
         descriptors_for(index_capacity) * (sizeof(Entry) + sizeof(QueueLinks)) +
         Storage::backed_bytes(storage_bytes);
}

// Descriptors that were used once keep their memory when the index shrinks.
uint64_t GetCache::memory_of(uint64_t index_capacity, uint64_t storage_bytes) const {
  const uint64_t within = descriptors_for(index_capacity);
  const uint64_t beyond = std::max<uint64_t>(storage_.descriptors_touched(), within) - within;
  return memory_for(index_capacity, storage_bytes) + beyond * (sizeof(Entry) + sizeof(QueueLinks));
}

GetCache* GetCache::create(void* region, const Geometry& geometry,
                           const GetCacheSettings& settings) {
  // Without parentheses, which would zero memory that may never be used; the region is zero
  // already.
  auto* cache = new (region) GetCache;
  cache->geometry_ = geometry;
  cache->geometry_.most_index = std::max<uint64_t>(geometry.most_index, 1);
  cache->geometry_.most_storage = std::min(geometry.most_storage, Storage::most_bytes);
  cache->policy_ = settings.policy;
  cache->sample_ = std::max(settings.sample, 1u);
  cache->anchors_ = std::max(settings.anchors, 1u);
  cache->tuner_ = settings.tuner;
  const uint64_t index =
      std::clamp<uint64_t>(settings.index_capacity, 1, cache->geometry_.most_index);
  const uint64_t storage = std::min(settings.storage_bytes, cache->geometry_.most_storage);

  cache->parts_.set(
      reinterpret_cast<PartUsed*>(static_cast<std::byte*>(region) + in_pages(sizeof(GetCache))));
  std::byte* at = static_cast<std::byte*>(region) + index_at();
  const auto take = [&at](uint64_t bytes) {
    std::byte* part = at;
    at += in_pages(bytes);
    return part;
  };
  std::byte* buckets = take(Index::bytes_for(cache->geometry_.most_index));
  std::byte* blocks = take(Ranges::bytes_for(cache->geometry_.most_index));
  std::byte* counters = take(Sketch::bytes_for(cache->geometry_.most_index));
  const uint64_t most_descriptors = descriptors_for(cache->geometry_.most_index);
  auto* entries = reinterpret_cast<Entry*>(take(most_descriptors * sizeof(Entry)));
  cache->links_.set(reinterpret_cast<QueueLinks*>(take(most_descriptors * sizeof(QueueLinks))));
  cache->entries_.set(entries);
  cache->index_.attach(buckets, entries, index);
  cache->ranges_.attach(blocks, entries, index, settings.ranges);
  cache->sketch_.attach(counters, index);
  // Align to a large page, so that all of the storage can be in large pages.
  const auto beyond = reinterpret_cast<uintptr_t>(at) % Region::large_page;
  if (beyond != 0) at += Region::large_page - beyond;
  cache->storage_.attach(at, entries, static_cast<uint32_t>(most_descriptors), storage);
  cache->storage_.limit_descriptors(descriptors_for(index));
  if (settings.tuner.adaptive) cache->look_at_ = tuner_patience(0);
  return cache;
}

void GetCache::wipe() {
  const uint64_t descriptors = storage_.descriptors_touched();
  index_.clear();
  ranges_.clear();
  sketch_.clear();
  std::memset(static_cast<void*>(entries_.get()), 0, descriptors * sizeof(Entry));
  if (keeps_queues(policy_))
    std::memset(static_cast<void*>(links_.get()), 0, descriptors * sizeof(QueueLinks));
  if (parts_noted_) std::memset(static_cast<void*>(parts_.get()), 0, parts_bytes);
  std::memset(static_cast<void*>(this), 0, sizeof *this);
}

uint64_t GetCache::metadata_bytes() const {
  // Memory that was never touched does not count.
  const uint64_t fixed = sizeof(GetCache) - (writes_.now() == 0 ? sizeof(WriteLog) : 0) +
                         (parts_noted_ ? parts_bytes : 0);
  const uint64_t links =
      keeps_queues(policy_) ? storage_.descriptors_touched() * sizeof(QueueLinks) : 0;
  return fixed + index_.bytes() + ranges_.bytes() + sketch_.bytes() +
         storage_.descriptors_touched() * sizeof(Entry) + links;
}

// Returns true if the entry is of an older generation and its bytes have not changed since: then it
// is as good as one that is fetched now.
bool GetCache::outlives_acquires(Entry& entry, int64_t from, int64_t to, uint64_t bytes) {
  if (versions_ == nullptr || entry.state != State::cached) return false;
  // the check covers all bytes of the entry
  const bool all = entry.layout == 0 || entry.size <= bytes;
  const int64_t end = entry.layout == 0 ? std::max<int64_t>(to, from + entry.size) : to;
  if (!versions_->keeps(entry.target, from, end, entry.generation, generation_)) return false;
  if (all) entry.generation = generation_;
  return true;
}

// The only place that decides whether the bytes of an entry may be served.
bool GetCache::fresh(Entry& entry, int64_t from, int64_t to, uint64_t bytes) {
  if (entry.generation != generation_ && !outlives_acquires(entry, from, to, bytes)) return false;
  // While a get is in flight, `token` takes the place of the write number. The number of the oldest
  // get in flight is used instead, which is conservative.
  const uint32_t since = entry.state == State::cached ? entry.write_seq : under_way_seq_;
  if (since == writes_.now()) return true;
  const int64_t end = entry.layout == 0 ? std::max<int64_t>(to, from + entry.size) : to;
  if (writes_.overwritten(entry.target, from, end, since)) {
    ++write_drops_;
    return false;
  }
  if (entry.state == State::cached && (entry.layout == 0 || entry.size <= bytes))
    entry.write_seq = writes_.now();
  return true;
}

GetCache::Lookup GetCache::lookup_pending(const Entry& entry, EntryId id, uint64_t bytes) const {
  return {bytes <= entry.size ? Found::pending : Found::pending_partial, id, entry.token,
          entry.size};
}

void GetCache::touch_with_care(EntryId id) {
  Entry& entry = entries_[id];
  if ((entry.flags & flag_was_hit) == 0) {
    const bool given_up = policy_ == PolicyKind::rate && (entry.flags & flag_given_up) != 0;
    worth_.first_hit(entry.size, (entry.flags & flag_returned) != 0, entry.idle(now()), given_up);
  }
  policy().touched(PolicyView(*this), id);
  entry.flags |= flag_was_hit;
}

void GetCache::look_at(EntryId id) {
  Entry& entry = entries_[id];
  const bool seen = (entry.flags & flag_returned) != 0;
  if ((entry.flags & (flag_was_hit | flag_given_up)) != 0 ||
      !worth_.waits_in_vain(entry.size, seen, entry.idle(now())))
    return;
  entry.flags |= flag_given_up;
  worth_.gone(entry.size, seen);
}

// Called when an entry is removed: if it was never hit, storing it did not pay.
void GetCache::note_gone(const Entry& entry) {
  if ((entry.flags & flag_was_hit) != 0) return;
  if (policy_ == PolicyKind::rate && (entry.flags & flag_given_up) != 0) return;
  worth_.gone(entry.size, (entry.flags & flag_returned) != 0);
}

GetCache::Lookup GetCache::lookup(uint64_t hash, const Key& key, uint64_t bytes, int64_t from,
                                  int64_t to) {
  ++now_;
  requested_bytes_ += bytes;
  list_last();
  const EntryId id = index_.find(hash, key);
  if (id == no_entry) return {Found::none, no_entry, 0, 0};
  Entry& entry = entries_[id];
  if (!fresh(entry, from, to, bytes)) {
    forget(id);
    return {Found::none, no_entry, 0, 0};
  }
  if (entry.state == State::pending || entry.state == State::bare)
    return lookup_pending(entry, id, bytes);
  ++hits_;
  touch(&entry);
  if (bytes <= entry.size) return {Found::full, id, 0, bytes};
  return {Found::partial, id, entry.token, entry.size};
}

// Makes sure that `id` is not found again: drops it now if nothing refers to it, otherwise when its
// get completes.
void GetCache::forget(EntryId id) {
  if (entries_[id].state == State::cached) {
    drop(id);
  } else {
    supersede(id);
  }
}

void GetCache::supersede(EntryId id) {
  Entry& entry = entries_[id];
  if ((entry.flags & flag_orphan) != 0) return;
  unlist(hash_key(entry.key()), id);
  entry.flags |= flag_orphan;
}

bool GetCache::list(uint64_t hash, EntryId id) {
  if (!index_.insert(hash, id)) return false;
  ranges_.add(id);
  return true;
}

// If there is no room for it in the index, it is not found.
void GetCache::list_unlisted() {
  const EntryId id = std::exchange(unlisted_, no_entry);
  Entry& entry = entries_[id];
  if (list(hash_key(entry.key()), id)) return;
  entry.flags |= flag_orphan;
  ++conflicting_;
}

void GetCache::unlist(uint64_t hash, EntryId id) {
  if (id == unlisted_) {
    unlisted_ = no_entry;
    return;
  }
  index_.erase(hash, id);
  ranges_.remove(id);
}

void GetCache::list_ranges(Ranges::Listed which) {
  list_last();
  ranges_.list_anew(which);
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    const Entry& entry = entries_[id];
    if ((entry.holds_storage() || entry.state == State::bare) && (entry.flags & flag_orphan) == 0)
      ranges_.add(id);
  }
}

GetCache::Overlap GetCache::search_ranges(const Key& key, uint64_t bytes) {
  Overlap found;
  int64_t end = 0;
  if (key.layout != 0 || bytes > uint64_t{INT64_MAX} ||
      __builtin_add_overflow(key.displacement, static_cast<int64_t>(bytes), &end))
    return found;
  if (ranges_.listed() == Ranges::Listed::none) list_ranges(Ranges::Listed::all);
  // Calls `look` for every valid entry that holds byte `at`, until `look` returns true.
  const auto each_holding = [&](int64_t at, auto look) {
    for (uint64_t levels = ranges_.levels(); levels != 0; levels &= levels - 1) {
      EntryId ids[Ranges::most_found];
      const int count = ranges_.holding(key.target, at, __builtin_ctzll(levels), ids);
      for (int i = 0; i < count; ++i) {
        Entry& entry = entries_[ids[i]];
        if (!fresh(entry, entry.displacement, entry.displacement + entry.size, entry.size)) {
          forget(ids[i]);
        } else if (look(ids[i], entry)) {
          return true;
        }
      }
    }
    return false;
  };
  const auto arrived = [](const Entry& entry) {
    return entry.state == State::cached || entry.state == State::growing;
  };
  const bool full = each_holding(key.displacement, [&](EntryId id, const Entry& entry) {
    const auto offset = static_cast<uint64_t>(key.displacement - entry.displacement);
    const uint64_t has = entry.size - offset;
    if (arrived(entry) && has > found.head) {
      if (found.found != Found::pending || has >= bytes) found.entry = id, found.offset = offset;
      found.head = has;
    } else if (!arrived(entry) && has >= bytes && found.found == Found::none) {
      found.found = Found::pending;
      found.entry = id, found.offset = offset, found.token = entry.token;
    }
    return found.head >= bytes;
  });
  if (full) {
    found.found = Found::full;
  } else if (found.found == Found::none) {
    each_holding(end - 1, [&](EntryId id, const Entry& entry) {
      const auto has = static_cast<uint64_t>(end - entry.displacement);
      if (arrived(entry) && has < bytes && has > found.tail)
        found.last_entry = id, found.tail = has;
      return false;
    });
    if (found.head > 0 || found.tail > 0) found.found = Found::partial;
  }
  // Shortening a get by a few bytes saves nothing.
  ranges_.looked(found.found == Found::full || found.found == Found::pending ||
                 found.head + found.tail >= 1024);
  return found;
}

void GetCache::drop(EntryId id) {
  Entry& entry = entries_[id];
  if (publishes_) published_[id].retire();
  if ((entry.flags & flag_orphan) == 0) unlist(hash_key(entry.key()), id);
  if (entry.state == State::bare) {
    storage_.free_descriptor(id);
    return;
  }
  policy().removed(PolicyView(*this), id);
  note_gone(entry);
  --live_;
  storage_.release(id);
}

void GetCache::evict(EntryId id) {
  ++evictions_;
  drop(id);
}

// Removes what older generations have left, before anything new is inserted, so that policies see
// nothing stale. If no get is in flight, that is everything.
void GetCache::purge() {
  stale_ = false;
  // dropping few entries one by one is cheaper than clearing the index
  if (pending_ == 0 && live_ * 64 >= index_.capacity()) {
    index_.clear();
    ranges_.clear();
    storage_.clear();
    live_ = 0;
    queues_ = PolicyQueues();
    worth_.all_gone();
    return;
  }
  for (EntryId id = storage_.first_entry(), next; id != no_entry; id = next) {
    next = storage_.entry_after(id);
    if (entries_[id].state == State::cached && entries_[id].generation != generation_) drop(id);
  }
}

void GetCache::complete(EntryId id, uint64_t bytes, uint32_t write_seq) {
  Entry& entry = entries_[id];
  if (entry.size != bytes) {
    ranges_.remove(id);
    entry.size = static_cast<uint32_t>(bytes);
    ranges_.add(id);
  }
  entry.state = State::cached;
  entry.write_seq = write_seq;
  --pending_;
}

void GetCache::abandon(EntryId id, uint32_t write_seq) {
  Entry& entry = entries_[id];
  --pending_;
  if (entry.state == State::growing && (entry.flags & flag_orphan) == 0 &&
      entry.generation == generation_) {
    entry.state = State::cached;
    entry.write_seq = write_seq;
    return;
  }
  drop(id);
}

// The write numbers are used up (2^32 writes): start anew, with no entry left that could be
// compared with old numbers.
void GetCache::number_writes_anew(uint32_t target, int64_t from, int64_t to) {
  invalidate();
  writes_.clear();
  writes_.record(target, from, to);
}

void GetCache::reset() {
  invalidate();
  if (pending_ == 0) purge();
  ranges_.list_anew(Ranges::Listed::none);
  worth_ = Worth();
  reuse_ = ReuseRates();
  rate_.price = PriceOfStorage();
  rate_.inertia = Inertia();
  sketch_.clear();
  ghosts_.clear();
  evictions_ = write_drops_ = 0;
}

}  // namespace nearcache
