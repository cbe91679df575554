#include "mpi/window/window.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"

namespace nearcache::mpi {

Window::Window(WindowIdentity identity, const Options& options, std::string obstacle)
    : epochs_(static_cast<uint32_t>(identity.ranks)), identity_(std::move(identity)), options_(options), obstacle_(std::move(obstacle)) {
  pending_of_target_.resize(epochs_.ranks());
  plain_type_ = MPI_DATATYPE_NULL;
  handle_ = identity_.handle;
  const Mode wanted = options_.mode;
  options_.mode = Mode::off;
  adopt_mode(wanted);
}

Window::~Window() {
  adopt_mode(Mode::off);
  if (observed_) tell_levels();
}

void Window::set_mode(Mode mode) {
  if (mode == options_.mode) return;
  adopt_mode(mode);
  if (!caching_ || !unknown_outstanding_.exchange(false)) return;
  // What threads called while nothing was cached was not noted by target: anything may be outstanding.
  epochs_.all_outstanding();
}

void Window::adopt_mode(Mode mode) {
  drop_cache();
  const auto counts = [](Mode m) { return m == Mode::transparent ? 1 : 0; };
  context.transparent_windows += counts(mode) - counts(options_.mode);
  options_.mode = mode;
  caching_ = mode != Mode::off && obstacle_.empty();
  plain_ = caching_ && storage_is_used() && identity_.unit > 0 && !context.threaded && context.progress.available() &&
           !context.devices.present();
  plain_unit_ = identity_.unit;
}

void Window::set_options(const Options& options) {
  const Mode mode = options.mode;
  const Mode before = options_.mode;
  const bool other_cache = options.policy != options_.policy || options.storage != options_.storage ||
                           options.index != options_.index || options.adaptive != options_.adaptive ||
                           options.sample != options_.sample || options.anchors != options_.anchors;
  if (other_cache) drop_cache();
  options_ = options;
  options_.mode = before;
  set_mode(mode);
}

void Window::invalidate() {
  if (cache_ == nullptr) return;
  if (!cache_->empty()) ++counters_.invalidations;
  // In mode transparent the generation follows the process' acquires.
  if (options_.mode == Mode::transparent) {
    context.acquire();
  } else {
    cache_->invalidate();
  }
}

void Window::reset() {
  invalidate();
  if (cache_ != nullptr) cache_->reset();
  counters_ = Counters();
  plain_hits_ = plain_bytes_ = syncs_served_ = 0;
  evictions_before_ = write_drops_before_ = 0;
  costs_[0] = costs_[1] = CostModel();
  cheap_sizes_[0] = cheap_sizes_[1] = 0;
  samples_taken_ = 0;
  dormancy_ = Dormancy();
}

// The cache is made at the first get that may need it: a window that is only written costs nothing.
bool Window::ensure_cache() {
  if (cache_ != nullptr) return true;
  GetCacheSettings settings;
  settings.policy = options_.policy;
  settings.storage_bytes = storage_is_used() ? options_.storage : 0;
  settings.index_capacity = std::max<uint64_t>(options_.index, 1);
  settings.sample = static_cast<uint32_t>(std::min<uint64_t>(options_.sample, 4096));
  settings.anchors = static_cast<uint32_t>(std::min<uint64_t>(options_.anchors, 64));
  settings.tuner.adaptive = options_.adaptive;
  settings.tuner.interval = std::max<uint64_t>(options_.adapt_interval, 1);
  settings.tuner.conflict_threshold = options_.conflict_threshold;
  settings.tuner.capacity_threshold = options_.capacity_threshold;
  settings.tuner.sparsity_threshold = options_.sparsity_threshold;
  settings.tuner.stable_threshold = options_.stable_threshold;
  settings.tuner.free_threshold = options_.free_threshold;
  settings.tuner.index_increase = options_.index_increase;
  settings.tuner.index_decrease = options_.index_decrease;
  settings.tuner.storage_increase = options_.storage_increase;
  settings.tuner.storage_decrease = options_.storage_decrease;

  // Storage is addressed in granules by 32 bits; an entry that is worth an index slot has some 128 bytes.
  const uint64_t limit = std::min<uint64_t>(context.budget.limit(), uint64_t{UINT32_MAX} * granule_bytes / 2);
  GetCache::Geometry geometry;
  geometry.most_storage = storage_is_used() ? limit : 0;
  geometry.most_index = std::min<uint64_t>(std::max(limit / 128, settings.index_capacity), uint64_t{1} << 28);
  while (!region_.reserve(GetCache::region_bytes(geometry))) {
    geometry.most_storage /= 2;
    geometry.most_index /= 2;
    if (geometry.most_index < 16) break;
  }
  settings.index_capacity = std::min(settings.index_capacity, std::max<uint64_t>(geometry.most_index, 1));
  settings.storage_bytes = std::min(settings.storage_bytes, geometry.most_storage);
  const auto wants = [&] { return GetCache::memory_for(settings.index_capacity, settings.storage_bytes); };
  bool granted = region_.base() != nullptr && context.budget.take(wants());
  while (!granted && region_.base() != nullptr && settings.index_capacity > 16) {
    settings.index_capacity /= 2;
    settings.storage_bytes /= 2;
    granted = context.budget.take(wants());
  }
  if (!granted) {
    region_.release();
    caching_ = plain_ = false;
    obstacle_ = "no memory for a cache within max_storage";
    log(LogLevel::warning, "window %lld is not cached: %s", static_cast<long long>(identity_.id), obstacle_.c_str());
    return false;
  }
  cache_ = GetCache::create(region_.base(), geometry, settings);
  context.budget.give_back(wants() - cache_->memory());  // storage is whole granules
  epochs_.forget_marks();  // the cache has not seen what is outstanding
  update_generation();
  return true;
}

void Window::drop_cache() {
  if (cache_ == nullptr) return;
  // Waiters of gets under way are served all the same: their records outlive the cache.
  for (uint32_t at = 0; at < pending_.size(); ++at) pending_[at].entry = no_entry;
  evictions_before_ += cache_->evictions();
  write_drops_before_ += cache_->write_drops();
  context.budget.give_back(cache_->memory());
  cache_ = nullptr;
  region_.release();
}

void Window::maybe_adapt() {
  if (cache_ == nullptr || !cache_->adapt_is_due()) return;
  const int changes = cache_->adapt(&context.budget);
  counters_.adaptations += static_cast<uint64_t>(changes);
  if (changes > 0 && observed_)
    context.observer.adapted({identity_.id, system_ns() - context.started_ns, cache_->index_capacity(), cache_->storage_bytes()});
  const CostModel& far = costs_[1].samples() >= costs_[0].samples() ? costs_[1] : costs_[0];
  if (far.samples() > 0) cache_->set_costs(far.latency_ns(), far.ns_per_byte());
}

// A program's gets are mostly of one type: the last one is kept at hand.
bool Window::learn_plain_type(MPI_Datatype type) {
  const Layout* layout = named_types.find(type);
  if (layout == nullptr || !layout->dense || layout->size > UINT32_MAX) return false;
  plain_type_ = type;
  plain_type_size_ = static_cast<uint32_t>(layout->size);
  return true;
}

void Window::fill_counters(Counters* counters) const {
  *counters = counters_;
  counters->gets += plain_hits_;
  counters->hits_full += plain_hits_;
  counters->bytes_requested += plain_bytes_;
  counters->bytes_from_cache += plain_bytes_;
  counters->syncs_served = syncs_served_;
  counters->evictions += evictions_before_;
  counters->write_drops += write_drops_before_;
  const CostModel& costs = costs_[1].samples() > 0 ? costs_[1] : costs_[0];
  const uint64_t hits = counters->hits_full + counters->hits_pending + counters->hits_partial;
  const auto hit_bytes = static_cast<double>(counters->bytes_from_cache);
  const double saved = static_cast<double>(hits) * (costs.latency_ns() - copy_ns(0)) + hit_bytes * (costs.ns_per_byte() - 0.15);
  counters->saved_ns = saved > 0 ? static_cast<uint64_t>(saved) : 0;
  const uint64_t fetched = counters->gets - counters->hits_full - counters->hits_pending;
  counters->remote_ns = static_cast<uint64_t>(static_cast<double>(fetched) * costs.latency_ns() +
                                              static_cast<double>(counters_.bytes_from_network) * costs.ns_per_byte());
  if (cache_ == nullptr) return;
  counters->evictions += cache_->evictions();
  counters->write_drops += cache_->write_drops();
  counters->entries = cache_->entries();
  counters->index_entries = cache_->index_capacity();
  counters->storage_bytes = cache_->storage_bytes();
  counters->stored_bytes = cache_->stored_bytes();
  counters->metadata_bytes = cache_->metadata_bytes();
}

}  // namespace nearcache::mpi
