// SPDX-License-Identifier: BSD-3-Clause
#include "cache/shared/shared_cache.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>

#include "base/round.h"

namespace nearcache {
namespace {

// A smaller shard would hold only a few entries of many programs, and one that is slightly fuller
// than the others would turn away what those have room for.
constexpr uint64_t least_of_shard = 256 << 10;

constexpr const char* no_robust_locks = "this system has no locks that outlive who holds them";

uint64_t mix(uint64_t sum, uint64_t word, uint64_t factor) {
  sum = (sum ^ word) * factor;
  return sum ^ sum >> 29;
}

}  // namespace

// --- The region. ---

uint64_t SharedCache::signature() {
  uint64_t sum = 0x6e656172;  // changes with the layout of the region
  for (const uint64_t word : {sizeof(Header), sizeof(GetCache), sizeof(Entry), sizeof(Shard::Plan),
                              sizeof(PublishedEntry), uint64_t{4}})
    sum = mix(sum, word, 0x9fb21c651e98df25u);
  return sum | 1;
}

uint64_t SharedCache::header_bytes() { return round_up(sizeof(Header), Shard::page); }

// Enough shards that ranks that miss at the same time seldom need the same one, but no more: each
// must be large enough by itself, and what hits read of each is in pages of its own. With four
// shards per rank, hits of 4 KiB took 20 ns more than with one per rank; with one, misses took up
// to twice as long.
SharedCache::Sizing SharedCache::sizing(const Plan& plan) {
  Sizing sizing{std::clamp<uint32_t>(std::bit_ceil(2 * plan.ranks), 2, ShardView::most_shards), {}};
  GetCacheSettings& settings = sizing.plan.settings;
  settings = plan.settings;
  settings.ranges = plan.in_bytes;
  while (sizing.shards > 2 && settings.storage_bytes / sizing.shards < least_of_shard)
    sizing.shards /= 2;
  settings.storage_bytes = std::max<uint64_t>(settings.storage_bytes / sizing.shards, Shard::page);
  constexpr uint64_t most_index = uint64_t{1} << 26;
  settings.index_capacity =
      std::clamp<uint64_t>(settings.index_capacity / sizing.shards, 16, most_index);
  // one shard may come to hold more than others
  const uint64_t most =
      std::max(std::min(plan.limit, 4 * (plan.limit / sizing.shards)), settings.storage_bytes);
  sizing.plan.geometry = {std::clamp<uint64_t>(most / 128, settings.index_capacity, most_index),
                          std::min<uint64_t>(most, uint64_t{16} << 30)};
  return sizing;
}

uint64_t SharedCache::bytes_for(const Plan& plan) {
  const Sizing size = sizing(plan);
  return header_bytes() + size.shards * Shard::bytes_for(size.plan.geometry);
}

void SharedCache::make(std::byte* region, const Plan& plan) {
  auto* header = reinterpret_cast<Header*>(region);
  const Sizing size = sizing(plan);
  header->bytes = bytes_for(plan);
  header->shards = size.shards;
  header->ranks = plan.ranks;
  header->shard_bytes = Shard::bytes_for(size.plan.geometry);
  header->limit = plan.limit;
  header->plan = size.plan;
  header->clock.store(1, std::memory_order_relaxed);
  const bool locks = header->lock.make();
  header->memory.store(
      static_cast<int64_t>(header_bytes() + size.shards * Shard::memory_for(size.plan.settings)),
      std::memory_order_relaxed);
  header->ready.store(locks ? signature() : no_locks, std::memory_order_release);
}

std::unique_ptr<SharedCache> SharedCache::join(std::byte* region, uint64_t bytes,
                                               MemoryBudget* budget, std::string* wrong) {
  auto* header = reinterpret_cast<Header*>(region);
  if (bytes >= sizeof(Header) && header->ready.load(std::memory_order_acquire) == no_locks)
    return *wrong = no_robust_locks, nullptr;
  if (bytes < sizeof(Header) || header->ready.load(std::memory_order_acquire) != signature() ||
      header->bytes > bytes)
    return *wrong = "it was made by another version of Nearcache", nullptr;
  const uint64_t share = static_cast<uint64_t>(header->memory.load()) / header->ranks;
  if (!budget->take(share)) return *wrong = "no memory for it within max_storage", nullptr;
  std::unique_ptr<SharedCache> cache(new SharedCache(region, budget));
  cache->accounted_ = share;
  if (cache->rank_ >= Copies::most_members)
    return *wrong = "too many ranks of the node share it", nullptr;
  if (!header->copies.make(cache->rank_)) return *wrong = no_robust_locks, nullptr;
  return cache;
}

SharedCache::SharedCache(std::byte* region, MemoryBudget* budget)
    : view_(region + header_bytes(), reinterpret_cast<Header*>(region)->shard_bytes,
            reinterpret_cast<Header*>(region)->plan.geometry),
      header_(reinterpret_cast<Header*>(region)),
      budget_(budget) {
  rank_ = header_->members.fetch_add(1, std::memory_order_relaxed);
  shard_shift_ = 64 - std::countr_zero(header_->shards);
  for (uint32_t at = 0; at < header_->shards; ++at)
    shards_.emplace_back(region + header_bytes() + at * header_->shard_bytes, header_->plan,
                         &header_->lock, &header_->copies, &header_->members);
  evictions_.resize(header_->shards);
  // a different sequence for each rank
  random_ += uint64_t{rank_} << 32;
}

SharedCache::~SharedCache() { budget_->give_back(accounted_); }

// Each rank counts its part of the region's memory. Memory that it may not count is in use all the
// same, and keeps the region from growing.
void SharedCache::settle_memory() {
  const uint64_t share = memory() / header_->ranks;
  if (share > accounted_) {
    if (!budget_->take(share - accounted_)) return;
  } else {
    budget_->give_back(accounted_ - share);
  }
  accounted_ = share;
}

// --- What this rank may be served. ---

void SharedCache::writes_completed(uint32_t up_to, uint32_t now) {
  const uint32_t known = marks_.empty() ? 0 : marks_.back().number;
  const bool all = up_to == now;
  if (up_to <= known && !(all && writes_open_)) return;
  const uint64_t clock = advance();
  if (marks_.size() == most_marks) marks_.erase(marks_.begin());
  marks_.push_back({up_to, clock});
  if (all) writes_open_ = false, clean_since_ = clock;
  note_sure();
}

// Returns the number of the last own write that had been completed when data with this stamp was
// fetched.
uint32_t SharedCache::completed_by(uint64_t stamp) const {
  for (size_t at = marks_.size(); at > 0; --at) {
    if (marks_[at - 1].clock <= stamp) return marks_[at - 1].number;
  }
  return 0;
}

// --- Gets. ---

bool SharedCache::find_with_care(uint64_t hash, const Key& key, uint64_t bytes, Found* found) {
  const uint64_t number = shard_number(key);
  const Shard& shard = shards_[number];
  if (view_.learn(number, shard.buckets()) && view_.find(number, hash, key, bytes, found))
    return true;
  return find_part(shard, key, bytes, found);
}

// Programs that find parts at all go on finding them: for most programs, all parts are found or
// none.
bool SharedCache::find_part(const Shard& shard, const Key& key, uint64_t bytes, Found* found) {
  constexpr uint32_t span = 256, seldom = 16;
  if (key.layout != 0 || bytes == 0) return false;
  if (part_skips_ > 0 && --part_skips_ % seldom != 0) return false;
  const uint64_t levels = header_->levels.load(std::memory_order_relaxed);
  if (levels == 0) return false;
  if (++part_looks_ == span) {
    part_skips_ = parts_found_ < span / 64 ? 16 * span : 0;
    part_looks_ = parts_found_ = 0;
  }
  const bool has = shard.find_part(key, bytes, levels & last_level_, found) ||
                   shard.find_part(key, bytes, levels & ~last_level_, found);
  if (!has) return false;
  // reported once per span of look-ups, as others read it
  if (parts_found_++ == 0) header_->parts_found.fetch_add(1, std::memory_order_relaxed);
  part_skips_ = 0;
  last_level_ = Shard::levels_of(found->said.size);
  return true;
}

// Samples at random intervals, unrelated to any order that a program could have.
void SharedCache::sample(uint64_t shard, EntryId id, uint64_t sequence) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  until_sample_ = 1 + static_cast<uint32_t>((random_ >> 33) % (2 * interval_ - 1));
  samples_[sample_count_++] = {static_cast<uint32_t>(shard), {id, interval_, sequence}};
  if (sample_count_ >= std::min(most_samples, most_untold / interval_)) tell_policy();
}

// Grouped by shard, since each takes a lock.
void SharedCache::tell_policy() {
  const auto samples = std::span(samples_).first(sample_count_);
  std::ranges::sort(samples, {}, &Sample::shard);
  std::array<Shard::Hits, most_samples> hits;
  bool evicts = false;
  for (size_t at = 0; at < samples.size();) {
    const uint32_t shard = samples[at].shard;
    size_t count = 0;
    for (; at < samples.size() && samples[at].shard == shard; ++at)
      hits[count++] = samples[at].hits;
    const uint64_t evictions = shards_[shard].tell_hits(std::span(hits).first(count));
    if (evictions == 0 || evictions == evictions_[shard]) continue;
    evicts = true;  // if lower than before, the shard has started afresh in the meantime
    evictions_[shard] = evictions;
  }
  sample_count_ = 0;
  interval_ = evicts ? least_interval : std::min(2 * interval_, most_interval);
}

// Returns true if what is published now is to be found by parts.
bool SharedCache::list_parts() {
  constexpr uint32_t span = 1024, seldom = 16;
  if (++published_ % span == 0) {
    const uint32_t found = header_->parts_found.load(std::memory_order_relaxed);
    parts_wanted_ = found != parts_known_;
    parts_known_ = found;
  }
  return parts_wanted_ || published_ % seldom == 0;
}

Shard::Stored SharedCache::publish(const Key& key, uint64_t hash, const std::byte* data,
                                   uint64_t bytes, uint64_t stamp, const Shard::Terms& terms) {
  Shard::Terms with = terms;
  with.member = rank_;
  with.parts = list_parts();
  const uint64_t used = memory();
  const uint64_t left = budget_->limit() - std::min(budget_->used(), budget_->limit());
  with.allowance = std::min(header_->limit - std::min(used, header_->limit),
                            left > UINT64_MAX / header_->ranks ? left : left * header_->ranks);
  const Shard::Stored stored = shard_of(key).publish({key, hash, data, bytes, stamp, rank_}, with);
  if (stored.evicted > 0) interval_ = least_interval;
  if ((stored.levels & ~header_->levels.load(std::memory_order_relaxed)) != 0)
    header_->levels.fetch_or(stored.levels, std::memory_order_relaxed);
  if (stored.more_memory != 0)
    header_->memory.fetch_add(stored.more_memory, std::memory_order_relaxed);
  if (memory() / header_->ranks != accounted_) settle_memory();
  return stored;
}

// A layout's name is the position of a 128-bit hash of its content, so equal layouts of two ranks
// have the same name. The hash is written under a lock that is held only for this, its first word
// last.
uint32_t SharedCache::name(const Layout& layout) {
  if (const auto known = names_.find(layout.id); known != names_.end()) return known->second;
  LayoutName wanted{1, 2};
  const auto add = [&wanted](uint64_t word) {
    wanted.first = mix(wanted.first, word, 0x9e3779b97f4a7c15u);
    wanted.second = mix(wanted.second, word + 0x632be59bd9b4e019u, 0xd6e8feb86659fd93u);
  };
  add(static_cast<uint64_t>(layout.extent));
  for (const Block& block : layout.blocks)
    add(static_cast<uint64_t>(block.offset)), add(block.length);
  wanted.first |= 1;
  uint32_t name = no_name;
  const RobustLock::Taken taken = header_->lock.lock();
  if (taken == RobustLock::Taken::no) return no_name;
  // a name that is half written matches no layout
  if (taken == RobustLock::Taken::after_a_death) header_->lock.repaired();
  for (uint32_t tries = 0; tries < most_layouts && name == no_name; ++tries) {
    const auto at = static_cast<uint32_t>((wanted.second + tries) % most_layouts);
    LayoutName& there = header_->layouts[at];
    if (there.first == 0) there.second = wanted.second, there.first = wanted.first;
    if (there.first == wanted.first && there.second == wanted.second) name = at + 1;
  }
  header_->lock.unlock();
  names_.emplace(layout.id, name);
  return name;
}

// --- For reports, and tests. ---

SharedCache::Sizes SharedCache::sizes() {
  Sizes sizes;
  for (Shard& shard : shards_) {
    const Shard::Levels levels = shard.levels();
    sizes.entries += levels.entries;
    sizes.index_entries += levels.index_entries;
    sizes.storage_bytes += levels.storage_bytes;
    sizes.stored_bytes += levels.stored_bytes;
    sizes.metadata += levels.metadata;
    sizes.resets += levels.resets;
  }
  return sizes;
}

SharedCache::Sizes SharedCache::part() {
  const Sizes all = sizes();
  const uint64_t ranks = std::max(members(), 1u);
  const auto mine = [&](uint64_t whole) { return whole / ranks + (rank_ < whole % ranks ? 1 : 0); };
  return {mine(all.entries),      mine(all.index_entries), mine(all.storage_bytes),
          mine(all.stored_bytes), mine(all.metadata),      mine(all.resets)};
}

const char* SharedCache::check() {
  for (Shard& shard : shards_) {
    if (const char* wrong = shard.check(); wrong != nullptr) return wrong;
  }
  return nullptr;
}

}  // namespace nearcache
