// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/window.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "mpi/process/next.h"
#include "mpi/rma/layer.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {

static WindowShape shape_of(const WindowIdentity& identity) {
  return {static_cast<uint32_t>(identity.rank), static_cast<uint32_t>(identity.ranks),
          identity.unit, identity.least_bytes};
}

static CachingRules uncached(const Options& options) {
  CachingRules rules(options);
  rules.mode = Mode::off;
  return rules;
}

Window::Window(WindowIdentity identity, const Options& options, std::string obstacle)
    : cached_(shape_of(identity), uncached(options), &context.budget, &context.acquires,
              CachedWindow::Data::moved),
      identity_(std::move(identity)),
      options_(options),
      obstacle_(std::move(obstacle)) {
  handle_ = identity_.handle;
  count_as_open(1);
  for (int rank = 0; rank < identity_.ranks; ++rank) {
    if (rank == identity_.rank) continue;
    const bool far = static_cast<size_t>(rank) < identity_.far.size() &&
                     identity_.far[static_cast<size_t>(rank)] != 0;
    any_far_ = any_far_ || far;
    all_far_ = all_far_ && far;
  }
  if (may_pause()) unnoted_rank_ = identity_.rank;
  adopt_mode(options.mode);
  if (may_pause() && !caching_) pause_of_others();  // nothing to wait for
}

void Window::count_as_open(int by) const {
  context.open_windows += by;
  if (identity_.overlaps) context.overlapping_windows += by;
  if (identity_.dynamic) context.dynamic_windows += by;
}

// Others of the node may use a shared cache at any time.
void Window::count_as_serving() {
  const bool serves = transparent_ && (shares_ || (!pause_.on() && cached_.cache() != nullptr));
  if (serves == serving_) return;
  serving_ = serves;
  context.serving_windows += serves ? 1 : -1;
  if (serves) rma_look_again();
}

Window::~Window() = default;

void Window::retire() {
  count_as_open(-1);
  adopt_mode(Mode::off);
  if (observed_) tell_levels();
  // Open MPI 5 frees windows that are left when it ends, where it allows no calls any more.
  if (group_ != MPI_GROUP_NULL && !context.mpi_ends()) next.Group_free(&group_);
}

MPI_Group Window::group() {
  if (group_ == MPI_GROUP_NULL) next.Win_get_group(handle_, &group_);
  return group_;
}

void Window::set_mode(Mode mode) {
  if (mode == cached_.mode()) return;
  wake();
  adopt_mode(mode);
  if (!caching_ || !unknown_outstanding_.exchange(false)) return;
  // While nothing was cached, calls of threads were not noted by target: anything may be
  // outstanding.
  epochs().all_outstanding(true);
}

void Window::program_invalidates() {
  if (!awaits_invalidate_) return;
  awaits_invalidate_ = false;
  set_mode(Mode::user);
  context.observer.window_mode(identity_.id, static_cast<uint8_t>(Mode::user));
}

void Window::adopt_mode(Mode mode) {
  rma_look_again();
  const auto counts = [](Mode m) { return ends_at_acquires(m) ? 1 : 0; };
  if (coherent_ != nullptr && mode != Mode::coherent) coherent_->stop_reading();
  const int more = counts(mode) - counts(cached_.mode());
  context.transparent_windows += more;
  if (more > 0) context.phases.serve(hits());
  if (more < 0) context.phases.serve_no_longer(hits());
  cached_.set_mode(mode);
  options_.mode = mode;
  caching_ = mode != Mode::off && obstacle_.empty();
  transparent_ = ends_at_acquires(mode);
  plain_ = caching_ && identity_.unit > 0 && !context.threaded && context.progress.available() &&
           !context.devices.present();
  plain_unit_ = identity_.unit;
  skip_cheap_ = options_.skip_cheap;
  count_as_serving();
}

void Window::set_options(const Options& options) {
  wake();
  CachingRules rules(options);
  rules.mode = cached_.mode();
  cached_.set_rules(rules);
  options_ = options;
  options_.mode = rules.mode;
  skip_cheap_ = options.skip_cheap;
  set_mode(options.mode);
}

void Window::invalidate() {
  if (cached_.cache() != nullptr && transparent_) context.acquire();
  cached_.invalidate();
}

void Window::reset() {
  invalidate();
  if (transparent_) context.phases.serve_no_longer(hits());
  cached_.reset();
  wake();
  pause_ = Pause();
  own_gets_ = 0;
  counters_ = Counters();
  plain_hits_ = plain_bytes_ = syncs_served_ = 0;
  sampling_ = CostSampling();
  for (const bool far : {false, true}) dormancy_[far] = Dormancy(), nearly_cheap_[far] = false;
}

void Window::become_coherent(Board* board, uint32_t slot, Regions regions,
                             CoherentWindow::Memory memory) {
  coherent_ =
      std::make_unique<CoherentWindow>(this, board, slot, regions, memory,
                                       context.coherence.tracker(), context.coherence.allowances());
}

std::string Window::why_incoherent() const {
  if (mode() != Mode::coherent) return "";
  if (coherent_ != nullptr) return coherent_->own_stores().why_never();
  return why_incoherent_.empty() ? "it was created in another mode" : why_incoherent_;
}

void Window::leave_short_ways() {
  plain_ = false;
  if (!context.threaded) return;
  wake();
  unnoted_rank_ = INT_MIN;
}

// --- Pause. ---

bool Window::holds_nothing() const {
  if (!nothing_to_complete() || locks_deferred()) return false;
  // In mode transparent, unnoted own writes make the contents invalid when the pause ends (wake);
  // others' writes do so by the acquire that carries their news.
  return (transparent_ && !keeps()) || cached_.cache() == nullptr || cached_.cache()->empty();
}

uint64_t Window::passing_up_to(uint64_t bytes) const {
  if (!caching_ || asleep()) return UINT64_MAX;
  uint64_t most = 0;
  // Size classes end at powers of two. Gets must bypass the cache whatever the target.
  for (uint64_t size = bytes; size != 0 && size <= cached_.rules().max_get; size = most * 2) {
    if (!sampling_.cheap(false, size) && !all_far_) break;
    if (!sampling_.cheap(true, size) && any_far_) break;
    most = std::bit_ceil(size);
  }
  return most;
}

uint64_t Window::size_of(MPI_Datatype type) {
  // a derived type's handle may soon belong to another type
  const Layout* layout = layout_of(type) != nullptr ? named_types.find(type) : nullptr;
  return layout != nullptr ? layout->size : 0;
}

void Window::pause(MPI_Datatype type, uint64_t bytes) {
  const uint64_t most = passing_up_to(bytes), size = size_of(type);
  if (most == 0 || size == 0 || !may_pause() || !nothing_to_complete() || locks_deferred()) return;
  if (!holds_nothing()) {
    // In modes always and user, gets have turned out to be cheap: what was cached before that saves
    // next to nothing.
    GetCache& cache = *cached_.cache();
    if (cache.stored_bytes() / most > cache.entries()) return;
    cache.invalidate();
  }
  wake();  // of a pause of others, or an earlier one: what passed then may be outstanding
  if (coherent_ != nullptr) coherent_->pauses();
  pause_.begin(type, size, most, caching_, most == UINT64_MAX ? Pause::span : Pause::long_span);
  begin_pause();
}

void Window::pause_of_others() {
  pause_.begin_of_others();
  begin_pause();
}

void Window::begin_pause() {
  wrote_before_pause_ = epochs().some_writes_outstanding();
  count_as_serving();
  rma_look_again();
}

// What was issued before the pause is settled as at other times, while there is any.
void Window::completed_before_pause(Targets targets) {
  if (!cached_.nothing_to_complete()) return;
  cached_.synced(targets, false, true);
  wrote_before_pause_ = epochs().some_writes_outstanding();
}

void Window::note_own_get() {
  epochs().get_issued(static_cast<uint32_t>(unnoted_rank_));
  maybe_pause_of_others();
}

// Gets and writes were not noted: some may be outstanding, and what was read before may have been
// overwritten. Gets from the rank itself say nothing about others.
void Window::wake() {
  pause_.get_asked();
  if (!pause_.on()) return;
  rma_look_again();
  const Pause::Passed passed = pause_.end();
  count_as_serving();
  const uint32_t gets = passed.gets;
  for (Dormancy& dormancy : dormancy_) dormancy.passed(gets);
  sampling_.passed(gets);
  if (gets >= Pause::span && skip_cheap_) learn_from_pause(passed);
  const bool wrote = std::exchange(wrote_unnoted_, false);
  const Targets unflushed = std::exchange(unflushed_, {}).targets();
  wrote_before_pause_ = false;
  if (gets > 0 || wrote) epochs().all_outstanding(unflushed.is_all());
  if (unflushed.is_one() && unflushed.rank() < epochs().ranks()) {
    epochs().write_begins(unflushed.rank(), Epochs::no_mark);
    epochs().write_issued(unflushed.rank());
  }
  if (wrote) cached_.wrote_unnoted();
  if (wrote && coherent_ != nullptr) coherent_->wrote_unnoted();
  if (unnoted_rank_ >= 0) epochs().get_issued(static_cast<uint32_t>(unnoted_rank_));
  if (wrote && transparent_ && cached_.cache() != nullptr && !cached_.cache()->empty())
    context.acquires.add(context.threaded);
}

// All that the program did meanwhile counts as the gets' time, so that they may have taken less.
void Window::learn_from_pause(const Pause::Passed& passed) {
  const uint64_t bytes = passed.bytes / passed.gets;
  if (bytes == 0) return;
  if (sampling_.learn_most(passed.ns / passed.gets, all_far_, bytes)) gets_turned_cheap();
}

// Each cache reserves a small part of what is left of a limit on address space: the program and MPI
// need the rest.
bool Window::ensure_cache() {
  if (cached_.has_cache()) return true;
  const uint64_t limit = std::min(context.budget.limit(), address_space_left() / 16);
  if (cached_.make_cache(cached_.growth_within(limit))) {
    count_as_serving();
    return true;
  }
  caching_ = plain_ = false;
  obstacle_ = "no memory for a cache within max_storage";
  log(LogLevel::warning, "window %s is not cached: %s", window_label(identity_.id).c_str(),
      obstacle_.c_str());
  return false;
}

void Window::maybe_adapt() {
  if (!cached_.adapt_is_due()) return;
  GetCache& cache = *cached_.cache();
  if (cached_.adapt() > 0 && observed_)
    context.observer.adapted({identity_.id, system_ns() - context.started_ns,
                              cache.index_capacity(), cache.storage_bytes()});
  tell_costs();
}

void Window::tell_costs() {
  const CostModel& costs = sampling_.costs();
  if (cached_.cache() != nullptr && costs.samples() > 0)
    cached_.set_costs(costs.latency_ns(), costs.ns_per_byte());
}

// A program's gets mostly have one type, so the last one is remembered.
bool Window::learn_plain_type(MPI_Datatype type) {
  if (!plain_ || type == plain_type_) return false;
  const Layout* layout = named_types.find(type);
  if (layout == nullptr || !layout->dense || layout->size > UINT32_MAX) return false;
  plain_type_ = type;
  plain_layout_ = layout;
  plain_type_size_ = static_cast<uint32_t>(layout->size);
  return true;
}

WindowReport Window::report() const {
  WindowReport report;
  fill_counters(&report.counters);
  report.id = identity_.id;
  report.mode = mode_name(mode());
  report.policy = policy_name(options_.policy);
  report.ranks = identity_.ranks;
  report.bypass = obstacle();
  report.incoherent = why_incoherent();
  report.unshared = why_unshared_;
  if (const SharedCache* shared = cached_.shared(); shared != nullptr) {
    report.sharing = 1;
    report.shared_caches = shared->rank() == 0 ? 1 : 0;
  }
  return report;
}

void Window::fill_counters(Counters* counters) const {
  const CacheCounts counts = cached_.counts();
  *counters = counters_;
  const uint64_t unnoted = pause_.gets() + own_gets_;
  counters->gets = counts.gets + plain_hits_ + unnoted;
  counters->hits_full = counts.hits_full + plain_hits_;
  counters->hits_pending = counts.hits_pending;
  counters->hits_partial = counts.hits_partial;
  counters->direct = counts.direct;
  counters->conflicting = counts.conflicting;
  counters->capacity = counts.capacity;
  counters->failing = counts.failing;
  counters->bypassed = counts.bypassed + unnoted;
  counters->own_gets += own_gets_;
  counters->bytes_requested = counts.bytes_requested + plain_bytes_ + pause_.bytes();
  counters->bytes_from_cache = counts.bytes_from_cache + plain_bytes_;
  counters->bytes_from_network = counts.bytes_from_network + pause_.bytes();
  counters->invalidations = counts.invalidations;
  counters->adaptations = counts.adaptations;
  counters->evictions = counts.evictions;
  counters->write_drops = counts.write_drops;
  counters->syncs_served = syncs_served_;
  if (coherent_ != nullptr) {
    counters->hits_kept = coherent_->hits_kept();
    counters->validations = coherent_->validations();
    counters->regions_changed = coherent_->regions_changed();
    counters->announcements = coherent_->opens();
    counters->announcements_ended = coherent_->closes();
    counters->store_looks = coherent_->own_stores().looks();
    counters->store_changes = coherent_->own_stores().changes();
    counters->volatile_regions = coherent_->own_stores().volatile_regions();
  }
  estimate_times(counters);
  const GetCache* cache = cached_.cache();
  if (SharedCache* shared = cached_.shared(); shared != nullptr) {
    counters->hits_shared = shared->hits_of_others();
    const SharedCache::Sizes part = shared->part();
    counters->entries = part.entries;
    counters->index_entries = part.index_entries;
    counters->storage_bytes = part.storage_bytes;
    counters->stored_bytes = part.stored_bytes;
    counters->metadata_bytes = part.metadata + (cache != nullptr ? cache->metadata_bytes() : 0);
    return;
  }
  if (cache == nullptr) return;
  counters->entries = cache->entries();
  counters->index_entries = cache->index_capacity();
  counters->storage_bytes = cache->storage_bytes();
  counters->stored_bytes = cache->stored_bytes();
  counters->metadata_bytes = cache->metadata_bytes();
}

// Estimates from the measured gets what hits saved, less the cost of validating them, and what
// fetched gets cost.
void Window::estimate_times(Counters* counters) const {
  const CostModel::Fit costs = sampling_.costs().careful();
  const uint64_t hits = counters->hits_full + counters->hits_pending + counters->hits_partial;
  const uint64_t fetched =
      counters->gets - counters->own_gets - counters->hits_full - counters->hits_pending;
  if (sampling_.costs().samples() == 0) return;
  const double saved =
      static_cast<double>(hits) * (costs.latency_ns - hit_cost.latency_ns) +
      static_cast<double>(counters->bytes_from_cache) * (costs.ns_per_byte - hit_cost.ns_per_byte) -
      static_cast<double>(counters->validations) * costs.cost_ns(sizeof(VersionWords));
  counters->saved_ns = static_cast<uint64_t>(std::max(0.0, saved));
  counters->lost_ns = static_cast<uint64_t>(std::max(0.0, -saved));
  counters->remote_ns =
      static_cast<uint64_t>(static_cast<double>(fetched) * costs.latency_ns +
                            static_cast<double>(counters->bytes_from_network) * costs.ns_per_byte);
}

}  // namespace nearcache::mpi
