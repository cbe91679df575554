// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/cached_window.h"

#include <algorithm>

namespace nearcache {
namespace {

// maximum number of entries with which a rank's own index begins if ranks share a cache
constexpr uint64_t most_first_index_shared = 4096;

// A cache that takes no more than this leaves its memory to the next one: those of initial size do.
constexpr uint64_t most_spare = 4 << 20;

}  // namespace

// --- Rules, and the life of the cache. ---

CachingRules::CachingRules(const Options& options)
    : mode(options.mode), max_get(options.max_get), skip_cheap(options.skip_cheap) {
  cache.policy = options.policy;
  cache.storage_bytes = options.storage;
  cache.index_capacity = options.index;
  cache.sample = static_cast<uint32_t>(options.sample);
  cache.anchors = static_cast<uint32_t>(options.anchors);
  cache.tuner.adaptive = options.adaptive;
  cache.tuner.interval = options.adapt_interval;
  cache.tuner.conflict_threshold = options.conflict_threshold;
  cache.tuner.capacity_threshold = options.capacity_threshold;
  cache.tuner.sparsity_threshold = options.sparsity_threshold;
  cache.tuner.stable_threshold = options.stable_threshold;
  cache.tuner.free_threshold = options.free_threshold;
  cache.tuner.index_increase = options.index_increase;
  cache.tuner.index_decrease = options.index_decrease;
  cache.tuner.storage_increase = options.storage_increase;
  cache.tuner.storage_decrease = options.storage_decrease;
}

bool CachingRules::same_cache(const CachingRules& other) const {
  return cache.policy == other.cache.policy && cache.storage_bytes == other.cache.storage_bytes &&
         cache.index_capacity == other.cache.index_capacity &&
         cache.tuner.adaptive == other.cache.tuner.adaptive && cache.sample == other.cache.sample &&
         cache.anchors == other.cache.anchors;
}

CachedWindow::CachedWindow(const WindowShape& shape, const CachingRules& rules,
                           MemoryBudget* budget, Acquires* acquires, Data data)
    : epochs_(shape.ranks),
      pending_(shape.ranks, data == Data::moved),
      data_(data),
      shape_(shape),
      rules_(rules),
      budget_(budget),
      acquires_(acquires) {}

void CachedWindow::set_mode(Mode mode) {
  if (mode == rules_.mode) return;
  drop_cache();
  wrote_unseen_ = true;  // there may have been writes while nothing was cached
  rules_.mode = mode;
}

void CachedWindow::set_rules(const CachingRules& rules) {
  if (!rules.same_cache(rules_) || rules.mode != rules_.mode) drop_cache();
  rules_ = rules;
}

void CachedWindow::invalidate() {
  if (cache_ == nullptr) {
    if (shared_ != nullptr) shared_->advance_floor();
    return;
  }
  if (!cache_->empty() || shared_ != nullptr) ++counts_.invalidations;
  if (shared_ != nullptr) return forget_shared();
  if (!ends_at_acquires(rules_.mode) || versions_ != nullptr) cache_->invalidate();
}

void CachedWindow::reset() {
  if (shared_ != nullptr) invalidate();
  if (cache_ != nullptr) cache_->reset();
  if (shared_ != nullptr) shared_->reset_counts();
  counts_ = CacheCounts();
}

GetCache::Geometry CachedWindow::growth_within(uint64_t limit) const {
  // Storage is addressed in granules by 32 bits; an entry that is worth an index slot has about 128
  // bytes.
  limit = std::min<uint64_t>(limit, uint64_t{UINT32_MAX} * granule_bytes / 2);
  return {std::min<uint64_t>(std::max(limit / 128, rules_.cache.index_capacity), uint64_t{1} << 28),
          stores() && shared_ == nullptr ? limit : 0};
}

bool CachedWindow::reserve(const GetCache::Geometry& geometry) {
  const uint64_t bytes = GetCache::region_bytes(geometry);
  return budget_->take_spare(bytes, geometry.most_index, &region_) || region_.reserve(bytes);
}

bool CachedWindow::make_cache(const GetCache::Geometry& growth) {
  if (has_cache()) return true;
  drop_cache();
  has_storage_ = stores() && shared_ == nullptr;
  GetCacheSettings settings = rules_.cache;
  if (!has_storage_) settings.storage_bytes = 0;
  // only for gets in flight; it grows if there are more of them
  if (shared_ != nullptr && settings.tuner.adaptive)
    settings.index_capacity = std::min(settings.index_capacity, most_first_index_shared);
  settings.index_capacity = std::max<uint64_t>(settings.index_capacity, 1);
  settings.ranges = shape_.unit != 0;
  GetCache::Geometry geometry = growth;
  while (!reserve(geometry)) {
    geometry.most_storage /= 2;
    geometry.most_index /= 2;
    if (geometry.most_index < 16) return false;
  }
  settings.index_capacity =
      std::min(settings.index_capacity, std::max<uint64_t>(geometry.most_index, 1));
  settings.storage_bytes = std::min(settings.storage_bytes, geometry.most_storage);
  const auto wants = [&settings] {
    return GetCache::memory_for(settings.index_capacity, settings.storage_bytes);
  };
  while (!budget_->take(wants())) {
    if (settings.index_capacity <= 16) {
      region_.release();
      return false;
    }
    settings.index_capacity /= 2;
    settings.storage_bytes /= 2;
  }
  cache_ = GetCache::create(region_.base(), geometry, settings);
  lines_.reset(shape_.least_bytes > 0 && shape_.unit > 0 && (has_storage_ || shared_ != nullptr)
                   ? new Lines
                   : nullptr);
  budget_->give_back(wants() - cache_->memory());  // storage is in whole granules
  epochs_.forget_marks();                          // the cache has not seen what is outstanding
  if (shared_ != nullptr) {
    cache_->set_generation(static_cast<uint32_t>(shared_->floor()));
    begin_writes();
  }
  update_generation();
  if (versions_ != nullptr) {
    versions_->forget(cache_->generation());
    cache_->set_versions(versions_.get());
  }
  return true;
}

void CachedWindow::drop_cache() {
  if (cache_ == nullptr) return;
  // Gets in flight outlive the cache, and still serve those that wait for them.
  pending_.forget_entries();
  counts_.evictions += cache_->evictions();
  counts_.write_drops += cache_->write_drops();
  const uint64_t memory = cache_->memory(), most_index = cache_->most_index();
  budget_->give_back(memory);
  if (memory <= most_spare) {
    cache_->wipe();
    budget_->keep_spare(std::move(region_), most_index, memory);
  }
  cache_ = nullptr;
  wrote_unseen_ = true;
  region_.release();
}

void CachedWindow::keep_across_acquires(Regions regions) {
  if (cache_ != nullptr) update_generation();
  versions_ = std::make_unique<Versions>(shape_.ranks, regions,
                                         cache_ != nullptr ? cache_->generation() : 0);
  stamped_ = acquires_->all();
  if (cache_ != nullptr) cache_->set_versions(versions_.get());
}

void CachedWindow::drop_at_acquires() {
  if (cache_ != nullptr) cache_->set_versions(nullptr);
  versions_.reset();
}

void CachedWindow::set_costs(double latency_ns, double ns_per_byte) {
  latency_ns_ = latency_ns, ns_per_byte_ = ns_per_byte;
  if (cache_ != nullptr) cache_->set_costs(latency_ns, ns_per_byte);
}

// Stamps wrap after 2^32: entries are dropped long before an old stamp could be taken for a later
// one.
void CachedWindow::limit_stamps() {
  if (acquires_->all() - stamped_ < most_distance) return;
  stamped_ = acquires_->all();
  cache_->set_generation(acquires_->now());
  cache_->drop_older();
  versions_->forget(cache_->generation());
}

void CachedWindow::passed(uint64_t bytes, Targets target) {
  ++counts_.gets;
  ++counts_.bypassed;
  counts_.bytes_requested += bytes;
  counts_.bytes_from_network += bytes;
  if (target.is_one()) epochs_.get_issued(target.rank());
}

int CachedWindow::adapt() {
  const int changes = cache_->adapt(budget_);
  counts_.adaptations += static_cast<uint64_t>(changes);
  return changes;
}

CacheCounts CachedWindow::counts() const {
  CacheCounts counts = counts_;
  if (cache_ == nullptr) return counts;
  counts.evictions += cache_->evictions();
  counts.write_drops += cache_->write_drops();
  return counts;
}

// --- Synchronisation. ---

// Records of gets stay in their lists until the synchronisation has returned, since another
// thread's synchronisation may return first.
CachedWindow::Completion CachedWindow::begin_sync(Targets targets, bool local) {
  return {
      epochs_.begin(targets, local, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now()),
      pending_.last_serial()};
}

void CachedWindow::end_sync(const Completion& completion, bool succeeded, bool over) {
  over = over || succeeded;
  epochs_.end(completion.sync, over);
  const Targets targets = completion.sync.targets;
  if (!over || targets.is_none()) return;
  for (uint32_t at; (at = pending_.first(targets, completion.up_to)) != no_record;)
    complete(at, succeeded, over);
  settle_writes();
}

bool CachedWindow::request_completed(uint32_t record, uint64_t serial, bool succeeded) {
  if (!pending_.is_of(record, serial)) return false;
  complete(record, succeeded);
  return true;
}

// --- Own writes. ---

void CachedWindow::write_begins(uint32_t target, int64_t from, int64_t to) {
  epochs_.write_begins(target, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now());
  if (shared_ != nullptr && cache_ == nullptr) wrote_unseen_ = true;
  if (from == to || cache_ == nullptr) return;
  if (!cache_->record_write(target, from, to)) [[unlikely]] {
    epochs_.forget_marks();
    if (shared_ != nullptr) wrote_unnoted(), shared_->forget_writes();
  }
  if (shared_ != nullptr) shared_->write_begins();
}

}  // namespace nearcache
