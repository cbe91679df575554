// SPDX-License-Identifier: BSD-3-Clause

// New entries of a GetCache: a place in storage and in the index, and the victims that make room
// for them.
#include <algorithm>
#include <cstring>

#include "cache/get/get_cache.h"
#include "cache/get/policy/policy_view.h"

namespace nearcache {

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

}  // namespace nearcache
