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

// Pieces of free storage need descriptors, too. A quarter more than there are entries is enough for
// storage that is reasonably full.
uint64_t descriptors_for(uint64_t index_capacity) {
  return index_capacity + index_capacity / 4 + 16;
}

}  // namespace

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
  // if there are few entries, dropping them one by one is cheaper than clearing the index
  const bool few = uint64_t{storage_.descriptors_touched()} * 64 < index_.capacity();
  if (pending_ == 0 && !few) {
    index_.clear();
    ranges_.clear();
    storage_.clear();
    live_ = 0;
    queues_ = PolicyQueues();
    worth_.all_gone();
    return;
  }
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    if (entries_[id].state == State::cached && entries_[id].generation != generation_) drop(id);
  }
}

EntryId GetCache::random_entry() {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const EntryId id = random_descriptor();
    if (entries_[id].state == State::cached) return id;
  }
  // Few of the descriptors are in use: the neighbours of a random one serve as well and are
  // adjacent in memory.
  const EntryId from = random_descriptor();
  const EntryId end = std::min(from + 64, storage_.descriptors_touched());
  for (EntryId id = from; id < end; ++id) {
    if (entries_[id].state == State::cached) return id;
  }
  return no_entry;
}

GetCache::Insert GetCache::make_index_room(uint64_t hash, EntryId id, const Newcomer& newcomer) {
  if (list(hash, id)) return Insert::direct;
  ++conflicting_;
  EntryId path[2 * Index::slots_per_bucket];
  const int count = index_.path(hash, path);
  EntryId victim = policy().conflict_victim(PolicyView(*this), path, count, newcomer);
  // If the index is full by count, rather than along this path, an entry anywhere must go.
  if (victim == no_entry && count == 0) victim = random_entry();
  if (victim == no_entry) return Insert::not_admitted;
  evict(victim);
  return list(hash, id) ? Insert::conflicting : Insert::no_room;
}

bool GetCache::allocate(EntryId id, const Newcomer& newcomer, bool* evicted) {
  *evicted = false;
  if (storage_.allocate(id, newcomer.bytes)) return true;
  if (newcomer.bytes > storage_.bytes()) return false;
  *evicted = policy().make_room(PolicyView(*this), newcomer);
  return *evicted && storage_.allocate(id, newcomer.bytes);
}

Entry& GetCache::name_entry(EntryId id, const Key& key, uint64_t bytes, uint32_t token) {
  Entry& entry = entries_[id];
  entry.displacement = key.displacement;
  entry.target = key.target;
  entry.layout = key.layout;
  entry.size = static_cast<uint32_t>(bytes);
  entry.generation = generation_;
  entry.token = token;
  entry.flags = 0;
  return entry;
}

// The generation is part of the name if acquires drop everything: a key that returns in another
// generation could not have been kept.
void GetCache::note_miss(uint64_t hash) {
  const uint32_t returning =
      ghosts_.missed(versions_ != nullptr ? hash : hash + generation_ * 0x9e3779b97f4a7c15u);
  if (returning == 0) return;
  returning_ += returning;
  if (tuner_.adaptive) look_at_ = std::min(look_at_, turned_away() + 1);
}

// Prefetches lines of the engine itself that every insertion accesses. Lines changed by another
// process come from its processor, one after the other if each is requested only when it is needed.
void GetCache::prefetch(uint64_t bytes) const {
  constexpr size_t line = 64;
  const auto all_of = [](const void* from, size_t count) {
    for (size_t at = 0; at < count; at += line)
      __builtin_prefetch(static_cast<const std::byte*>(from) + at);
  };
  all_of(this, offsetof(GetCache, storage_));
  storage_.prefetch(bytes);
  __builtin_prefetch(&sketch_);
  worth_.prefetch(bytes);
  all_of(&reuse_, sizeof reuse_);
  __builtin_prefetch(&ghosts_);
  __builtin_prefetch(&rate_);
}

GetCache::Inserted GetCache::insert(uint64_t hash, const Key& key, uint64_t bytes, uint32_t token,
                                    bool due) {
  if (stale_) purge();
  age_sketch();
  Newcomer newcomer{key, hash, bytes, sketch_.count(hash), due};
  policy().judge(PolicyView(*this), &newcomer);
  const bool seen = newcomer.past > 0;
  note_miss(hash);
  sketch_.raise(hash, newcomer.past + 1);
  const EntryId id = bytes > UINT32_MAX - granule_bytes ? no_entry : storage_.new_descriptor();
  // too large, or no descriptor left; there are as many as the index can use
  if (id == no_entry) {
    conflicting_ += bytes > UINT32_MAX - granule_bytes ? 0 : 1;
    return {Insert::no_room, no_entry};
  }
  bool evicted = false;
  entries_[id].state = State::unused;
  if (!allocate(id, newcomer, &evicted)) {
    storage_.free_descriptor(id);
    ++no_room_;
    return {evicted ? Insert::no_room : Insert::not_admitted, no_entry};
  }
  Entry& entry = name_entry(id, key, bytes, token);
  entry.stamp = now();
  entry.last_hit = 0;
  entry.hits = 0;
  entry.state = State::pending;
  ++live_;
  const Insert how = make_index_room(hash, id, newcomer);
  if (how == Insert::not_admitted || how == Insert::no_room) {
    --live_;
    storage_.release(id);
    return {how, no_entry};
  }
  under_way();
  worth_.stored(bytes, seen);
  if (seen) entry.flags |= flag_returned;
  policy().inserted(PolicyView(*this), id, newcomer);
  if (evicted) ++no_room_;
  return {evicted ? Insert::capacity : how, id};
}

EntryId GetCache::insert_bare(uint64_t hash, const Key& key, uint64_t bytes, uint32_t token) {
  if (bytes > UINT32_MAX) return no_entry;
  const EntryId id = storage_.new_descriptor();
  if (id == no_entry) return no_entry;
  name_entry(id, key, bytes, token).state = State::bare;
  if (!list(hash, id)) {
    storage_.free_descriptor(id);
    ++conflicting_;
    return no_entry;
  }
  under_way();
  return id;
}

EntryId GetCache::insert_bare_unlisted(const Key& key, uint64_t bytes, uint32_t token) {
  if (bytes > UINT32_MAX) return no_entry;
  list_last();
  const EntryId id = storage_.new_descriptor();
  if (id == no_entry) return no_entry;
  name_entry(id, key, bytes, token).state = State::bare;
  unlisted_ = id;
  under_way();
  return id;
}

EntryId GetCache::grow(uint64_t hash, EntryId id, uint64_t bytes, uint32_t token) {
  if (entries_[id].state != State::cached || bytes > UINT32_MAX - granule_bytes) return no_entry;
  const uint64_t room = storage_.room(id);
  if (storage_.extend(id, bytes)) {
    policy().extended(PolicyView(*this), id, storage_.room(id) - room);
  } else {
    const EntryId moved = storage_.new_descriptor();
    if (moved == no_entry) return no_entry;
    entries_[moved].state = State::unused;
    if (!storage_.allocate(moved, bytes)) {
      storage_.free_descriptor(moved);
      return no_entry;
    }
    Entry& to = entries_[moved];
    const Entry from = entries_[id];
    to.displacement = from.displacement;
    to.target = from.target;
    to.layout = from.layout;
    to.size = from.size;
    to.generation = from.generation;
    to.flags = from.flags;
    to.state = State::pending;  // has storage; becomes growing below
    std::memcpy(storage_.data(moved), storage_.data(id), from.size);
    unlist(hash, id);
    policy().removed(PolicyView(*this), id);
    storage_.release(id);
    if (!list(hash, moved)) {  // cannot fail, as a slot was just freed; but weak caching allows it
      --live_;
      storage_.release(moved);
      return no_entry;
    }
    policy().inserted(PolicyView(*this), moved, {entries_[moved].key(), hash, bytes, 0});
    to.hits = from.hits;
    to.stamp = from.stamp;
    to.last_hit = from.last_hit;
    id = moved;
  }
  Entry& entry = entries_[id];
  entry.state = State::growing;
  entry.token = token;
  under_way();
  return id;
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

TunerView GetCache::look() {
  TunerView view{};
  view.gets = now_ - adapted_at_;
  view.hits = hits_ - hits_then_;
  view.conflicting = conflicting_ - conflicting_then_;
  view.no_room = no_room_ - no_room_then_;
  view.early = view.gets < tuner_.interval;
  // Averaged over several intervals, since one interval contains only a few of the sampled keys.
  const auto gets = static_cast<double>(view.gets);
  const double fade = 1 - std::min(1.0, gets / (4 * static_cast<double>(tuner_.interval)));
  judged_gets_ = judged_gets_ * fade + gets;
  judged_returning_ = judged_returning_ * fade + static_cast<double>(returning_ - returning_then_);
  view.returning = gets * judged_returning_ / std::max(judged_gets_, 1.0);
  view.hit_cost =
      std::min(1.0, hit_cost.cost_ns(average_bytes()) / std::max(cost_ns(average_bytes()), 1.0));
  view.entries = index_.used();
  view.index_capacity = index_.capacity();
  view.storage_bytes = storage_.bytes();
  view.free_bytes = storage_.free_bytes();
  adapted_at_ = now_;
  hits_then_ = hits_;
  conflicting_then_ = conflicting_;
  no_room_then_ = no_room_;
  returning_then_ = returning_;
  return view;
}

int GetCache::adapt(MemoryBudget* budget) {
  if (ranges_.change_is_due()) {
    list_ranges(ranges_.listed() == Ranges::Listed::all ? Ranges::Listed::some
                                                        : Ranges::Listed::all);
    if (!adapt_is_due()) return 0;
  }
  const TunerView view = look();
  const int changes = apply(advise(tuner_, view), budget);
  if (tuner_.adaptive) look_at_ = turned_away() + tuner_patience(index_.used());
  return changes;
}

// Returns how much of the advised storage the budget allows. A small part of it is not worth a
// step.
uint64_t GetCache::affordable(uint64_t storage, const MemoryBudget& budget) const {
  const uint64_t has = storage_.bytes();
  if (storage <= has) return storage;
  const uint64_t left = budget.limit() - std::min(budget.used(), budget.limit());
  return left < has / 8 ? has : std::min(storage - has, left) + has;
}

int GetCache::apply(TunerAdvice advice, MemoryBudget* budget) {
  advice.index_capacity = std::clamp<uint64_t>(advice.index_capacity, 1, geometry_.most_index);
  int changes = 0;
  const auto change = [&](uint64_t index, uint64_t storage, auto resize) {
    const uint64_t has = memory();
    const uint64_t wants = memory_of(index, storage);
    if (wants > has && !budget->take(wants - has)) return;
    changes += resize() ? 1 : 0;
    const uint64_t took = std::max(wants, has);
    if (memory() < took) budget->give_back(took - memory());
  };
  if (advice.index_capacity != index_.capacity()) {
    change(advice.index_capacity, storage_.bytes(),
           [&] { return resize_index(advice.index_capacity), true; });
  }
  advice.storage_bytes =
      std::min(affordable(advice.storage_bytes, *budget), geometry_.most_storage) / granule_bytes *
      granule_bytes;
  if (advice.storage_bytes != storage_.bytes()) {
    change(index_.capacity(), advice.storage_bytes,
           [&] { return resize_storage(advice.storage_bytes); });
  }
  return changes;
}

// Keeps the contents: every entry that finds a slot in the new index is inserted again, the others
// are evicted.
void GetCache::resize_index(uint64_t capacity) {
  if (stale_) purge();
  list_last();
  index_.reset_capacity(capacity);
  ranges_.reset_capacity(capacity);
  sketch_.resize(capacity);
  storage_.limit_descriptors(descriptors_for(capacity));
  // Bare entries are not in the address order, so walk the descriptors.
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    Entry& entry = entries_[id];
    const bool holds = entry.holds_storage() || entry.state == State::bare;
    if (!holds || (entry.flags & flag_orphan) != 0) continue;
    if (list(hash_key(entry.key()), id)) continue;
    entry.flags |= flag_orphan;  // no longer in the index
    if (entry.state == State::cached) evict(id);
  }
}

bool GetCache::resize_storage(uint64_t bytes) {
  if (bytes >= storage_.bytes()) return storage_.grow(bytes);
  if (stale_) purge();
  const auto end = static_cast<uint32_t>(bytes / granule_bytes);
  for (EntryId id = storage_.last(); id != no_entry;) {
    const Entry& entry = entries_[id];
    if (entry.state == State::free_space) {
      if (entry.place <= end) break;
      id = entry.before;
      continue;
    }
    if (entry.place + storage_.length(id) <= end) break;
    if (!evictable(id)) return false;  // a get is under way into it: try again at the next look
    evict(id);
    id = storage_.last();
  }
  return storage_.shrink(bytes);
}

const char* GetCache::check() const {
  uint64_t free_bytes = 0, live = 0, reachable = 0;
  uint32_t place = 0;
  EntryId before = no_entry;
  for (EntryId id = storage_.first(); id != no_entry; id = entries_[id].after) {
    const Entry& entry = entries_[id];
    if (entry.before != before) return "address order: a back link is wrong";
    if (entry.place != place) return "address order: a gap or an overlap";
    if (before != no_entry && entry.state == State::free_space &&
        entries_[before].state == State::free_space)
      return "two free neighbours were not merged";
    place += storage_.length(id);
    before = id;
    if (entry.state == State::free_space) {
      free_bytes += uint64_t{storage_.length(id)} * granule_bytes;
      continue;
    }
    if (!entry.holds_storage()) return "an entry without a state in storage";
    ++live;
    if (entry.size > storage_.room(id)) return "an entry larger than its room";
    if ((entry.flags & flag_orphan) != 0) continue;
    ++reachable;
    if (index_.find(hash_key(entry.key()), entry.key()) != id)
      return "an entry is not found by its key";
  }
  if (before != storage_.last()) return "address order: the last link is wrong";
  if (uint64_t{place} * granule_bytes != storage_.bytes() && storage_.first() != no_entry)
    return "storage is not covered";
  if (free_bytes != storage_.free_bytes()) return "the count of free bytes is wrong";
  if (live != live_) return "the count of entries is wrong";
  uint64_t bare = 0, listed = 0;
  for (EntryId id = 0; id < storage_.descriptors_touched(); ++id) {
    const Entry& entry = entries_[id];
    if ((entry.state != State::bare && !entry.holds_storage()) || (entry.flags & flag_orphan) != 0)
      continue;
    if (id == unlisted_) continue;
    bare += entry.state == State::bare ? 1 : 0;
    const int places = ranges_.places_of(id);
    if (places == 0 && ranges_.complete() && entry.layout == 0 && entry.size > 0)
      return "an entry is not found by its place";
    listed += static_cast<uint64_t>(places);
  }
  if (listed != ranges_.places()) return "places of something that is not an entry are listed";
  if (reachable + bare != index_.used()) return "the index counts other entries than there are";
  return policy().check(PolicyView(const_cast<GetCache&>(*this)));  // only reads
}

const char* GetCache::check_queues(int count) const {
  uint64_t queued = 0;
  for (int segment = 0; segment < count; ++segment) {
    const Queue& queue = queues_.queue[segment];
    uint64_t bytes = 0;
    EntryId before = no_entry;
    for (EntryId id = queue.first; id != no_entry; id = links_[id].after) {
      if (links_[id].before != before) return "a queue's back link is wrong";
      if (!entries_[id].holds_storage() || ++queued > live_)
        return "a queue holds something that is not an entry";
      if (count > 1 && (entries_[id].flags & flags_segment) >> segment_shift != segment)
        return "an entry stands in another queue than its own";
      bytes += storage_.room(id);
      before = id;
    }
    if (before != queue.last) return "a queue's end is wrong";
    if (bytes != queue.bytes) return "a queue's count of bytes is wrong";
  }
  if (queues_.hand != no_entry && !entries_[queues_.hand].holds_storage())
    return "the hand points at no entry";
  return queued == live_ ? nullptr : "an entry stands in no queue";
}

}  // namespace nearcache
