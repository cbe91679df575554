// SPDX-License-Identifier: BSD-3-Clause
#include "cache/shared/shard.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/region.h"
#include "base/round.h"

namespace nearcache {
namespace {

constexpr uint64_t whole_pages(uint64_t bytes) { return round_up(bytes, Shard::page); }

// Entries are listed under the blocks of memory in which they lie, two at most: blocks of the
// smallest power of two that is not less than their size.
constexpr uint32_t least_level = 6;
uint32_t level_of(uint64_t bytes) {
  return std::max<uint32_t>(static_cast<uint32_t>(std::bit_width(bytes - 1)), least_level);
}
uint64_t hash_block(uint32_t target, int64_t at, uint32_t level) {
  return hash_key({at >> level, target, UINT32_MAX - level});
}

}  // namespace

uint64_t Shard::levels_of(uint64_t bytes) { return uint64_t{1} << level_of(bytes); }

Shard::Places Shard::places_in(const GetCache::Geometry& geometry) {
  Places places{whole_pages(sizeof(Commons)), 0, GetCache::most_descriptors(geometry)};
  places.index = engine_at(geometry, places) + GetCache::index_at();
  return places;
}

uint64_t Shard::directory_at(const Places& places) {
  return places.published + whole_pages(places.most_entries * sizeof(PublishedEntry));
}

uint64_t Shard::engine_at(const GetCache::Geometry& geometry, const Places& places) {
  return directory_at(places) + whole_pages(Directory::bytes_for(geometry.most_index));
}

uint64_t Shard::bytes_for(const GetCache::Geometry& geometry) {
  return engine_at(geometry, places_in(geometry)) + whole_pages(GetCache::region_bytes(geometry));
}

uint64_t Shard::memory_for(const GetCacheSettings& settings) {
  return GetCache::memory_for(settings.index_capacity, settings.storage_bytes) +
         Directory::bytes_for(settings.index_capacity);
}

Shard::Shard(std::byte* memory, const Plan& plan, RobustLock* making, Copies* copies,
             const std::atomic<uint32_t>* members)
    : base_(memory),
      state_(reinterpret_cast<Commons*>(memory)),
      places_(places_in(plan.geometry)),
      published_(reinterpret_cast<PublishedEntry*>(memory + places_.published)),
      engine_(memory + engine_at(plan.geometry, places_)),
      index_(memory + places_.index),
      plan_(plan),
      parts_(plan.settings.ranges),
      making_(making),
      copies_(copies),
      members_(members),
      buckets_(reinterpret_cast<Directory::Bucket*>(memory + directory_at(places_))),
      engine_bytes_(whole_pages(GetCache::region_bytes(plan.geometry))),
      cache_(reinterpret_cast<GetCache*>(engine_)),
      directory_(buckets_, &state_->part_buckets) {
  plan_.settings.ranges = false;  // parts are found through the directory
}

// Returns false if the shard is not made now. What was left half made by a member that died is made
// afresh.
bool Shard::make() {
  if (is_made()) return true;
  const RobustLock::Taken taken = waited_in_vain_ ? making_->try_lock() : making_->lock();
  waited_in_vain_ = taken == RobustLock::Taken::no;
  if (taken == RobustLock::Taken::no) return false;
  if (taken == RobustLock::Taken::after_a_death) making_->repaired();
  if (!is_made() && (!state_->begun || Region::discard(engine_, engine_bytes_))) {
    state_->begun = true;
    if (state_->lock.make()) {
      make_engine();
      directory_.begin(Directory::buckets_for(cache_->index_capacity()));
      state_->counted = memory();
      state_->made.store(true, std::memory_order_release);
    }
  }
  making_->unlock();
  return is_made();
}

void Shard::make_engine() {
  GetCache::create(engine_, plan_.geometry, plan_.settings);
  cache_->set_published(published_);
  state_->buckets.store(cache_->index_buckets(), std::memory_order_relaxed);
}

bool Shard::find_part(const Key& key, uint64_t bytes, uint64_t levels, Found* found) const {
  for (; levels != 0; levels &= levels - 1) {
    const auto level = static_cast<uint32_t>(std::countr_zero(levels));
    const bool has =
        directory_.find(hash_block(key.target, key.displacement, level), [&](EntryId id) {
          if (!read(id, found) || found->said.key.target != key.target ||
              found->said.key.layout != 0)
            return false;
          // wraps to a large number if the entry begins later
          found->offset = static_cast<uint64_t>(key.displacement) -
                          static_cast<uint64_t>(found->said.key.displacement);
          return found->offset < found->said.size && bytes <= found->said.size - found->offset;
        });
    if (has) return true;
  }
  return false;
}

// --- The lock. ---

// Waits only once for a holder that never releases the lock.
bool Shard::take() {
  if (!make()) return false;
  const RobustLock::Taken taken = waited_in_vain_ ? state_->lock.try_lock() : state_->lock.lock();
  waited_in_vain_ = taken == RobustLock::Taken::no;
  return may_be_used(taken);
}

bool Shard::may_be_used(RobustLock::Taken taken) {
  if (taken == RobustLock::Taken::no) return false;
  if (taken == RobustLock::Taken::after_a_death) {
    state_->broken = true;
    const uint64_t count = state_->published_up_to.load(std::memory_order_relaxed);
    for (EntryId id = 0; id < std::min(count, places_.most_entries); ++id) published_[id].retire();
    state_->lock.repaired();
  }
  if (!state_->broken) return true;
  if (!somebody_copies()) begin_anew();
  if (!state_->broken) return true;
  state_->lock.unlock();
  return false;
}

void Shard::begin_anew() {
  if (!Region::discard(engine_, engine_bytes_)) return;
  ++state_->resets;
  state_->large_pages = 0;
  state_->miscounted = true;
  make_engine();
  directory_.resize(Directory::buckets_for(cache_->index_capacity()));
  state_->broken = false;
}

bool Shard::somebody_copies() const {
  const uint32_t members =
      std::min(members_->load(std::memory_order_relaxed), Copies::most_members);
  for (uint32_t member = 0; member < members; ++member) {
    if (copies_->is_copying(member)) return true;
  }
  return false;
}

// Returns true if an entry without data will never get it: the member that was copying is gone, or
// could not take the lock again.
bool Shard::left_behind(const Entry& entry) const { return !copies_->is_copying(entry.token); }

// --- What is stored. ---

uint32_t Shard::place_of(EntryId id) const {
  return static_cast<uint32_t>(static_cast<uint64_t>(cache_->data(id) - base_) / granule_bytes);
}

void Shard::list_part(EntryId id, uint64_t hash) {
  directory_.add(hash, id, [this](EntryId other) { return !published_[other].is_published(); });
}

// Returns the mask of its level; 0 if it is found only by its key.
uint64_t Shard::list_parts(EntryId id, const Key& key, uint64_t bytes) {
  const int64_t from = key.displacement;
  int64_t last = 0;
  if (!parts_ || key.layout != 0 || bytes < 2 ||
      __builtin_add_overflow(from, static_cast<int64_t>(bytes - 1), &last))
    return 0;
  const uint32_t level = level_of(bytes);
  const uint64_t first_block = hash_block(key.target, from, level);
  const uint64_t last_block = hash_block(key.target, last, level);
  list_part(id, first_block);
  if (last_block != first_block) list_part(id, last_block);
  return uint64_t{1} << level;
}

void Shard::list_anew() {
  const uint64_t before = directory_.buckets();
  directory_.resize(Directory::buckets_for(cache_->index_capacity()));
  if (directory_.buckets() < before)
    Region::discard(buckets_ + directory_.buckets(),
                    (before - directory_.buckets()) * sizeof(Directory::Bucket));
  const uint64_t count = state_->published_up_to.load(std::memory_order_relaxed);
  for (EntryId id = 0; id < count; ++id) {
    if (!published_[id].is_published()) continue;
    const Entry& entry = cache_->entry(id);
    list_parts(id, entry.key(), entry.size);
  }
}

void Shard::tell(EntryId id, const SharedData& data, const Terms& terms, Stored* stored) {
  if (id >= state_->published_up_to.load(std::memory_order_relaxed))
    state_->published_up_to.store(uint64_t{id} + 1, std::memory_order_relaxed);
  published_[id].publish(
      {data.key, data.stamp, place_of(id), static_cast<uint32_t>(data.bytes), data.rank});
  if (terms.parts) stored->levels = list_parts(id, data.key, data.bytes);
}

// Asks for large pages only once a little is stored in them: a window that keeps hardly anything
// takes none, and the system has little to copy. If the system makes none on request, it may still
// do so by itself if it knows that they are wanted; each process must then advise it for its own
// mapping, which splits that mapping.
void Shard::want_large_pages(EntryId id, const SharedData& data) {
  if (data.data == nullptr) return;
  if (!no_large_pages_) no_large_pages_ = !cache_->make_large_pages(id, &state_->large_pages);
  if (!no_large_pages_ || cache_->storage_bytes() == advised_bytes_) return;
  cache_->prefer_large_pages();
  advised_bytes_ = cache_->storage_bytes();
}

void Shard::copy(EntryId id, const SharedData& data) {
  if (data.data != nullptr) store_bytes(cache_->data(id), data.data, data.bytes);
}

// Copies without the lock. Nothing else is stored there in the meantime, because the entry waits
// for its data; nor does the shard start afresh, unless this process dies. pre: the member has
// begun a copy. Returns false, with the lock released, if the entry is gone or will not be used.
bool Shard::copy_unlocked(EntryId id, const SharedData& data, uint32_t member) {
  const uint64_t resets = state_->resets;
  std::byte* const to = cache_->data(id);
  state_->lock.unlock();
  store_bytes(to, data.data, data.bytes);
  const RobustLock::Taken taken = state_->lock.lock();
  copies_->end(member);
  if (taken == RobustLock::Taken::no) left_ = {id, resets};
  if (!may_be_used(taken)) return false;
  if (state_->resets == resets) return true;
  state_->lock.unlock();
  return false;
}

// Others do so when they store the same.
void Shard::give_up_left(uint32_t member) {
  const Left left = std::exchange(left_, {});
  if (left.id == no_entry || left.resets != state_->resets) return;
  const Entry& entry = cache_->entry(left.id);
  if (entry.state == State::pending && entry.token == member) cache_->abandon(left.id, 0);
}

Shard::Stored Shard::publish(const SharedData& data, const Terms& terms) {
  if (!make()) return {};
  Index::prefetch(index_, state_->buckets.load(std::memory_order_relaxed), data.hash);
  cache_->prefetch(data.bytes);
  if (!take()) return {};
  return store(data, terms);
}

// Called with the lock held; releases it.
Shard::Stored Shard::store(const SharedData& data, const Terms& terms) {
  Stored stored;
  give_up_left(terms.member);
  cache_->set_costs(terms.latency_ns, terms.ns_per_byte);
  const auto leave = [&](Published how) {
    stored.how = how;
    if (cache_->adapt_is_due()) {
      stored.adapted = adapt(terms);
      count_memory(&stored);
    } else if (state_->miscounted) {
      count_memory(&stored);
    }
    state_->lock.unlock();
    return stored;
  };
  cache_->looked_up_absent(data.bytes);
  EntryId there = cache_->find(data.hash, data.key);
  if (there != no_entry && cache_->entry(there).state != State::cached) {
    if (!left_behind(cache_->entry(there))) return leave(Published::there);
    cache_->abandon(there, 0);
    there = no_entry;
  }
  if (there != no_entry) {
    const Entry& entry = cache_->entry(there);
    PublishedEntry& published = published_[there];
    const bool newer = data.stamp > published.stamp();
    if (entry.size >= data.bytes && !newer) {
      // it is as good, and its parts may have been displaced from the directory
      if (terms.parts) stored.levels = list_parts(there, data.key, entry.size);
      return leave(Published::there);
    }
    if (entry.size == data.bytes && data.bytes <= most_copied) {
      published.retire();
      copy(there, data);
      tell(there, data, terms, &stored);
      return leave(Published::stored);
    }
    cache_->discard(there);
  }
  if (terms.skip_cheap && !cache_->worth_storing(data.hash, data.bytes, terms.copy_ns)) {
    cache_->remember(data.hash);
    return leave(Published::refused);
  }
  const uint64_t evictions = cache_->evictions();
  const EntryId id = cache_->insert(data.hash, data.key, data.bytes, terms.member).entry;
  stored.evicted = static_cast<uint32_t>(cache_->evictions() - evictions);
  if (id == no_entry) return leave(Published::refused);
  want_large_pages(id, data);
  bool copied = true;
  if (data.bytes <= most_copied || data.data == nullptr) {
    copy(id, data);
  } else if (copied = copies_->begin(terms.member); copied) {
    if (!copy_unlocked(id, data, terms.member)) return stored;
  }
  if (!copied || !cache_->keeps(id)) {  // the index shrank during the copy
    cache_->abandon(id, 0);
    return leave(Published::refused);
  }
  cache_->complete(id, data.bytes, 0);
  tell(id, data, terms, &stored);
  return leave(stored.evicted > 0 ? Published::evicting : Published::stored);
}

uint64_t Shard::memory() const {
  return cache_->memory() + directory_.buckets() * sizeof(Directory::Bucket) +
         state_->published_up_to.load(std::memory_order_relaxed) * sizeof(PublishedEntry);
}

int Shard::adapt(const Terms& terms) {
  MemoryBudget budget;
  budget.set_limit(cache_->memory() + terms.allowance);
  budget.take(cache_->memory());
  const int changes = cache_->adapt(&budget);
  state_->large_pages = static_cast<uint32_t>(
      std::min<uint64_t>(state_->large_pages, cache_->storage_bytes() / Region::large_page));
  state_->buckets.store(cache_->index_buckets(), std::memory_order_relaxed);
  if (directory_.buckets() != Directory::buckets_for(cache_->index_capacity())) list_anew();
  return changes;
}

// The memory changes when the engine adapts or has started afresh.
void Shard::count_memory(Stored* stored) {
  const uint64_t now = memory();
  stored->more_memory = static_cast<int64_t>(now - state_->counted);
  state_->counted = now;
  state_->miscounted = false;
}

uint64_t Shard::tell_hits(std::span<const Hits> hits) {
  if (!may_be_used(state_->lock.try_lock())) return 0;
  for (const Hits& each : hits) {
    if (published_[each.id].is_still(each.sequence)) cache_->count_hits(each.id, each.count);
  }
  const uint64_t evictions = cache_->evictions();
  state_->lock.unlock();
  return evictions;
}

// All ranks call this at the same time, at the end; a report can wait longer than a miss.
Shard::Levels Shard::levels() {
  if (!is_made()) {
    const GetCacheSettings& settings = plan_.settings;
    const uint64_t memory = memory_for(settings);
    const uint64_t storage = settings.storage_bytes / granule_bytes * granule_bytes;
    return {0, settings.index_capacity, storage, 0, memory - storage, memory, 0};
  }
  constexpr int most_tries = 10;
  bool taken = take();
  for (int tries = 1; tries < most_tries && waited_in_vain_; ++tries) {
    waited_in_vain_ = false;
    taken = take();
  }
  if (!taken) return {};
  const Levels levels{
      cache_->entries(),      cache_->index_capacity(),           cache_->storage_bytes(),
      cache_->stored_bytes(), memory() - cache_->storage_bytes(), memory(),
      state_->resets};
  state_->lock.unlock();
  return levels;
}

const char* Shard::check() {
  if (!is_made() || !take()) return nullptr;
  const char* wrong = cache_->check();
  const uint64_t count = state_->published_up_to.load(std::memory_order_relaxed);
  for (EntryId id = 0; id < count && wrong == nullptr; ++id) {
    Found found;
    if (!read(id, &found)) continue;
    const Entry& entry = cache_->entry(id);
    if (entry.state != State::cached)
      wrong = "what is published is not an entry";
    else if (entry.key() != found.said.key || entry.size != found.said.size)
      wrong = "what is published is another entry";
    else if (place_of(id) != found.said.place)
      wrong = "what is published lies elsewhere";
  }
  state_->lock.unlock();
  return wrong;
}

}  // namespace nearcache
